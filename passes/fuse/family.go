package fuse

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{ConstantSinking, CPUFusion, FirstFusion, JoinedSliceFusion, RowFusion, SiblingFusion},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"fusion":             NewFusion,
		"instruction-fusion": NewInstructionFusion,
	},
	Aliases: map[string]string{"cpu-fusion": "cpu-instruction-fusion"},
}
