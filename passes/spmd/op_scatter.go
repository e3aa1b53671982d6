package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

func init() {
	factorsOfOp[hlo.OpScatter] = scatterFactors
}

// scatterDims are the dimensions of a scatter that correspond to each other.
type scatterDims struct {
	windows [][2]int // operand, updates: windows that are whole
	partial [][2]int // operand, updates: windows that are parts
	batches [][2]int // indices, updates
	joined  [][2]int // operand, indices: batching dimensions
}

func scatterDimsOf(a *hlo.ScatterAttrs, operand, updates hlo.Shape) (g scatterDims) {
	next := 0
	for k := range operand.Rank() {
		switch {
		case slices.Contains(a.InsertedWindowDims, int64(k)):
		case slices.Contains(a.InputBatchingDims, int64(k)):
			i := slices.Index(a.InputBatchingDims, int64(k))
			g.joined = append(g.joined, [2]int{k, int(a.ScatterIndicesBatchingDims[i])})
		default:
			pair := [2]int{k, int(a.UpdateWindowDims[next])}
			next++
			if updates.Dim(pair[1]) == operand.Dim(k) {
				g.windows = append(g.windows, pair)
			} else {
				g.partial = append(g.partial, pair)
			}
		}
	}
	i := 0
	for k := range updates.Rank() {
		if slices.Contains(a.UpdateWindowDims, int64(k)) {
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

// scatterFactors: operands and updates of several arrays are tiled alike. Dimensions along which updates are many are no factors: see scatter.
func scatterFactors(in hlo.Instruction) (all []factor) {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	n := in.NumOperands()
	arrays := n / 2
	g := scatterDimsOf(&a, in.OperandInstr(0).Shape(), in.OperandInstr(arrays+1).Shape())
	for _, d := range g.windows {
		f := along(n, passFactor, d[0])
		for i := range arrays {
			f.operands[i], f.operands[arrays+1+i] = d[0], d[1]
		}
		all = append(all, f)
	}
	for _, d := range g.batches {
		for _, j := range g.joined {
			if j[1] != d[0] {
				continue
			}
			f := along(n, passFactor, j[0], [2]int{arrays, d[0]})
			for i := range arrays {
				f.operands[i], f.operands[arrays+1+i] = j[0], d[1]
			}
			all = append(all, f)
		}
	}
	return all
}
