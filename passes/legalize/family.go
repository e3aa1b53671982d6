package legalize

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{AsyncToSync, ControlDepRewriter, Descheduler, OldCallRewriter, OutlineDynamic, PlacementRemover, ShardingRemover},
	Made:  map[string]func(pass.Options) (*pass.Pass, error){"control-dep-remover": NewControlDepRemover, "despecializer": NewDespecializer, "legalize-scheduling-annotations": NewSchedulingAnnotations},
}
