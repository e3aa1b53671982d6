package passes

// known are the passes of XLA's hlo-opt, whatever the machine, that halo does not have, each with the one of the catalogue that does most of its work, if any. A name that the
// catalogue has is not here.
var known = map[string]string{
	"dot-expand-dims":          "dot-dimension-normalizer",
	"shardy-xla":               "spmd-partitioning",
	"space-to-batch-converter": "",
	"topk-splitter":            "sort-simplifier",
}

// Known reports whether XLA's hlo-opt has the pass of a name, and the pass of the catalogue that is nearest to it, "" if none is.
func (lookup) Known(name string) (nearest string, ok bool) {
	if nearest, ok = known[name]; !ok {
		nearest, ok = backends[name]
	}
	return nearest, ok
}
