package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

func init() {
	factorsOfOp[hlo.OpSort] = func(in hlo.Instruction) []factor {
		return except(in, hlo.AttrsOf[hlo.SortAttrs](in).Dimensions...)
	}
	factorsOfOp[hlo.OpTopk] = func(in hlo.Instruction) []factor { return except(in, int64(leafRank(in.Shape())-1)) }
	factorsOfOp[hlo.OpFft] = func(in hlo.Instruction) []factor {
		return lastWhole(in, len(hlo.AttrsOf[hlo.FFTAttrs](in).Length))
	}
	factorsOfOp[hlo.OpCholesky] = func(in hlo.Instruction) []factor { return lastWhole(in, 2) }
	factorsOfOp[hlo.OpTriangularSolve] = func(in hlo.Instruction) []factor { return lastWhole(in, 2) }
}

// except: all dimensions pass but some.
func except(in hlo.Instruction, whole ...int64) (all []factor) {
	for k := range leafRank(in.Shape()) {
		all = append(all, factor{
			kind: kindIf(slices.Contains(whole, int64(k))), result: k,
			operands: dimOfEach(in, k, func(i int) bool { return in.OperandInstr(i).Shape().Rank() > k }),
		})
	}
	return all
}

// lastWhole: the last n dimensions stay whole.
func lastWhole(in hlo.Instruction, n int) []factor {
	var whole []int64
	for k := leafRank(in.Shape()) - n; k < leafRank(in.Shape()); k++ {
		whole = append(whole, int64(k))
	}
	return except(in, whole...)
}
