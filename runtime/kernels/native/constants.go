package native

import (
	"bytes"

	"github.com/gohalo/halo/internal/amd64"
)

// mostInvariants is the number of instructions up to which all that gives the same for every element is computed where a row begins.
const mostInvariants = 16

// keepConstants lets constants that several instructions take from memory stay in registers, as many of spare as what else is the same for all elements leaves.
// Memory gives the processor two vectors at a time, and the operands of the loop are among them.
func (e *expansion) keepConstants(spare int) {
	before, results := e.invariants(spare)
	spare = min(spare-len(results), mostInvariants-len(before))
	uses := make([]int, len(e.pool))
	for i := range e.code {
		if e.code[i].takesConstant() {
			uses[e.code[i].from.index]++
		}
	}
	kept := make([]int, len(e.pool)) // the register of each, or 0
	var loads []instr
	for ; spare > 0; spare-- {
		most := 0
		for c, n := range uses {
			if n > uses[most] {
				most = c
			}
		}
		if len(uses) == 0 || uses[most] < 2 {
			break
		}
		uses[most] = 0
		kept[most] = e.register(false)
		loads = append(loads, instr{op: amd64.VMOVUPS, bits: e.bits(), d: kept[most], from: memory{kind: inPool, index: most}})
	}
	if len(loads) == 0 {
		return
	}
	for i := range e.code {
		if x := &e.code[i]; x.takesConstant() && kept[x.from.index] != 0 {
			x.y, x.from = kept[x.from.index], memory{}
		}
	}
	e.code = append(loads, e.code...)
}

// takesConstant reports whether an instruction computes with a constant in memory.
func (i *instr) takesConstant() bool { return i.from.kind == inPool && i.y == 0 && !i.op.Moves() }

// takeConstant makes a constant the operand in memory of an instruction. One whose lanes are all the same is a single element where the instruction can repeat it: then the
// constants of a loop share a few lines of memory, and seldom lie a multiple of [Page] from what the loop stores: a sum, say, for which the constant would wait.
// Moving a vector stays, as repeating an element into a register takes longer on Zen 4.
func (a *assigner) takeConstant(v *amd64.Vector, n int) {
	v.Y = amd64.ML(a.labels[n])
	if size := repeated16(a.pool[n]); v.Wide && size > 0 && size <= v.Op.Broadcasts() {
		v.Broadcast = true
		return
	}
	a.whole[n] = true
}

// constant writes an instruction that takes nothing but a constant.
func (a *assigner) constant(op amd64.VectorOp, d amd64.Reg, n int) {
	v := amd64.Vector{Op: op, Wide: a.wide, Bits: a.bits(), D: amd64.R(d)}
	a.takeConstant(&v, n)
	a.c.Vector(&v)
}

// repeated16 is the size of the element that 16 bytes repeat, 4 or 8, or 0.
func repeated16(c [16]byte) int {
	for _, size := range []int{4, 8} {
		if bytes.Equal(c[size:], c[:16-size]) {
			return size
		}
	}
	return 0
}

// writeConstants puts the constants behind the code: whole vectors, and elements. None lies where a page begins, as the chains of a single row do: see the above.
func (a *assigner) writeConstants(c *amd64.Code) {
	const element = 8
	size := element * len(a.labels)
	for range a.whole {
		size += a.bits() / 8
	}
	c.Align(line)
	if c.Len()%Page+size > Page {
		c.Align(Page)
	}
	if at := c.Len() % Page; at < ChainBytes {
		c.Data(make([]byte, ChainBytes-at)...)
	}
	for n, l := range a.labels {
		if a.whole[n] {
			c.Mark(l)
			for range a.bits() / 128 {
				c.Data(a.pool[n][:]...)
			}
		}
	}
	for n, l := range a.labels {
		if !a.whole[n] {
			c.Mark(l)
			c.Data(a.pool[n][:element]...)
		}
	}
}
