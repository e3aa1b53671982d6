// Package motion holds the passes that bring instructions of a computation to a better place or form without changing what it computes:
// slices behind what they feed, constants beside what reads them, roots to the end.
package motion

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{
		BroadcastCanonicalizer,
		ConstantDeferring,
		DeadUpdateElimination,
		GatherHoister,
		RootInstructionSinker,
		SliceHoister,
		SliceSinker,
		StackSinker,
	},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"conditional-code-motion": NewConditionalCodeMotion,
		"hlo-constant-splitter":   NewConstantSplitter,
		"instruction-hoister":     NewInstructionHoister,
	},
	Aliases: map[string]string{
		"constant-splitter":                     "hlo-constant-splitter",
		"dead-dynamic-update-slice-elimination": "dead-dus-elimination",
	},
}
