package native

import "github.com/gohalo/halo/internal/amd64"

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
