package spmd

import "github.com/gohalo/halo/hlo"

// Collectives of a program for many devices are about replicas, or about the manual axes of a region: parts along other axes go through.
func init() {
	factorsOfOp[hlo.OpAllReduce] = elementwiseFactors
	factorsOfOp[hlo.OpCollectivePermute] = elementwiseFactors
	factorsOfOp[hlo.OpCollectiveBroadcast] = elementwiseFactors
	factorsOfOp[hlo.OpAllGather] = func(in hlo.Instruction) []factor {
		return except(in, hlo.AttrsOf[hlo.AllGatherAttrs](in).Dimensions...)
	}
	factorsOfOp[hlo.OpAllToAll] = func(in hlo.Instruction) []factor { return except(in, hlo.AttrsOf[hlo.AllToAllAttrs](in).Dimensions...) }
	factorsOfOp[hlo.OpReduceScatter] = func(in hlo.Instruction) []factor {
		return except(in, hlo.AttrsOf[hlo.ReduceScatterAttrs](in).Dimensions...)
	}
}
