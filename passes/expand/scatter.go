package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// ScatterSimplifier gives every scatter one form.
var ScatterSimplifier = expander("scatter-simplifier", `bring scatter into one form

Indices become a list of vectors, s32[N, k]; updates have that list first and the window behind it, whole. What the scatter had otherwise is done by reshapes and transposes of indices
and updates. The arrays, which may be large, stay as they are, and so does which of their dimensions the vectors are for.`, func(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpScatter && staticArrays(in) && len(hlo.AttrsOf[hlo.ScatterAttrs](in).InputBatchingDims) == 0 && !simpleScatter(in)
}, simplerScatter)

// simpleScatter reports whether a scatter has the form of scatter-simplifier.
func simpleScatter(in hlo.Instruction) bool {
	a, n := hlo.AttrsOf[hlo.ScatterAttrs](in), in.NumOperands()/2
	indices, updates := in.OperandInstr(n).Shape(), in.OperandInstr(n+1).Shape()
	return int(a.IndexVectorDim) == indices.Rank()-1 && updates.Rank()-len(a.UpdateWindowDims) == 1 &&
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
		indices = at.Reshape(indices, dims...)
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
	list := []int64{n}
	for _, d := range a.UpdateWindowDims {
		list = append(list, s.Dim(int(d)))
	}
	updates = at.Reshape(at.Transpose(updates, append(scattered, a.UpdateWindowDims...)...), list...)
	return at.Reshape(updates, append([]int64{n}, windowSizes(a, array, s)...)...)
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
	for i := range n {
		spec.Operands[n+1+i] = windows(at, spec.Operands[n+1+i], &a, array)
	}
	spec.Operands[n] = vectors(at, spec.Operands[n], a.IndexVectorDim)
	a.UpdateWindowDims, a.InsertedWindowDims, a.IndexVectorDim = nil, []int64{}, 1
	for i := range int64(array.Rank()) {
		a.UpdateWindowDims = append(a.UpdateWindowDims, i+1)
	}
	spec.Attrs, spec.Name, spec.Common = &a, "", at.Common
	return at.Spec(spec)
}
