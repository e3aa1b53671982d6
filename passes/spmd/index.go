package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// indexing adjusts the indices of a gather or scatter to tiles of the dimensions that they index.
type indexing struct {
	d      *device
	vector int   // the dimension of the indices that holds their components; the rank if there is one component
	comps  []int // the operand dimension of each component
	whole  []int // operand dimensions that windows span: they begin at 0, or nowhere, whatever part of them a device has
}

// widened is indices of a type that differences fit in.
func (x *indexing) widened(v hlo.Value) hlo.Value {
	t := v.Shape().Type()
	switch {
	case t == hlo.U32 || t == hlo.U64:
		// Larger ones are out of range all the same.
		top := x.d.b.Constant(emit.Bits(t, 1<<31-1))
		return x.d.b.Convert(x.d.b.Binary(hlo.OpMinimum, v, x.d.splat(top, v.Shape().Dimensions())), hlo.S64)
	case t.Bits() < 32:
		return x.d.b.Convert(v, hlo.S32)
	}
	return v
}

// vectorOf is a number for each component, as an array like the indices.
func (x *indexing) vectorOf(of func(dim int) hlo.Value, like hlo.Shape) hlo.Value {
	dims := like.Dimensions()
	if x.vector >= len(dims) {
		return x.d.splat(x.typed(of(x.comps[0]), like.Type()), dims)
	}
	var parts []hlo.Value
	for _, k := range x.comps {
		parts = append(parts, x.d.b.Reshape(x.typed(of(k), like.Type()), 1))
	}
	v := parts[0]
	if len(parts) > 1 {
		v = x.d.b.Concatenate(0, parts...)
	}
	return x.d.b.Broadcast(v, []int64{int64(x.vector)}, dims...)
}

func (x *indexing) typed(v hlo.Value, t hlo.PrimitiveType) hlo.Value {
	if v.Shape().Type() == t {
		return v
	}
	return x.d.b.Convert(v, t)
}

// component is the part of the indices about an operand dimension, without the dimension of components.
func (x *indexing) component(v hlo.Value, dim int) hlo.Value {
	dims := v.Shape().Dimensions()
	if x.vector >= len(dims) {
		return v
	}
	i := int64(slices.Index(x.comps, dim))
	return x.d.b.Reshape(x.d.slice(v, x.vector, i, i+1), slices.Delete(dims, x.vector, x.vector+1)...)
}

// offsets is where the device's tile of each component's dimension begins; zero where it, or the window, is whole.
func (x *indexing) offsets(t *Tiling, part hlo.Shape, like hlo.Shape) hlo.Value {
	return x.vectorOf(func(k int) hlo.Value {
		if slices.Contains(x.whole, k) {
			return x.d.s32(0)
		}
		return x.d.offset(t, k, part.Dim(k))
	}, like)
}

// splitComponents are the components whose dimension a tiling splits, but for those that windows span.
func (x *indexing) splitComponents(t *Tiling) (dims []int) {
	for _, k := range x.comps {
		if len(t.Dims[k]) > 0 && !slices.Contains(x.whole, k) {
			dims = append(dims, k)
		}
	}
	return dims
}

// indexDims are the dimensions of a gather or scatter that correspond to each other. The slices are the result of a gather, the updates of a scatter.
type indexDims struct {
	windows [][2]int // operand, slices: windows that are whole
	partial [][2]int // operand, slices: windows that are parts
	batches [][2]int // indices, slices
	joined  [][2]int // operand, indices: batching dimensions
}

func gatherDimsOf(in hlo.Instruction) indexDims {
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	operand := in.OperandInstr(0).Shape()
	g := indexDimsOf(operand.Rank(), in.Shape().Rank(), a.CollapsedSliceDims, a.OperandBatchingDims, a.StartIndicesBatchingDims, a.OffsetDims, int(a.IndexVectorDim),
		func(k, _ int) bool { return a.SliceSizes[k] == operand.Dim(k) })
	g.joined = counted(g.joined, operand, in.OperandInstr(1), a.StartIndexMap, a.CollapsedSliceDims, int(a.IndexVectorDim))
	return g
}

// counted adds to batching dimensions, pairs of operand and indices dimension, those that are written as indices: dimensions of the operand whose index just
// counts along a dimension of the indices that goes with no other, as far as the operand has elements.
func counted(joined [][2]int, operand hlo.Shape, indices hlo.Instruction, comps, left []int64, vector int) [][2]int {
	counts := func(in hlo.Instruction, k int64) {
		b := countsAlong(in)
		if b < 0 || !slices.Contains(left, k) || !in.Shape().IsStatic() {
			return
		}
		taken := slices.ContainsFunc(joined, func(j [2]int) bool { return j[1] == b })
		if b != vector && !taken && in.Shape().Dim(b) == operand.Dim(int(k)) {
			joined = append(joined, [2]int{int(k), b})
		}
	}
	for indices.Opcode() == hlo.OpCopy {
		indices = indices.OperandInstr(0)
	}
	switch {
	case len(comps) == 1:
		counts(indices, comps[0])
	case indices.Opcode() == hlo.OpConcatenate && int(hlo.AttrsOf[hlo.AxisAttrs](indices).Dimensions[0]) == vector:
		at := int64(0)
		for part := range indices.Operands() {
			if part.Shape().Dim(vector) == 1 {
				counts(part, comps[at])
			}
			at += part.Shape().Dim(vector)
		}
	}
	return joined
}

// countsAlong is the dimension along which an array counts from 0, and along the others not; -1 if it does not.
func countsAlong(in hlo.Instruction) int {
	var shown []int64 // of a broadcast
	if in.Opcode() == hlo.OpBroadcast {
		shown = hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions
		in = in.OperandInstr(0)
	}
	a, ok := in.Attrs().(*hlo.IotaAttrs)
	switch {
	case !ok:
		return -1
	case shown != nil:
		return int(shown[a.Dimension])
	}
	return int(a.Dimension)
}

// isJoined reports whether a dimension of the operand goes with one of the indices.
func (g *indexDims) isJoined(k int64) bool {
	return slices.ContainsFunc(g.joined, func(j [2]int) bool { return int64(j[0]) == k })
}

func scatterDimsOf(in hlo.Instruction) indexDims {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	operand, updates := in.OperandInstr(0).Shape(), in.OperandInstr(in.NumOperands()/2+1).Shape()
	g := indexDimsOf(operand.Rank(), updates.Rank(), a.InsertedWindowDims, a.InputBatchingDims, a.ScatterIndicesBatchingDims, a.UpdateWindowDims, int(a.IndexVectorDim),
		func(k, j int) bool { return updates.Dim(j) == operand.Dim(k) })
	indices := in.OperandInstr(in.NumOperands() / 2)
	g.joined = counted(g.joined, operand, indices, a.ScatterDimsToOperandDims, a.InsertedWindowDims, int(a.IndexVectorDim))
	return g
}

// indexDimsOf matches the dimensions of an operand and of slices of some ranks: those of the operand that windows leave out, its batching dimensions
// with those of the indices, and the dimensions of the slices that are windows.
func indexDimsOf(operand, slicesRank int, left, batching, indicesBatching, windows []int64, vector int, whole func(k, j int) bool) (g indexDims) {
	next := 0
	for k := range operand {
		switch i := slices.Index(batching, int64(k)); {
		case slices.Contains(left, int64(k)):
		case i >= 0:
			g.joined = append(g.joined, [2]int{k, int(indicesBatching[i])})
		default:
			pair := [2]int{k, int(windows[next])}
			next++
			if whole(pair[0], pair[1]) {
				g.windows = append(g.windows, pair)
			} else {
				g.partial = append(g.partial, pair)
			}
		}
	}
	i := 0
	for k := range slicesRank {
		if slices.Contains(windows, int64(k)) {
			continue
		}
		if i == vector {
			i++
		}
		g.batches = append(g.batches, [2]int{i, k})
		i++
	}
	return g
}
