package simplify

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{ConvertMover, GatherSimplifier, SortSimplifier, ZeroSizedElimination},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"constant-folding":        NewConstantFolding,
		"cse":                     NewCSE,
		"dce":                     NewDCE,
		"recognize-reduce-window": NewRecognizeReduceWindow,
		"reshape-mover":           NewReshapeMover,
		"simplify-fp-conversions": NewFPConversions,
		"tuple-simplifier":        NewTupleSimplifier,
	},
	Aliases: map[string]string{"simplify-sorts": "sort-simplifier"},
}
