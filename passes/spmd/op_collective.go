package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Collectives of a program for many devices are about replicas, or about the manual axes of a region: parts along other axes go through.
func init() {
	factorsOfOp[hlo.OpAllReduce] = alike(elementwiseFactors)
	factorsOfOp[hlo.OpCollectivePermute] = alike(elementwiseFactors)
	factorsOfOp[hlo.OpCollectiveBroadcast] = alike(elementwiseFactors)
	factorsOfOp[hlo.OpAllGather] = alike(func(in hlo.Instruction) []factor {
		return except(in, hlo.AttrsOf[hlo.AllGatherAttrs](in).Dimensions...)
	})
	factorsOfOp[hlo.OpAllToAll] = alike(func(in hlo.Instruction) []factor {
		return except(in, hlo.AttrsOf[hlo.AllToAllAttrs](in).Dimensions...)
	})
	factorsOfOp[hlo.OpReduceScatter] = alike(func(in hlo.Instruction) []factor {
		return except(in, hlo.AttrsOf[hlo.ReduceScatterAttrs](in).Dimensions...)
	})
}

// alike gives the factors only where all results have the same dimensions, as a factor takes them to have: a collective of several arrays may
// carry any.
func alike(f factored) factored {
	return func(in hlo.Instruction) []factor {
		var first []int64
		same, n := true, 0
		leaves(in.Shape(), func(s hlo.Shape) {
			if n++; n == 1 {
				first = s.Dimensions()
			}
			same = same && slices.Equal(first, s.Dimensions())
		})
		if !same {
			return nil
		}
		return f(in)
	}
}
