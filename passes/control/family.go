package control

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{
		AddOriginalValue,
		CallMarker,
		CallOutliner,
		CallParameterCleanup,
		ConditionalCanonicalizer,
		ConditionalSimplifier,
		ConditionalToSelect,
		FusionInliner,
		InfeedTokenPropagation,
		ModuleSplitter,
		ModuleStitcher,
		MapInliner,
		OptimizationBarrierExpander,
		OptimizationBarrierSimplifier,
		PropagateCallMetadata,
		UnflattenCallGraph,
	},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"call-inliner":               NewCallInliner,
		"call-splitter":              NewCallSplitter,
		"computation-deduplicator":   NewComputationDeduplicator,
		"control-flow-flattening":    NewFlattening,
		"cpu-parallel-task-assigner": NewParallelTasks,
		"flatten-call-graph":         NewFlattenCallGraph,
		"small-while-loop-hoisting":  NewSmallLoops,
	},
	Aliases: map[string]string{
		"simplify-conditional":   "conditional-simplifier",
		"cse-barrier-expander":   "optimization-barrier-expander",
		"defuser":                "fusion-inliner",
		"module-splitter":        "hlo-module-splitter",
		"module-stitcher":        "hlo-module-stitcher",
		"map-inline":             "map-inliner",
		"parallel-task-assigner": "cpu-parallel-task-assigner",
	},
}
