package spmd

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{Import},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"sharding-propagation": NewPropagation,
		"spmd-partitioning":    NewPartitioner,
	},
}
