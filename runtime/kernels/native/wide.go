package native

import "github.com/gohalo/halo/internal/amd64"

// wideLoop is the loop that computes several vectors of a row before it goes on. Where rows are folded it may keep the chains in registers: it computes as many
// vectors as there are chains of.
type wideLoop struct {
	e      *expansion
	n      int  // vectors; 1 is no wide loop
	chains bool // are in registers
	turns  bool // are what vectors take
	half   *halves
	body   []int
	places [][]int
	pinned []int
	labels []amd64.Label
}

// mostWide is the number of instructions up to which vectors are computed together: beyond, what is saved between them does not count.
const mostWide = 128

// widened chooses the loop, and takes what registers it needs of those that are to spare.
func (e *expansion) widened(a *assigner, spare *int) *wideLoop {
	w := &wideLoop{e: e, n: ChainBytes * 8 / a.bits()}
	if len(e.b.folds) == 0 {
		w.n /= 2
	}
	for w.n > 1 && w.n*len(e.code) > mostWide {
		w.n /= 2
	}
	w.keepChains(a, spare)
	if h := e.halves(); h != nil && w.n > 1 && !e.b.across && h.registers() <= *spare {
		*spare -= h.registers()
		w.half = h
	}
	if w.half == nil && e.takesTurns() {
		w.n, w.turns = turnVectors, true
	}
	return w
}

// keepChains lets chains be in registers, if there are as many.
func (w *wideLoop) keepChains(a *assigner, spare *int) {
	need := w.n * len(w.e.b.folds)
	if need == 0 || w.n*a.bits() != 8*ChainBytes || need > *spare {
		return
	}
	for i := range w.e.code {
		if x := &w.e.code[i]; x.from.kind == inChains && (!x.op.Moves() || x.k != 0) {
			return
		}
	}
	*spare -= need
	w.chains = true
}

// write writes the loop, which is entered at the first element of a row and goes on to loop, or to rest if no whole vector is left. It returns how
// many registers are spilled.
func (w *wideLoop) write(c *amd64.Code, before []int, loop, rest amd64.Label) (spills int) {
	if w.n == 1 {
		return 0
	}
	again := c.NewLabel()
	first := w.assigner(c, 0)
	step := int32(w.n * first.lanes())
	isWhole := func(cc amd64.Cond, to amd64.Label) {
		c.Do(amd64.LEA, true, regOther, amd64.M(regIndex, step))
		c.Do(amd64.CMP, true, regOther, amd64.R(regCount))
		c.JumpIf(cc, to)
	}
	isWhole(amd64.G, loop)
	first.moveChains(false)
	first.beginHalves()
	c.Pad(32)
	c.Mark(again)
	first.prefetch(w.n)
	first.findChains()
	if w.turns {
		spills = w.inTurns(c, before)
	} else {
		for i := range w.n {
			a := w.assigner(c, i)
			a.write()
			spills = max(spills, a.spills)
		}
	}
	c.DoImm(amd64.ADD, true, amd64.R(regIndex), step)
	isWhole(amd64.LE, again)
	first.moveChains(true)
	c.Do(amd64.CMP, true, regCount, amd64.R(regIndex))
	c.JumpIf(amd64.E, rest)
	return spills
}

// writeAcross writes the loop over rows that are as long as all chains of a fold, which stay in registers from row to row. It returns how many registers are spilled.
func (w *wideLoop) writeAcross(a *assigner, before []int) (spills int) {
	c, bundle, row, end := a.c, a.c.NewLabel(), a.c.NewLabel(), a.c.NewLabel()
	first := w.assigner(c, 0)
	once, ofRow := a.splitInvariants(before)
	a.begin(once, nil)
	c.Mark(bundle)
	first.moveChains(false)
	c.Do(amd64.MOV, true, regCount, amd64.M(regFrame, frameBundle))
	c.Pad(32)
	c.Mark(row)
	a.invariant(ofRow)
	for i := range w.n {
		next := w.assigner(c, i)
		next.write()
		spills = max(spills, next.spills)
	}
	a.advance(stride)
	c.DoImm(amd64.SUB, true, amd64.R(regCount), 1)
	c.JumpIf(amd64.NE, row)
	first.moveChains(true)
	c.DoImm(amd64.SUB, true, amd64.M(regFrame, frameBundles), 1)
	c.JumpIf(amd64.E, end)
	a.advance(w.e.b.jump)
	c.Jump(bundle)
	c.Mark(end)
	return spills
}

// splitInvariants tells what is the same for all rows from what belongs to each.
func (a *assigner) splitInvariants(before []int) (once, ofRow []int) {
	changes := make([]bool, len(a.isMask))
	for _, i := range before {
		x := &a.code[i]
		if changes[x.d] = x.from.kind == single || changes[x.x] || changes[x.y] || changes[x.k]; changes[x.d] {
			ofRow = append(ofRow, i)
		} else {
			once = append(once, i)
		}
	}
	return once, ofRow
}

// assigner is that of vector i. Chains are in the registers below what is pinned.
func (w *wideLoop) assigner(c *amd64.Code, i int) *assigner {
	a := newAssigner(w.e, c, w.body, w.places, w.pinned)
	a.labels, a.copy = w.labels, i
	if w.chains {
		lowest := a.reserve(w.n * len(w.e.b.folds))
		for f := range w.e.b.folds {
			a.chains = append(a.chains, lowest+amd64.Reg(w.n*f))
		}
	}
	if a.half = w.half; w.half != nil {
		w.half.upper = a.reserve(w.half.registers())
		w.half.stored = w.half.upper + 1
	}
	return a
}

// reserve takes n free registers that follow each other, and returns the first one.
func (a *assigner) reserve(n int) amd64.Reg {
	free := a.free[vectors]
	a.free[vectors] = free[n:]
	return free[n-1]
}

// moveChains brings chains into registers, or back. Those that stay in memory are put in order there.
func (a *assigner) moveChains(back bool) {
	if back && a.half != nil && a.chains == nil {
		a.orderChains()
	}
	for f := range a.chains {
		p := a.chainsOf(f)
		if back && a.half != nil {
			for i := amd64.Reg(0); i < amd64.Reg(ChainBytes*8/a.bits()); i += 2 {
				a.inOrder(a.chains[f]+i, a.chains[f]+i+1)
			}
		}
		for i := 0; i < ChainBytes; i += a.bits() / 8 {
			a.moveChain(amd64.M(p, int32(i)), a.chains[f]+amd64.Reg(i*8/a.bits()), back)
		}
	}
}

// chainsOf is a register that points to the chains of fold f.
func (a *assigner) chainsOf(f int) amd64.Reg {
	slot := a.b.folds[f].slot
	if slot < len(pointers) {
		return pointers[slot]
	}
	a.c.Do(amd64.MOV, true, regOther, a.b.pointer(slot))
	return regOther
}

// moveChain brings a vector of chains into a register, or back.
func (a *assigner) moveChain(m amd64.Arg, r amd64.Reg, back bool) {
	v := amd64.Vector{Op: amd64.VMOVUPS, Wide: a.wide, Bits: a.bits(), D: amd64.R(r), Y: m}
	if back {
		v.D, v.Y = v.Y, v.D
	}
	a.c.Vector(&v)
}

// onChain is an instruction that loads or stores a chain which is in a register: a vector that is loaded there is that register.
func (a *assigner) onChain(p int, i *instr) {
	var r amd64.Reg
	for f := range a.chains {
		if a.b.folds[f].slot == i.from.index {
			r = a.chains[f] + amd64.Reg(a.copy)
		}
	}
	if !i.stores {
		a.at[i.d], a.places[i.d] = int(r), always
		return
	}
	if a.at[i.y] < 0 {
		a.take(i.y, p, i)
		a.restore(i.y)
	}
	if from := amd64.Reg(a.at[i.y]); from != r {
		a.c.Vector(&amd64.Vector{Op: amd64.VMOVUPS, Wide: a.wide, Bits: a.bits(), D: amd64.R(r), Y: amd64.R(from)})
	}
	a.release(p, i.y)
}
