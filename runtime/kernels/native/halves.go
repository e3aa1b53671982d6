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
	order  [2]int    // constants of AVX-512: which lanes of two vectors make the first one of neighbours, and which the second
	mask   int       // the constant that keeps upper halves
	upper  amd64.Reg // which holds it
	stored amd64.Reg // the first register for what is to be stored
}

// role is what becomes of an instruction.
type role uint8

const (
	asIs       role = iota
	vanishes        // nothing: what decodes reads memory, what encodes is all there is to it
	decodes         // shifts the lower half up, or masks the upper one
	encodes         // puts the half where the other one is
	storesBoth      // stores both, once both are there
)

// halves finds what takes and gives bf16, which must be all that is in memory along a row; else it is nil.
func (e *expansion) halves() *halves {
	if e.lane != 4 || e.pairs {
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
			h.roles[i] = vanishes
			for _, u := range users[x.d] {
				if s := &e.code[u]; u != i {
					if s.op != amd64.VPSLLD || s.number != 16 || s.k != 0 {
						return nil
					}
					h.roles[u], h.loads[u] = decodes, i
				}
			}
		case x.stores && x.k == 0 && x.from.size == 2:
			u, gone := e.encoder(x, users, definitions)
			if u < 0 {
				return nil
			}
			for _, g := range gone {
				h.roles[g] = vanishes
			}
			h.roles[u], h.roles[i] = encodes, storesBoth
			h.stores[u], h.stores[i] = h.n, h.n
			h.n++
		default:
			return nil
		}
	}
	if e.wide {
		h.order[0], h.order[1] = e.joinOrder()
	}
	h.mask = e.splat(0xffff0000)
	return h
}

// encoder is the instruction that takes upper halves of what x stores, and what there is between them; or -1. With 256 bits halves are moved together in each half of a
// vector, and these joined.
func (e *expansion) encoder(x *instr, users [][]int, definitions []int) (encoder int, between []int) {
	// of says what computes v, and nothing else but one instruction or so many take it.
	of := func(v, uses int) int {
		if definitions[v] != 1 || len(users[v]) != 1+uses {
			return -1
		}
		return users[v][0]
	}
	u := of(x.y, 1)
	if u < 0 {
		return -1, nil
	}
	s := &e.code[u]
	if e.wide {
		if x.op != amd64.VPMOVDW || s.op != amd64.VPSRLD || s.number != 16 || s.k != 0 {
			return -1, nil
		}
		return u, nil
	}
	if x.op != amd64.VMOVDQU || s.op != amd64.VPUNPCKLQDQ {
		return -1, nil
	}
	high, low := of(s.y, 1), of(s.x, 2)
	if high < 0 || low < 0 || e.code[high].op != amd64.VEXTRACTI128 || e.code[high].y != s.x || !e.takesUpper(&e.code[low]) {
		return -1, nil
	}
	return low, []int{high, u}
}

// upperHalves are the bytes of upper halves of 32 bits, in front of zeros.
var upperHalves = [16]byte{2, 3, 6, 7, 10, 11, 14, 15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}

// takesUpper reports whether an instruction of 256 bits moves upper halves together.
func (e *expansion) takesUpper(x *instr) bool {
	return x.op == amd64.VPSHUFB && x.from == (memory{kind: inPool, index: e.constant(upperHalves)})
}

// registers is how many the loop needs for them: one for each store, with the lower halves, and the mask of upper ones.
func (h *halves) registers() int { return h.n + 1 }

// onWhole is an instruction on whole vectors.
func (a *assigner) onWhole(op amd64.VectorOp, d, x amd64.Reg, y amd64.Arg) *amd64.Vector {
	return &amd64.Vector{Op: op, Wide: a.wide, Bits: a.bits(), D: amd64.R(d), X: x, Y: y}
}

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
		a.decodeHalf(amd64.Reg(a.at[x.d]), a.both(a.code[h.loads[i]].from), isUpper)
		a.release(p, x.d)
	case encodes:
		y := x.y
		if !a.wide {
			y = x.x
		}
		if a.at[y] < 0 {
			a.take(y, p, x)
			a.restore(y)
		}
		a.encodeHalf(h.stored+amd64.Reg(h.stores[i]), amd64.Reg(a.at[y]), isUpper)
		a.release(p, y)
	case storesBoth:
		if isUpper {
			v := a.onWhole(amd64.VMOVUPS, 0, 0, amd64.R(h.stored+amd64.Reg(h.stores[i])))
			if a.pastCaches {
				v.Op = storeOp
			}
			v.D = a.both(x.from)
			a.c.Vector(v)
		}
	}
	return true
}

// decodeHalf brings half of what is in memory to the upper halves of d.
func (a *assigner) decodeHalf(d amd64.Reg, from amd64.Arg, isUpper bool) {
	switch {
	case isUpper && a.wide:
		a.c.Vector(a.onWhole(amd64.VPANDD, d, a.half.upper, from))
		return
	case isUpper:
		a.c.Vector(a.onWhole(amd64.VPAND, d, a.half.upper, from))
		return
	case !a.wide: // only AVX-512 shifts what is in memory
		a.c.Vector(a.onWhole(amd64.VMOVUPS, d, 0, from))
		from = amd64.R(d)
	}
	v := a.onWhole(amd64.VPSLLD, d, 0, from)
	v.Number, v.HasNumber = 16, true
	a.c.Vector(v)
}

// encodeHalf brings the upper halves of y to the lower ones of d, or joins them.
func (a *assigner) encodeHalf(d, y amd64.Reg, isUpper bool) {
	v := a.onWhole(amd64.VPSRLD, d, 0, amd64.R(y))
	v.Number, v.HasNumber = 16, true
	switch {
	case isUpper && a.wide:
		const orAnd = 0xf8 // d | y & upper
		v.Op, v.X, v.Number = amd64.VPTERNLOGQ, a.half.upper, orAnd
	case isUpper:
		v.Op, v.X, v.Number = amd64.VPBLENDW, d, 0xaa
	}
	a.c.Vector(v)
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
	if !a.wide {
		const first, second = 0, 1 // of each half
		a.c.Vector(a.onWhole(amd64.VUNPCKLPS, first, even, amd64.R(odd)))
		a.c.Vector(a.onWhole(amd64.VUNPCKHPS, second, even, amd64.R(odd)))
		for i, d := range [...]amd64.Reg{even, odd} {
			v := a.onWhole(amd64.VPERM2F128, d, first, amd64.R(second))
			v.Number, v.HasNumber = [...]uint8{0x20, 0x31}[i], true
			a.c.Vector(v)
		}
		return
	}
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
