package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// GatherSimplifier gives every gather one form.
var GatherSimplifier = rewriting("gather-simplifier", `bring gather into one form

Indices become a list of vectors, s32[M, n]; the result has that list first and the slice behind it, whole. What the gather had otherwise is done by reshapes and transposes of the indices
and of the result. The operand, which may be large, stays as it is, and so does which of its dimensions the vectors are for.`,
	&pass.RewriteRule{ID: "form", Doc: "gather → gather of a list of index vectors, reshaped", Root: []hlo.Opcode{hlo.OpGather}, Rewrite: oneForm})

func oneForm(in hlo.Instruction) (pass.Expr, bool) {
	x, indices := in.OperandInstr(0), in.OperandInstr(1)
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	t := in.Shape().Type()
	switch {
	case len(a.OperandBatchingDims) > 0:
		return pass.Expr{}, false
	case x.Shape().IsScalar():
		return pass.New(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{}, pass.Use(x)), true
	case a.PicksNothing():
		return pass.Fill(in.Shape(), scalar.FromBits(t, 0)), !t.IsComplex()
	}
	n := len(a.SliceSizes)
	if indices.Shape().Rank() == 2 && a.IndexVectorDim == 1 && len(a.CollapsedSliceDims) == 0 && slices.Equal(a.OffsetDims, counted(1, n)) {
		return pass.Expr{}, false
	}
	// Indices with their vectors last, then as a list.
	list := pass.Use(indices)
	dims := slices.Clone(indices.Shape().Dimensions())
	switch v := int(a.IndexVectorDim); {
	case v == len(dims):
		dims = append(dims, 1)
		list = reshapeTo(list, dims)
	case v < len(dims)-1:
		perm := append(slices.Delete(counted(0, len(dims)), v, v+1), int64(v))
		vector := dims[v]
		dims = append(slices.Delete(dims, v, v+1), vector)
		list = pass.New(hlo.OpTranspose, arrayOf(indices.Shape().Type(), dims), &hlo.DimensionsAttrs{Dimensions: perm}, list)
	}
	batch := dims[:len(dims)-1]
	m := int64(1)
	for _, d := range batch {
		m *= d
	}
	if len(dims) != 2 {
		list = reshapeTo(list, []int64{m, dims[len(dims)-1]})
	}
	attrs := &hlo.GatherAttrs{OffsetDims: counted(1, n), CollapsedSliceDims: []int64{}, StartIndexMap: a.StartIndexMap, IndexVectorDim: 1,
		SliceSizes: a.SliceSizes, IndicesAreSorted: a.IndicesAreSorted}
	e := pass.New(hlo.OpGather, arrayOf(t, append([]int64{m}, a.SliceSizes...)), attrs, pass.Use(x), list)
	// Without the collapsed axes of the slice, and then with the batch axes again, each at its place.
	var kept []int64
	for i, size := range a.SliceSizes {
		if !slices.Contains(a.CollapsedSliceDims, int64(i)) {
			kept = append(kept, size)
		}
	}
	if len(kept) < n {
		e = reshapeTo(e, append([]int64{m}, kept...))
	}
	whole := append(slices.Clone(batch), kept...)
	if len(batch) != 1 {
		e = reshapeTo(e, whole)
	}
	perm := make([]int64, len(whole))
	b, o := int64(0), int64(len(batch))
	for i := range perm {
		if slices.Contains(a.OffsetDims, int64(i)) {
			perm[i], o = o, o+1
		} else {
			perm[i], b = b, b+1
		}
	}
	if !slices.IsSorted(perm) {
		e = pass.New(hlo.OpTranspose, in.Shape(), &hlo.DimensionsAttrs{Dimensions: perm}, e)
	}
	return e, true
}

// counted is from, from+1, … of n numbers.
func counted(from, n int) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(from + i)
	}
	return all
}

func arrayOf(t hlo.PrimitiveType, dims []int64) hlo.Shape {
	return hlo.MakeArray(t, dims, nil, hlo.DefaultLayout(len(dims)))
}

// reshapeTo is x in other dimensions: x itself if they are its own.
func reshapeTo(x pass.Expr, dims []int64) pass.Expr {
	if slices.Equal(x.Shape().Dimensions(), dims) {
		return x
	}
	return pass.New(hlo.OpReshape, arrayOf(x.Shape().Type(), dims), nil, x)
}
