package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// ScatterSimplifier gives every scatter one form.
var ScatterSimplifier = expander("scatter-simplifier", `bring scatter into one form

Indices become a list of vectors, s32[N, k], for the first k dimensions of the array in their order; updates have that list first and the window behind it, whole. What the scatter
had otherwise is done by reshapes and transposes around it.`, func(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpScatter && staticArrays(in) && len(hlo.AttrsOf[hlo.ScatterAttrs](in).InputBatchingDims) == 0 && !simpleScatter(in)
}, simplerScatter)

// simpleScatter reports whether a scatter has the form of scatter-simplifier.
func simpleScatter(in hlo.Instruction) bool {
	a, n := hlo.AttrsOf[hlo.ScatterAttrs](in), in.NumOperands()/2
	indices, updates := in.OperandInstr(n).Shape(), in.OperandInstr(n+1).Shape()
	return int(a.IndexVectorDim) == indices.Rank()-1 && updates.Rank()-len(a.UpdateWindowDims) == 1 && leads(a.ScatterDimsToOperandDims) &&
		!slices.Contains(a.UpdateWindowDims, 0) && slices.IsSorted(a.UpdateWindowDims) && len(a.InsertedWindowDims) == 0
}

// others lists the numbers below n that are not in some, in order.
func others(n int, some []int64) (list []int64) {
	for i := range int64(n) {
		if !slices.Contains(some, i) {
			list = append(list, i)
		}
	}
	return list
}

// vectors is the indices of a scatter or gather as a list of vectors.
func vectors(at emit.At, indices hlo.InstrID, vector int64) hlo.InstrID {
	dims := slices.Clone(at.Shape(indices).Dimensions())
	if int(vector) == len(dims) {
		dims = append(dims, 1)
	} else {
		perm := append(others(len(dims), []int64{vector}), vector)
		indices = at.Transpose(indices, perm...)
		width := dims[vector]
		dims = append(slices.Delete(dims, int(vector), int(vector)+1), width)
	}
	n := int64(1)
	for _, d := range dims[:len(dims)-1] {
		n *= d
	}
	return at.Reshape(indices, n, dims[len(dims)-1])
}

// windows is the updates of a scatter as a list of whole windows of the array.
func windows(at emit.At, updates hlo.InstrID, a *hlo.ScatterAttrs, array hlo.Shape) hlo.InstrID {
	s := at.Shape(updates)
	scattered := others(s.Rank(), a.UpdateWindowDims)
	n := int64(1)
	for _, d := range scattered {
		n *= s.Dim(int(d))
	}
	dims := append([]int64{n}, windowSizes(a, array, s)...)
	return at.Reshape(at.Transpose(updates, append(scattered, a.UpdateWindowDims...)...), dims...)
}

// windowSizes is the size of a scatter's window along each axis of the array.
func windowSizes(a *hlo.ScatterAttrs, array, updates hlo.Shape) (sizes []int64) {
	next := 0
	for axis := range int64(array.Rank()) {
		if slices.Contains(a.InsertedWindowDims, axis) || slices.Contains(a.InputBatchingDims, axis) {
			sizes = append(sizes, 1)
			continue
		}
		sizes = append(sizes, updates.Dim(int(a.UpdateWindowDims[next])))
		next++
	}
	return sizes
}

func simplerScatter(at emit.At, in hlo.Instruction) hlo.InstrID {
	spec, a, n := emit.Again(in), hlo.AttrsOf[hlo.ScatterAttrs](in), in.NumOperands()/2
	array := in.OperandInstr(0).Shape()
	k := len(a.ScatterDimsToOperandDims)
	perm := append(slices.Clone(a.ScatterDimsToOperandDims), others(array.Rank(), a.ScatterDimsToOperandDims)...)
	moved, back := []int64{0}, make([]int64, len(perm))
	for i, p := range perm {
		moved = append(moved, p+1)
		back[p] = int64(i)
	}
	for i := range n {
		spec.Operands[i] = at.Transpose(spec.Operands[i], perm...)
		spec.Operands[n+1+i] = at.Transpose(windows(at, spec.Operands[n+1+i], &a, array), moved...)
	}
	spec.Operands[n] = vectors(at, spec.Operands[n], a.IndexVectorDim)
	a.UpdateWindowDims, a.InsertedWindowDims, a.ScatterDimsToOperandDims, a.IndexVectorDim = slices.Sorted(slices.Values(moved[1:])), []int64{}, nil, 1
	for i := range int64(k) {
		a.ScatterDimsToOperandDims = append(a.ScatterDimsToOperandDims, i)
	}
	var shapes []hlo.Shape
	for i := range n {
		shapes = append(shapes, at.Shape(spec.Operands[i]).WithoutLayout())
	}
	spec.Attrs, spec.Shape, spec.Name = &a, hlo.MakeTuple(shapes...), ""
	spec.Common = at.Common
	if !in.Shape().IsTuple() {
		spec.Shape = shapes[0]
		return at.Transpose(at.Spec(spec), back...)
	}
	scattered := at.Spec(spec)
	if slices.IsSorted(perm) {
		return scattered
	}
	parts := make([]hlo.InstrID, n)
	for i := range parts {
		parts[i] = at.Transpose(at.Element(scattered, i), back...)
	}
	return at.Tuple(parts...)
}
