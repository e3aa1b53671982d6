package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// SameBytes reports whether the result of in has exactly the bytes of operand 0 when arrays are dense and row-major.
func SameBytes(in hlo.Instruction) bool {
	//halo:allow opswitch each op keeps its bytes under a condition of its own
	switch in.Opcode() {
	case hlo.OpCopy, hlo.OpReshape:
		return true
	case hlo.OpBitcast:
		// The bytes are the same in the layouts that are written; in row-major order they are if both layouts are.
		return rowMajor(in.Shape()) && rowMajor(in.OperandInstr(0).Shape()) &&
			in.Shape().ByteSize() == in.OperandInstr(0).Shape().ByteSize()
	case hlo.OpConvert:
		return in.Shape().Type() == in.OperandInstr(0).Shape().Type()
	case hlo.OpTranspose:
		return keepsOrder(in.Shape(), hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions)
	case hlo.OpBroadcast:
		return in.Shape().NumElements() == in.OperandInstr(0).Shape().NumElements() &&
			slices.IsSorted(hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions)
	case hlo.OpSlice:
		return SameDimensions(in.Shape(), in.OperandInstr(0).Shape()) && !reversed(hlo.AttrsOf[hlo.SliceAttrs](in).Slice)
	}
	return false
}

func reversed(dims []hlo.SliceDim) bool {
	return slices.ContainsFunc(dims, func(d hlo.SliceDim) bool { return d.Stride < 0 })
}

// keepsOrder reports whether a transposition to shape moves only axes of size 1.
func keepsOrder(shape hlo.Shape, perm []int64) bool {
	last := int64(-1)
	for i, p := range perm {
		if shape.Dim(i) == 1 {
			continue
		}
		if p < last {
			return false
		}
		last = p
	}
	return true
}

func rowMajor(s hlo.Shape) bool {
	l, ok := s.Layout()
	if !ok {
		return true
	}
	// Axes of size 1 may stand anywhere.
	last := int64(s.Rank())
	for _, a := range l.MinorToMajor {
		if s.Dim(int(a)) == 1 {
			continue
		}
		if a > last {
			return false
		}
		last = a
	}
	return len(l.Tiles) == 0
}

// SameDimensions reports whether two arrays have the same rank and sizes.
func SameDimensions(a, b hlo.Shape) bool {
	if a.Rank() != b.Rank() {
		return false
	}
	for i := range a.Rank() {
		if a.Dim(i) != b.Dim(i) {
			return false
		}
	}
	return true
}
