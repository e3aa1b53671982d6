package analysis

import "github.com/gohalo/halo/hlo"

// mostInStack is how many arrays a loop writes one behind the other at most.
const mostInStack = 8

// IsStack reports whether in is a concatenation of few arrays of the same dimensions which lie one behind the other in memory: no axis before that of the concatenation
// has several elements. A loop over the dimensions of one of them can compute all of them in their places.
func IsStack(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpConcatenate || !in.Shape().IsStatic() || in.NumOperands() < 2 || in.NumOperands() > mostInStack {
		return false
	}
	first := in.OperandInstr(0).Shape()
	for o := range in.Operands() {
		if o.Shape().Type() != in.Shape().Type() || !o.Shape().IsStatic() || !SameDimensions(o.Shape(), first) {
			return false
		}
	}
	for axis := range hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0] {
		if first.Dim(int(axis)) != 1 {
			return false
		}
	}
	_, rolls := FindRoll(in)
	return !rolls
}
