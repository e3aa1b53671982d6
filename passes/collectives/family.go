package collectives

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{
		AllGatherCSE,
		AllGatherDecomposer,
		AllGatherPermutedSimplifier,
		AllGatherRemoveDegenerateDims,
		AllGatherSimplifier,
		AllReduceContiguous,
		AllReduceFolder,
		AllReduceReduceScatterReorder,
		AllReduceSimplifier,
		CollectivePermuteCSE,
		ReduceScatterReassociate,
		ScheduleLinearizer,
	},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"all-gather-combiner":                 NewAllGatherCombiner,
		"all-gather-dynamic-slice-simplifier": NewAllGatherDynamicSliceSimplifier,
		"all-reduce-combiner":                 NewAllReduceCombiner,
		"all-reduce-reassociate":              NewAllReduceReassociate,
		"collective-permute-combiner":         NewCollectivePermuteCombiner,
		"cpu-all-reduce-combiner":             NewCPUAllReduceCombiner,
		"reduce-scatter-combiner":             NewReduceScatterCombiner,
	},
	Aliases: map[string]string{
		"all-gather-dynamic-slice-permuted-offset-simplifier": "all-gather-to-collective-permute-simplifier",
	},
}
