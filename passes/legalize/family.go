package legalize

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{AsyncToSync, ControlDepRewriter, OutlineDynamic, PlacementRemover, ShardingRemover},
	Made:  map[string]func(pass.Options) (*pass.Pass, error){"legalize-scheduling-annotations": NewSchedulingAnnotations},
}
