package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

func init() {
	factorsOfOp[hlo.OpGather] = gatherFactors
	handlers[hlo.OpGather] = withAttrs(func(in hlo.Instruction, _ *plan, operands []*value) hlo.OpAttrs {
		a := hlo.AttrsOf[hlo.GatherAttrs](in)
		a.SliceSizes = slices.Clone(a.SliceSizes)
		for k, n := range a.SliceSizes {
			if n == in.OperandInstr(0).Shape().Dim(k) {
				a.SliceSizes[k] = operands[0].v.Shape().Dim(k)
			}
		}
		return &a
	})
}

// gatherDims are the dimensions of a gather that correspond to each other.
type gatherDims struct {
	offsets [][2]int // operand, result: slices that are whole
	partial [][2]int // operand, result: slices that are parts
	batches [][2]int // indices, result
	joined  [][2]int // operand, indices: batching dimensions
}

func gatherDimsOf(a *hlo.GatherAttrs, operand, indices, result hlo.Shape) (g gatherDims) {
	next := 0
	for k := range operand.Rank() {
		switch {
		case slices.Contains(a.CollapsedSliceDims, int64(k)):
		case slices.Contains(a.OperandBatchingDims, int64(k)):
			i := slices.Index(a.OperandBatchingDims, int64(k))
			g.joined = append(g.joined, [2]int{k, int(a.StartIndicesBatchingDims[i])})
		default:
			pair := [2]int{k, int(a.OffsetDims[next])}
			next++
			if a.SliceSizes[k] == operand.Dim(k) {
				g.offsets = append(g.offsets, pair)
			} else {
				g.partial = append(g.partial, pair)
			}
		}
	}
	i := 0
	for k := range result.Rank() {
		if slices.Contains(a.OffsetDims, int64(k)) {
			continue
		}
		if i == int(a.IndexVectorDim) {
			i++
		}
		g.batches = append(g.batches, [2]int{i, k})
		i++
	}
	return g
}

func gatherFactors(in hlo.Instruction) (all []factor) {
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	g := gatherDimsOf(&a, in.OperandInstr(0).Shape(), in.OperandInstr(1).Shape(), in.Shape())
	for _, d := range g.offsets {
		all = append(all, along(2, passFactor, d[1], [2]int{0, d[0]}))
	}
	for _, d := range g.batches {
		f := along(2, passFactor, d[1], [2]int{1, d[0]})
		for _, j := range g.joined {
			if j[1] == d[0] {
				f.operands[0] = j[0]
			}
		}
		all = append(all, f)
	}
	return all
}
