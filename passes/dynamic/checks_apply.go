package dynamic

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Conditions of ops that take blocks, and of those that apply computations to elements.

// checkDynamicSlice: a block that is not a whole dimension is there whole.
func checkDynamicSlice(b *body, in hlo.Instruction) bool {
	v := b.operand(0)
	for d, n := range hlo.AttrsOf[hlo.DynamicSliceAttrs](in).Sizes {
		full := v.sizes[d] != hlo.NoInstr && n == v.shape.Dim(d)
		if full != in.Shape().IsDynamicDimension(d) {
			return false
		}
		if v.sizes[d] != hlo.NoInstr && !full {
			b.least(v.sizes[d], n)
		}
	}
	return true
}

func checkGather(b *body, in hlo.Instruction) bool {
	a, s := hlo.AttrsOf[hlo.GatherAttrs](in), in.Shape()
	v, indices, vector := b.operand(0), b.operand(1), int(a.IndexVectorDim)
	if len(a.OperandBatchingDims) > 0 || vector < len(indices.sizes) && indices.sizes[vector] != hlo.NoInstr {
		return false
	}
	offset := 0
	for d, n := range a.SliceSizes {
		collapsed := slices.Contains(a.CollapsedSliceDims, int64(d))
		sized := v.sizes[d] != hlo.NoInstr
		full := sized && n == v.shape.Dim(d)
		if sized && (!full || collapsed) {
			b.least(v.sizes[d], n)
		}
		if !collapsed {
			if full != s.IsDynamicDimension(int(a.OffsetDims[offset])) {
				return false
			}
			offset++
		}
	}
	batch := batchOf(indices, vector)
	for d := range s.Rank() {
		if !slices.Contains(a.OffsetDims, int64(d)) {
			if (batch[0] != hlo.NoInstr) != s.IsDynamicDimension(d) {
				return false
			}
			batch = batch[1:]
		}
	}
	return true
}

func checkScatter(b *body, in hlo.Instruction) bool {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	if in.NumOperands() != 3 || !in.Shape().IsArray() || len(a.InputBatchingDims) > 0 || !checkSame(b, in) {
		return false
	}
	indices, u := b.operand(1), b.operand(2)
	axis := 0
	for d := range u.sizes {
		if slices.Contains(a.UpdateWindowDims, int64(d)) {
			continue
		}
		if axis == int(a.IndexVectorDim) {
			axis++
		}
		m := newMeet()
		if !m.with(b, indices, axis) || !m.with(b, u, d) {
			return false
		}
		axis++
	}
	return true
}

// checkReduce: inputs that are not as the first is are static.
func checkReduce(b *body, in hlo.Instruction) bool {
	k, gone := in.NumOperands()/2, ints(hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions)
	values := b.inputs(k)
	first := values[0]
	for _, v := range values {
		if v.isSized() && slices.ContainsFunc(axesOf(v.shape), func(d int) bool { return v.shape.IsDynamicDimension(d) != first.shape.IsDynamicDimension(d) }) ||
			v.isSized() && !first.isSized() {
			return false
		}
	}
	for d := range first.sizes {
		m := newMeet()
		for _, v := range values {
			if !m.with(b, v, d) {
				return false
			}
		}
	}
	for _, leaf := range leavesOf(in.Shape()) {
		e := 0
		for d := range first.sizes {
			if slices.Contains(gone, d) {
				continue
			}
			if !same(first, d, leaf, e) {
				return false
			}
			e++
		}
	}
	return true
}

// inputs are the first k operands.
func (b *body) inputs(k int) (values []*value) {
	for i := range k {
		values = append(values, b.operand(i))
	}
	return values
}

// checkReduceWindow: what it begins with leaves others as they are, so that it may be counted more often.
func checkReduceWindow(b *body, in hlo.Instruction) bool {
	w := hlo.AttrsOf[hlo.WindowAttrs](in).Window
	if in.NumOperands() != 2 || w == nil || !in.Shape().IsArray() {
		return false
	}
	f, v, l := b.m.MustComputation(in.Callee(0)), b.operand(0), in.OperandInstr(1).Literal()
	id, ok := neutral(f)
	if !ok || l == nil || l.IsElided() || id.Shape().Type() != l.Shape().Type() || !l.Equal(id) && !(isZero(l) && isAdd(f)) {
		return false
	}
	for d, x := range w.Dims {
		if x.PadLow < 0 || x.PadHigh < 0 || (v.sizes[d] != hlo.NoInstr) != in.Shape().IsDynamicDimension(d) {
			return false
		}
	}
	return true
}

func checkDot(b *body, in hlo.Instruction) bool {
	a, s := hlo.AttrsOf[hlo.DotAttrs](in), in.Shape()
	if in.NumOperands() != 2 || !s.IsArray() {
		return false
	}
	x, y := b.operand(0), b.operand(1)
	for i, d := range a.LHSContracting {
		if m := newMeet(); !m.with(b, x, int(d)) || !m.with(b, y, int(a.RHSContracting[i])) {
			return false
		}
	}
	e := 0
	for i, d := range a.LHSBatch {
		m := newMeet()
		if !m.with(b, x, int(d)) || !m.with(b, y, int(a.RHSBatch[i])) || !m.is(s, e) {
			return false
		}
		e++
	}
	free := func(v *value, batch, contracting []int64) bool {
		for d := range v.sizes {
			if slices.Contains(batch, int64(d)) || slices.Contains(contracting, int64(d)) {
				continue
			}
			if !same(v, d, s, e) {
				return false
			}
			e++
		}
		return true
	}
	return free(x, a.LHSBatch, a.LHSContracting) && free(y, a.RHSBatch, a.RHSContracting)
}

// checkSort: all arrays have the same dynamic dimensions.
func checkSort(b *body, in hlo.Instruction) bool {
	values := b.inputs(in.NumOperands())
	for _, v := range values {
		for d := range v.sizes {
			if v.shape.IsDynamicDimension(d) != values[0].shape.IsDynamicDimension(d) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(leavesOf(in.Shape()), func(leaf hlo.Shape) bool { return !b.together(values, leaf, -1) })
}
