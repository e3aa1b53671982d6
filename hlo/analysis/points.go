package analysis

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Points is a gather as loads: each element of the result is the element of the array at an offset, which is a sum over the components of an index vector and
// over the coordinates of the result.
type Points struct {
	Components []PointComponent
	// Strides are what a step along each axis of the result adds: along those of windows, and those that array and indices have in common.
	Strides []int64
	// IndexAxes are the axes of the result that each axis of the index array is, or -1 for the one that index vectors lie along.
	IndexAxes []int
	// Run is how many neighbours in the array the last axes of the result are.
	Run int64
}

// PointComponent is a component of an index vector: from 0 to Highest, it adds so often a stride.
type PointComponent struct{ Highest, Stride int64 }

// FindPoints describes a gather of which all offsets, in bytes, are numbers of 32 bits. It reports false for others, and for types that loads do not have.
func FindPoints(in hlo.Instruction) (p Points, ok bool) {
	if in.Opcode() != hlo.OpGather || !in.Shape().IsStatic() || in.Shape().NumElements() == 0 {
		return p, false
	}
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	array, indices, out := in.OperandInstr(0).Shape(), in.OperandInstr(1).Shape(), in.Shape()
	t, index := array.Type(), indices.Type()
	if t != out.Type() || t != hlo.PRED && (t.Bits() < 8 || t.Bits() > 64) || !index.IsInteger() || index.Bits() < 8 || !array.IsStatic() || !indices.IsStatic() ||
		array.ByteSize() > math.MaxInt32 || a.PicksNothing() || hlo.CheckBatching(in) != nil {
		return p, false
	}
	strides := make([]int64, array.Rank())
	step := int64(1)
	for i := array.Rank() - 1; i >= 0; i-- {
		strides[i] = step
		step *= array.Dim(i)
	}
	for _, axis := range a.StartIndexMap {
		p.Components = append(p.Components, PointComponent{array.Dim(int(axis)) - a.SliceSizes[axis], strides[axis]})
	}
	p.Strides = make([]int64, out.Rank())
	next := 0
	for axis := range int64(array.Rank()) {
		if !slices.Contains(a.CollapsedSliceDims, axis) && !slices.Contains(a.OperandBatchingDims, axis) {
			p.Strides[a.OffsetDims[next]] = strides[axis]
			next++
		}
	}
	result := 0
	for axis := range int64(indices.Rank()) {
		if axis == a.IndexVectorDim {
			p.IndexAxes = append(p.IndexAxes, -1)
			continue
		}
		for slices.Contains(a.OffsetDims, int64(result)) {
			result++
		}
		p.IndexAxes = append(p.IndexAxes, result)
		if k := slices.Index(a.StartIndicesBatchingDims, axis); k >= 0 {
			if array.Dim(int(a.OperandBatchingDims[k])) < out.Dim(result) { // which XLA allows; the windows behind the last one are moved
				return p, false
			}
			p.Strides[result] = strides[a.OperandBatchingDims[k]]
		}
		result++
	}
	p.Run = 1
	for i := out.Rank() - 1; i >= 0; i-- {
		if out.Dim(i) == 1 {
			continue
		}
		if !slices.Contains(a.OffsetDims, int64(i)) || p.Strides[i] != p.Run {
			break
		}
		p.Run *= out.Dim(i)
	}
	return p, true
}
