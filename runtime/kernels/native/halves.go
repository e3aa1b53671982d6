package native

import "github.com/gohalo/halo/internal/amd64"

// halves is how the wide loop takes two vectors of bf16 together: what is in the lower halves of 32 bits is one vector, what is in the upper halves the next one.
// Decoding is one instruction for each, a shift or a mask on memory, and encoding two for both, where neighbours in one vector would have to be moved
// apart and together. Which element is in which lane matters only to chains, which are put in order at the end.
type halves struct {
	roles  []role    // of each instruction of the code
	loads  []int     // of what decodes: the instruction that loads
	stores []int     // of what encodes or stores: the number of the store
	n      int       // stores
	order  [2]int    // constants: which lanes of two vectors make the first one of neighbours, and which the second
	mask   int       // the constant that keeps upper halves
	upper  amd64.Reg // which holds it
	stored amd64.Reg // the first register for what is to be stored
}

// role is what becomes of an instruction.
type role uint8

const (
	asIs       role = iota
	unloads         // nothing: what decodes reads memory
	decodes         // shifts the lower half up, or masks the upper one
	encodes         // puts the half where the other one is
	storesBoth      // stores both, once both are there
)

// halves finds what takes and gives bf16, which must be all that is in memory along a row; else it is nil.
func (e *expansion) halves() *halves {
	if !e.wide || e.lane != 4 || e.pairs {
		return nil
	}
	n := len(e.code)
	h := &halves{roles: make([]role, n), loads: make([]int, n), stores: make([]int, n)}
	users := make([][]int, len(e.isMask)) // of each register, and what defines it
	definitions := e.definitions()
	for i := range e.code {
		for _, v := range e.code[i].registers() {
			users[v] = append(users[v], i)
		}
	}
	for i := range e.code {
		x := &e.code[i]
		if x.from.kind != inSlot {
			continue
		}
		switch {
		case x.op == amd64.VPMOVZXWD && x.k == 0 && definitions[x.d] == 1:
			h.roles[i] = unloads
			for _, u := range users[x.d] {
				if s := &e.code[u]; u != i {
					if s.op != amd64.VPSLLD || s.number != 16 || s.k != 0 {
						return nil
					}
					h.roles[u], h.loads[u] = decodes, i
				}
			}
		case x.op == amd64.VPMOVDW && x.stores && x.k == 0 && definitions[x.y] == 1 && len(users[x.y]) == 2:
			u := users[x.y][0]
			if s := &e.code[u]; s.op != amd64.VPSRLD || s.number != 16 || s.k != 0 {
				return nil
			}
			h.roles[u], h.roles[i] = encodes, storesBoth
			h.stores[u], h.stores[i] = h.n, h.n
			h.n++
		default:
			return nil
		}
	}
	h.order[0], h.order[1] = e.joinOrder()
	h.mask = e.splat(0xffff0000)
	return h
}

// registers is how many the loop needs for them: one for each store, with the lower halves, and the mask of upper ones.
func (h *halves) registers() int { return h.n + 1 }

// onHalf writes what an instruction, at p, becomes. It reports false if that is what it is.
func (a *assigner) onHalf(p, i int) bool {
	h, x := a.half, &a.code[i]
	isUpper := a.copy%2 == 1
	switch h.roles[i] {
	case asIs:
		return false
	case decodes:
		if a.at[x.d] < 0 {
			a.take(x.d, p, x)
		}
		a.saved[x.d] = false
		v := amd64.Vector{Op: amd64.VPSLLD, Wide: true, Bits: 512, D: amd64.R(amd64.Reg(a.at[x.d])), Y: a.both(a.code[h.loads[i]].from), Number: 16, HasNumber: true}
		if isUpper {
			v.Op, v.X, v.HasNumber = amd64.VPANDD, h.upper, false
		}
		a.c.Vector(&v)
		a.release(p, x.d)
	case encodes:
		if a.at[x.y] < 0 {
			a.take(x.y, p, x)
			a.restore(x.y)
		}
		d, y := h.stored+amd64.Reg(h.stores[i]), amd64.Reg(a.at[x.y])
		v := amd64.Vector{Op: amd64.VPSRLD, Wide: true, Bits: 512, D: amd64.R(d), Y: amd64.R(y), Number: 16, HasNumber: true}
		if isUpper {
			const orAnd = 0xf8 // d | y & upper
			v.Op, v.X, v.Number = amd64.VPTERNLOGQ, h.upper, orAnd
		}
		a.c.Vector(&v)
		a.release(p, x.y)
	case storesBoth:
		if isUpper {
			a.c.Vector(&amd64.Vector{Op: amd64.VMOVUPS, Wide: true, Bits: 512, D: a.both(x.from), Y: amd64.R(h.stored + amd64.Reg(h.stores[i]))})
		}
	}
	return true
}

// both is where both halves are in memory.
func (a *assigner) both(m memory) amd64.Arg {
	c := a.copy
	defer func() { a.copy = c }()
	a.copy &^= 1
	return a.memory(m)
}

// beginHalves brings the mask to its register.
func (a *assigner) beginHalves() {
	if h := a.half; h != nil {
		a.constant(amd64.VMOVUPS, h.upper, h.mask)
	}
}

// orderRegisters is how many registers inOrder needs, from the first one, where nothing stays beyond the body: behind them are two vectors of chains that are not in registers.
const orderRegisters = 5

// inOrder puts the chains of two vectors that were taken together in order. The registers of the body are free by then.
func (a *assigner) inOrder(even, odd amd64.Reg) {
	const d, numbers = 0, 1
	for i, index := range a.half.order {
		a.constant(amd64.VPMOVZXBD, numbers+amd64.Reg(i), index)
	}
	a.c.Vector(&amd64.Vector{Op: amd64.VMOVUPS, Wide: true, Bits: 512, D: amd64.R(d), Y: amd64.R(even)})
	a.c.Vector(&amd64.Vector{Op: amd64.VPERMT2PS, Wide: true, Bits: 512, D: amd64.R(even), X: numbers, Y: amd64.R(odd)})
	a.c.Vector(&amd64.Vector{Op: amd64.VPERMT2PS, Wide: true, Bits: 512, D: amd64.R(d), X: numbers + 1, Y: amd64.R(odd)})
	a.c.Vector(&amd64.Vector{Op: amd64.VMOVUPS, Wide: true, Bits: 512, D: amd64.R(odd), Y: amd64.R(d)})
}

// orderChains puts the chains in memory of vectors that were taken together in order.
func (a *assigner) orderChains() {
	const even, odd = orderRegisters - 2, orderRegisters - 1
	size := int32(a.bits() / 8)
	for f := range a.b.folds {
		p := a.chainsOf(f)
		for at := int32(0); at < ChainBytes; at += 2 * size {
			for _, back := range []bool{false, true} {
				a.moveChain(amd64.M(p, at), even, back)
				a.moveChain(amd64.M(p, at+size), odd, back)
				if !back {
					a.inOrder(even, odd)
				}
			}
		}
	}
}
