package collectives

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{
		AllGatherBroadcastReorder,
		AllGatherCSE,
		AllGatherDecomposer,
		AllGatherPadSliceSimplifier,
		AllGatherPermutedSimplifier,
		AllGatherRemoveDegenerateDims,
		AllGatherSimplifier,
		AllReduceContiguous,
		AllReduceFolder,
		AllReduceReduceScatterReorder,
		AllReduceSimplifier,
		CollectivePermuteCSE,
		P2PSchedulePreparation,
		Quantizer,
		ReduceScatterDecomposer,
		ReduceScatterReassociate,
		ReorderReduceTranspose,
		ScheduleLinearizer,
		TransformationReorder,
	},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"all-gather-combiner":                 NewAllGatherCombiner,
		"all-gather-dynamic-slice-simplifier": NewAllGatherDynamicSliceSimplifier,
		"all-reduce-combiner":                 NewAllReduceCombiner,
		"all-to-all-decomposer":               NewAllToAllDecomposer,
		"all-reduce-promotion":                NewAllReducePromotion,
		"all-reduce-reassociate":              NewAllReduceReassociate,
		"all-reduce-splitter":                 NewAllReduceSplitter,
		"ar-crs-combiner":                     NewArCrsCombiner,
		"collective-permute-combiner":         NewCollectivePermuteCombiner,
		"collective-permute-decomposer":       NewCollectivePermuteDecomposer,
		"collective-pipeliner":                NewPipeliner,
		"cpu-all-reduce-combiner":             NewCPUAllReduceCombiner,
		"reduce-scatter-combiner":             NewReduceScatterCombiner,
		"reorder-convert-reduce-add":          NewReorderConvertReduceAdd,
		"while-loop-all-reduce-code-motion":   NewLoopMotion,
	},
	Aliases: map[string]string{
		"all-gather-broadcast-reorder":                        "all-gather-bcast-reorder",
		"collective-transformation-reorder":                   "collective-transformation-reorderer",
		"p2-p-schedule-preparation":                           "latency-hiding-scheduler-preparation",
		"all-gather-dynamic-slice-permuted-offset-simplifier": "all-gather-to-collective-permute-simplifier",
	},
}
