package analysis

import "github.com/gohalo/halo/hlo"

// Roll is an array that is rotated along an axis: element i of the result is element (i + By) mod n of the array.
type Roll struct {
	Array hlo.Instruction
	Axis  int
	By    int64 // from 1 to n - 1
}

// FindRoll recognises a concatenation of two slices, the last and the first part of one array.
func FindRoll(in hlo.Instruction) (r Roll, ok bool) {
	if in.Opcode() != hlo.OpConcatenate || in.NumOperands() != 2 || !in.Shape().IsStatic() {
		return r, false
	}
	last, first := in.OperandInstr(0), in.OperandInstr(1)
	if last.Opcode() != hlo.OpSlice || first.Opcode() != hlo.OpSlice || last.Operand(0) != first.Operand(0) {
		return r, false
	}
	r.Array = last.OperandInstr(0)
	s := r.Array.Shape()
	dims := hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions
	if len(dims) != 1 || !s.IsStatic() || !SameDimensions(s, in.Shape()) {
		return r, false
	}
	r.Axis = int(dims[0])
	head, tail := hlo.AttrsOf[hlo.SliceAttrs](first).Slice, hlo.AttrsOf[hlo.SliceAttrs](last).Slice
	r.By = tail[r.Axis].Start
	for i := range head {
		from, to := int64(0), s.Dim(i)
		a, b := head[i], tail[i]
		if a.Stride != 1 || b.Stride != 1 {
			return r, false
		}
		if i == r.Axis {
			if a.Start != from || a.Limit != r.By || b.Limit != to {
				return r, false
			}
		} else if a.Start != from || a.Limit != to || b.Start != from || b.Limit != to {
			return r, false
		}
	}
	return r, r.By > 0 && r.By < s.Dim(r.Axis)
}
