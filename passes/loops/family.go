package loops

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{AccumulatorInputUnification, ModuleDCE, PipelineUnroller, ScheduleLinearizer, TransposeMotion, TripCountAnnotator, UnreadState},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"while-loop-expensive-invariant-code-motion": NewExpensiveInvariantCodeMotion,
		"while-loop-invariant-code-motion":           NewInvariantCodeMotion,
		"while-loop-fusible-sinking":                 NewFusibleSinking,
		"while-loop-unroller":                        NewUnroller,
		"while-loop-concat-code-motion":              NewConcatMotion,
		"while-loop-constant-sinking":                NewConstantSinking,
		"while-loop-simplifier":                      NewSimplifier,
	},
	Aliases: map[string]string{"simplify-while-loops": "while-loop-simplifier", "hlo-module-dce": "module-dce"},
}
