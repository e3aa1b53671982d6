package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// mostFolded is how many elements are few.
const mostFolded = 8

// FoldsFew reports whether a reduction folds so few elements into each of its results, and of such types, that a loop over the results can have them
// written out one by one.
func FoldsFew(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpReduce || !in.Shape().IsStatic() {
		return false
	}
	k := in.NumOperands() / 2
	for i := range k {
		s, init := in.OperandInstr(i).Shape(), in.OperandInstr(k+i).Shape()
		t := s.Type()
		if !s.IsStatic() || s.NumElements() == 0 || t.IsComplex() || t.IsFloat() && t.Bits() < 32 || init.Type() != t || !init.IsScalar() {
			return false
		}
	}
	n := int64(1)
	for _, axis := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
		n *= in.OperandInstr(0).Shape().Dim(int(axis))
	}
	return n > 1 && n <= mostFolded
}

// FoldedPoints lists, in row-major order, what a reduction folds into each element of its result: an index for each axis of the operands, or -1 where it is the
// one of the result.
func FoldedPoints(in hlo.Instruction) [][]int64 {
	axes := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	points := [][]int64{nil}
	for axis, n := range in.OperandInstr(0).Shape().Dimensions() {
		var next [][]int64
		for _, p := range points {
			if !slices.Contains(axes, int64(axis)) {
				next = append(next, append(slices.Clone(p), -1))
				continue
			}
			for i := range n {
				next = append(next, append(slices.Clone(p), i))
			}
		}
		points = next
	}
	return points
}
