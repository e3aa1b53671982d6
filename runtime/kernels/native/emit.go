package native

import (
	"slices"

	"github.com/gohalo/halo/internal/amd64"
)

// The registers of a loop: see [enter].
const (
	regIndex  = amd64.RAX // of the element
	regCount  = amd64.RCX
	regSlots  = amd64.RDI // the pointers
	regSpills = amd64.RSI
	regOther  = amd64.Reg(15) // a pointer for which there is no register
)

// pointers are the registers for the first slots.
var pointers = []amd64.Reg{amd64.RDX, amd64.RBX, 8, 9, 10, 11, 12, 13}

const slotBytes = 64 // of the spill area, for one register

func (a *assigner) bits() int {
	if a.wide {
		return 512
	}
	return 256
}

func (a *assigner) spill(v int) amd64.Arg { return amd64.M(regSpills, int32(slotBytes*a.slot[v])) }

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
	if i.from.kind != nowhere {
		m := a.memory(i.from)
		if i.stores {
			v.D = m
		} else {
			v.Y = m
		}
	}
	a.c.Vector(&v)
}

// memory is an operand in memory; it may write an instruction that brings its address.
func (a *assigner) memory(m memory) amd64.Arg {
	if m.kind == inPool {
		return amd64.ML(a.labels[m.index])
	}
	p := regOther
	if m.index < len(pointers) {
		p = pointers[m.index]
	} else {
		a.c.Do(amd64.MOV, true, p, amd64.M(regSlots, int32(8*m.index)))
	}
	if m.kind == repeated {
		return amd64.M(p, 0)
	}
	return amd64.MS(p, regIndex, m.size, 0)
}

// machineCode is a loop before it is where it can be executed.
type machineCode struct {
	bytes        []byte
	lanes        int
	slots        int
	spills       int
	instructions int
}

// assemble writes the loop. As many results of instructions that give the same for all elements as there are registers to spare are computed
// before it.
func assemble(e *expansion) *machineCode {
	all := make([]int, len(e.code))
	for i := range all {
		all[i] = i
	}
	trial := newAssigner(e, &amd64.Code{}, all, nil)
	trial.labels = e.newLabels(trial.c)
	trial.write()
	registers := 16
	if e.wide {
		registers = 32
	}
	before, pinned := e.invariants(registers - trial.most)
	c := &amd64.Code{}
	labels := e.newLabels(c)
	for i := range min(e.b.slots, len(pointers)) {
		c.Do(amd64.MOV, true, pointers[i], amd64.M(regSlots, int32(8*i)))
	}
	c.Do(amd64.XOR, false, regIndex, amd64.R(regIndex))
	var body []int
	for _, i := range all {
		if !slices.Contains(before, i) {
			body = append(body, i)
		}
	}
	a := newAssigner(e, c, body, pinned)
	a.labels = labels
	for _, i := range before {
		x := &e.code[i]
		var r [3]amd64.Reg
		for n, v := range [...]int{x.x, x.y, x.k} {
			if v != 0 {
				r[n] = amd64.Reg(a.at[v])
			}
		}
		a.emit(x, r)
	}
	lanes := a.bits() / 8 / e.lane
	c.Pad(32)
	loop := c.NewLabel()
	c.Mark(loop)
	a.prefetch()
	a.write()
	c.DoImm(amd64.ADD, true, amd64.R(regIndex), int32(lanes))
	c.Do(amd64.CMP, true, regIndex, amd64.R(regCount))
	c.JumpIf(amd64.L, loop)
	c.ZeroUpper()
	c.Return()
	c.Align(64)
	for n, l := range labels {
		c.Mark(l)
		for range a.bits() / 128 {
			c.Data(e.pool[n][:]...)
		}
	}
	return &machineCode{bytes: c.Bytes(), lanes: lanes, slots: e.b.slots, spills: a.spills, instructions: len(body)}
}

// ahead is how far, in bytes, memory is asked for before it is needed. The processor does so too, but not beyond a page, nor far enough
// where there is much to compute.
const ahead = 2048

// prefetch asks for the inputs and outputs that are to come.
func (a *assigner) prefetch() {
	seen := make(map[int]bool)
	for i := range a.code {
		m := a.code[i].from
		if m.kind == inSlot && !seen[m.index] && m.index < len(pointers) {
			seen[m.index] = true
			a.c.Prefetch(amd64.MS(pointers[m.index], regIndex, m.size, ahead), a.code[i].stores)
		}
	}
}

func (e *expansion) newLabels(c *amd64.Code) []amd64.Label {
	labels := make([]amd64.Label, len(e.pool))
	for i := range labels {
		labels[i] = c.NewLabel()
	}
	return labels
}

// invariants are up to n instructions whose results are vectors that are the same for all elements, and these vectors.
func (e *expansion) invariants(n int) (code, results []int) {
	definitions := make([]int, len(e.isMask))
	for i := range e.code {
		definitions[e.code[i].d]++
	}
	same := make([]bool, len(e.isMask))
	same[0] = true
	for i := range e.code {
		x := &e.code[i]
		if len(code) == n || x.d == 0 || e.isMask[x.d] || definitions[x.d] > 1 || x.reads || x.from.kind == inSlot || !same[x.x] || !same[x.y] || !same[x.k] {
			continue
		}
		same[x.d] = true
		code, results = append(code, i), append(results, x.d)
	}
	return code, results
}
