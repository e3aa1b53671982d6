package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// What few elements are, of rows of one array and of several, and of windows.
const (
	mostFolded   = 8
	mostTogether = 16
	mostWindow   = 16
)

// FoldsFew reports whether a reduction, of axes or of windows that lie inside of the array, folds so few elements into each of its results, and of such types,
// that a loop over the results can have them written out one by one. Narrow floats of one array are folded in f32 elsewhere, and rounded once.
func FoldsFew(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpReduce && in.Opcode() != hlo.OpReduceWindow || !in.Shape().IsStatic() {
		return false
	}
	k := in.NumOperands() / 2
	for i := range k {
		s, init := in.OperandInstr(i).Shape(), in.OperandInstr(k+i).Shape()
		t := s.Type()
		if !s.IsStatic() || s.NumElements() == 0 || t.IsComplex() || k == 1 && t.IsFloat() && t.Bits() < 32 || init.Type() != t || !init.IsScalar() {
			return false
		}
	}
	n := int64(1)
	if in.Opcode() == hlo.OpReduceWindow {
		w := hlo.AttrsOf[hlo.WindowAttrs](in).Window
		if w == nil || len(w.Dims) != in.OperandInstr(0).Shape().Rank() {
			return false
		}
		for _, d := range w.Dims {
			if n *= d.Size; d.PadLow != 0 || d.PadHigh != 0 || d.BaseDilation != 1 || d.Reversal {
				return false
			}
		}
		return n > 1 && n <= mostWindow
	}
	for _, axis := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
		n *= in.OperandInstr(0).Shape().Dim(int(axis))
	}
	if k > 1 {
		return n > 1 && n <= mostTogether
	}
	return n > 1 && n <= mostFolded
}

// Limits of few columns of many rows: the largest number of columns, which is higher where a computation folds several arrays and highest where it finds an extreme and its place, and the
// smallest number of rows.
const (
	MostColumns            = 8
	mostColumnsOfSeveral   = 16
	mostColumnsForExtremes = 128
	FewestRows             = 16
)

// FewColumns is the largest number of columns that a reduction of many rows had better fold as rows.
func FewColumns(m hlo.Module, in hlo.Instruction) int {
	if in.NumOperands() <= 2 {
		return MostColumns
	}
	if c, ok := m.Computation(in.Callee(0)); ok && in.NumOperands() == 4 && in.OperandInstr(1).Opcode() == hlo.OpIota && OnlyCompares(c) {
		return mostColumnsForExtremes
	}
	return mostColumnsOfSeveral
}

// FoldsColumns reports whether a reduction folds many rows of very few elements, one by one, so that it is better computed in columns, each of which is a row then.
func FoldsColumns(m hlo.Module, in hlo.Instruction) bool {
	s, axes := in.OperandInstr(0).Shape(), hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	columns, rows, isOutside := int64(1), int64(1), false
	for i := s.Rank() - 1; i >= 0; i-- {
		isFolded := slices.Contains(axes, int64(i))
		switch d := s.Dim(i); {
		case d == 1:
		case isFolded && isOutside:
			return false
		case isFolded:
			rows *= d
		case rows == 1:
			columns *= d
		default:
			isOutside = true
		}
	}
	return columns > 1 && columns <= int64(FewColumns(m, in)) && rows >= FewestRows
}

// OnlyCompares reports whether a computation does nothing but compare its parameters, each with the other of its array, and choose among them.
func OnlyCompares(comp hlo.Computation) bool {
	for in := range comp.Instructions() {
		//halo:allow opswitch what does not compute new values from elements
		switch in.Opcode() {
		case hlo.OpParameter, hlo.OpAnd, hlo.OpOr, hlo.OpNot, hlo.OpXor, hlo.OpTuple:
			if in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpTuple && in.Shape().Type() != hlo.PRED {
				return false
			}
		case hlo.OpSelect:
			if in.Shape().Type() != hlo.PRED && !(isParameterOf(in.OperandInstr(1)) && isParameterOf(in.OperandInstr(2))) {
				return false
			}
		case hlo.OpCompare, hlo.OpMaximum, hlo.OpMinimum:
			x, ok := in.OperandInstr(0).ParameterNumber()
			y, ok2 := in.OperandInstr(1).ParameterNumber()
			if !ok || !ok2 || x%2 != y%2 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isParameterOf(in hlo.Instruction) bool { return in.Opcode() == hlo.OpParameter }

// FoldedPoints lists, in row-major order, what a reduction folds into each element of its result: an index in the window, or for each axis of the operands, or -1
// where it is the one of the result.
func FoldedPoints(in hlo.Instruction) [][]int64 {
	sizes := slices.Clone(in.OperandInstr(0).Shape().Dimensions())
	if in.Opcode() == hlo.OpReduceWindow {
		for axis, d := range hlo.AttrsOf[hlo.WindowAttrs](in).Window.Dims {
			sizes[axis] = d.Size
		}
	} else {
		for axis := range sizes {
			if !slices.Contains(hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions, int64(axis)) {
				sizes[axis] = -1
			}
		}
	}
	points := [][]int64{nil}
	for _, n := range sizes {
		var next [][]int64
		for _, p := range points {
			if n < 0 {
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
