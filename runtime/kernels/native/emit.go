package native

import "github.com/gohalo/halo/internal/amd64"

// The registers of a loop: see [enter].
const (
	regIndex = amd64.RAX // of the element
	regCount = amd64.RCX
	regSlots = amd64.RDI     // the pointers
	regFrame = amd64.RSI     // memory of the call
	regChain = amd64.Reg(14) // the offset of the chains of the elements
	regOther = amd64.Reg(15) // a pointer for which there is no register
	tailMask = amd64.Reg(7)  // which elements of the last vector of a row there are
	// Of two vectors with complex numbers, firstMask and secondMask say which words of 64 bits there are, if words are not elements.
	secondMask = amd64.Reg(6)
	firstMask  = amd64.Reg(5)
)

// pointers are the registers for the first slots.
var pointers = [...]amd64.Reg{amd64.RDX, amd64.RBX, 8, 9, 10, 11, 12, 13}

const slotBytes = 64 // of the spill area, for one register

func (e *expansion) bits() int {
	if e.wide {
		return 512
	}
	return 256
}

func (a *assigner) lanes() int { return a.bits() / 8 / a.lane }

func (a *assigner) spill(v int) amd64.Arg {
	return amd64.M(regFrame, int32(a.frame+slotBytes*a.slot[v]))
}

// save and restore move a register to and from the spill area.
func (a *assigner) save(v int) {
	if r := amd64.Reg(a.at[v]); a.isMask[v] {
		a.c.MaskStore(r, a.spill(v))
	} else {
		a.c.Vector(&amd64.Vector{Op: amd64.VMOVUPS, Wide: a.wide, Bits: a.bits(), D: a.spill(v), Y: amd64.R(r)})
	}
}

func (a *assigner) restore(v int) {
	if r := amd64.Reg(a.at[v]); a.isMask[v] {
		a.c.MaskMove(r, a.spill(v))
	} else {
		a.c.Vector(&amd64.Vector{Op: amd64.VMOVUPS, Wide: a.wide, Bits: a.bits(), D: amd64.R(r), Y: a.spill(v)})
	}
	a.saved[v] = true
}

// emit writes an instruction whose sources are in registers r.
func (a *assigner) emit(i *instr, r [3]amd64.Reg) {
	var d amd64.Reg
	if i.d != 0 {
		d = amd64.Reg(a.at[i.d])
	}
	switch i.kind {
	case onMasks:
		a.c.Masks(i.mask, d, r[0], r[1])
		return
	case maskNot:
		a.c.MaskNot(d, r[0])
		return
	}
	v := amd64.Vector{Op: i.op, Wide: a.wide, Bits: i.bits, D: amd64.R(d), X: r[0], Y: amd64.R(r[1]), Mask: r[2], Zero: i.zero, Number: i.number, HasNumber: i.hasNumber}
	if i.clears {
		v.X, v.Y = d, amd64.R(d)
	}
	if i.from.kind == inPool {
		a.takeConstant(&v, i.from.index)
	} else if i.from.kind != nowhere {
		m := a.memory(i.from)
		if i.stores {
			v.D = m
		} else {
			v.Y = m
		}
		if a.tail && (i.from.kind == inSlot || i.from.kind == inChains && i.stores) {
			v.Op, v.Mask, v.Zero = masked(i), tailMask, !i.stores
			switch {
			case i.from.offset > 0:
				v.Mask = secondMask
			case i.from.size == 16:
				v.Mask = firstMask
			}
		}
	}
	if a.passesCaches(i) {
		v.Op = storeOp
	}
	a.c.Vector(&v)
}

// masked is the instruction that touches only some elements in place of one that loads or stores all of them. Those of few bytes have none of
// their own.
func masked(i *instr) amd64.VectorOp {
	if i.op == amd64.VMOVDQU || i.op == amd64.VMOVQ || i.op == amd64.VMOVD {
		switch i.from.size {
		case 1:
			return amd64.VMOVDQU8
		case 2:
			return amd64.VMOVDQU16
		}
		return amd64.VMOVDQU
	}
	return i.op
}

// isMaskable reports whether the last vector of a row may be cut off by a mask.
func (e *expansion) isMaskable() bool {
	for i := range e.code {
		x := &e.code[i]
		if x.from.kind == inSlot && (x.k != 0 || e.isMask[x.d]) {
			return false
		}
	}
	return e.wide
}

// memory is an operand in memory; it may write an instruction that brings its address.
func (a *assigner) memory(m memory) amd64.Arg {
	p := regOther
	if m.index < len(pointers) {
		p = pointers[m.index]
	} else {
		a.c.Do(amd64.MOV, true, p, a.b.pointer(m.index))
	}
	switch m.kind {
	case repeated, single:
		return amd64.M(p, int32(m.offset))
	case inChains:
		return amd64.MX(p, regChain, int32(a.copy*a.bits()/8))
	}
	return a.element(p, m.size, a.copy*a.lanes()*m.size+m.offset)
}

// element is an operand in memory, so many bytes behind the element of a size of those from p on. There is no scale of 16: the address is half computed before.
func (a *assigner) element(p amd64.Reg, size, offset int) amd64.Arg {
	if size == 16 {
		a.c.Do(amd64.LEA, true, regOther, amd64.MS(p, regIndex, 8, 0))
		p, size = regOther, 8
	}
	return amd64.MS(p, regIndex, size, int32(offset))
}

// pointer is where a pointer is for which there is no register.
func (b *Builder) pointer(slot int) amd64.Arg {
	return amd64.M(regFrame, int32(b.framePointers()+8*(slot-len(pointers))))
}

// stride is where the distance between rows of a slot is.
func stride(slot int) amd64.Arg { return amd64.M(regFrame, int32(frameStrides+8*slot)) }

// jump is where what bundles add to the distance is.
func (b *Builder) jump(slot int) amd64.Arg { return stride(b.slots + slot) }

// enter brings the pointers to where they stay.
func (a *assigner) enter() {
	for i := range a.b.slots {
		if from := amd64.M(regSlots, int32(8*i)); i < len(pointers) {
			a.c.Do(amd64.MOV, true, pointers[i], from)
		} else {
			a.c.Do(amd64.MOV, true, regOther, from)
			a.c.Do(amd64.STORE, true, regOther, a.b.pointer(i))
		}
	}
}

// begin prepares for a row: chains, and what is the same for all of its elements. The lowest register holds nothing yet.
func (a *assigner) begin(before, identities []int) {
	a.c.Do(amd64.XOR, false, regIndex, amd64.R(regIndex))
	for i, f := range a.b.folds {
		if a.b.across {
			break
		}
		p := regOther
		if f.slot < len(pointers) {
			p = pointers[f.slot]
		} else {
			a.c.Do(amd64.MOV, true, p, a.b.pointer(f.slot))
		}
		a.constant(amd64.VMOVUPS, 0, identities[i])
		for at := 0; at < ChainBytes; at += a.bits() / 8 {
			a.c.Vector(&amd64.Vector{Op: amd64.VMOVUPS, Wide: a.wide, Bits: a.bits(), D: amd64.M(p, int32(at)), Y: amd64.R(0)})
		}
	}
	a.invariant(before)
}

// invariant writes instructions that come before those of elements.
func (a *assigner) invariant(before []int) {
	var temporary []int
	for _, i := range before {
		x := &a.code[i]
		var r [3]amd64.Reg
		for n, v := range [...]int{x.x, x.y, x.k} {
			if v != 0 {
				r[n] = amd64.Reg(a.at[v])
			}
		}
		if a.at[x.d] < 0 { // other invariants alone need it
			a.take(x.d, 0, x)
			temporary = append(temporary, x.d)
		}
		a.emit(x, r)
	}
	for _, v := range temporary {
		a.drop(v)
	}
}

// advance moves the pointers by so much.
func (a *assigner) advance(by func(slot int) amd64.Arg) {
	for i := range a.b.slots {
		if i < len(pointers) {
			a.c.Do(amd64.ADD, true, pointers[i], by(i))
		} else {
			a.c.Do(amd64.MOV, true, regOther, by(i))
			a.c.Do(amd64.ADD, true, regOther, a.b.pointer(i))
			a.c.Do(amd64.STORE, true, regOther, a.b.pointer(i))
		}
	}
}

// repeat is the number of a constant of the same element everywhere.
func (e *expansion) repeat(element []byte) int {
	var c [16]byte
	for i := range c {
		c[i] = element[i%len(element)]
	}
	return e.constant(c)
}

func (e *expansion) newLabels(c *amd64.Code) []amd64.Label {
	labels := make([]amd64.Label, len(e.pool))
	for i := range labels {
		labels[i] = c.NewLabel()
	}
	return labels
}

// invariants are instructions whose results are vectors that are the same for all elements, and up to n such results that others need: all of these instructions
// if there are registers for what they need, or the first ones.
func (e *expansion) invariants(n int) (code, results []int) {
	definitions := e.definitions()
	same := make([]bool, len(e.isMask))
	same[0] = true
	needed := make([]bool, len(e.isMask))
	for i := range e.code {
		x := &e.code[i]
		if x.d == 0 || e.isMask[x.d] || definitions[x.d] > 1 || x.reads || x.from.kind == inSlot || x.from.kind == inChains || !same[x.x] || !same[x.y] || !same[x.k] {
			for _, v := range x.registers() {
				needed[v] = true
			}
			continue
		}
		same[x.d] = true
		code = append(code, i)
	}
	for _, i := range code {
		if d := e.code[i].d; needed[d] {
			results = append(results, d)
		}
	}
	if len(results) <= n && len(code) <= mostInvariants { // in registers all of them before the loop, whatever the processor has
		return code, results
	}
	code, results = code[:min(n, len(code))], results[:0]
	for _, i := range code {
		results = append(results, e.code[i].d)
	}
	return code, results
}
