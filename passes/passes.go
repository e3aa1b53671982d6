// Package passes is the catalogue: every pass, the standard pipelines, and the order constraints between them.
//
// A new pass is a file in a family package (passes/simplify, passes/control, ...) and one line in the Family of that package.
package passes

import (
	"sync"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/algsimp"
	"github.com/gohalo/halo/passes/async"
	"github.com/gohalo/halo/passes/collectives"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/copies"
	"github.com/gohalo/halo/passes/dots"
	"github.com/gohalo/halo/passes/dynamic"
	"github.com/gohalo/halo/passes/expand"
	"github.com/gohalo/halo/passes/fuse"
	"github.com/gohalo/halo/passes/host"
	"github.com/gohalo/halo/passes/layout"
	"github.com/gohalo/halo/passes/legalize"
	"github.com/gohalo/halo/passes/linalg"
	"github.com/gohalo/halo/passes/loops"
	"github.com/gohalo/halo/passes/memory"
	"github.com/gohalo/halo/passes/motion"
	"github.com/gohalo/halo/passes/schedule"
	"github.com/gohalo/halo/passes/simplify"
	"github.com/gohalo/halo/passes/spmd"
	"github.com/gohalo/halo/passes/types"
)

// catalogued is every family. A family names its own passes, so that a new pass is a change of its package alone.
var catalogued = sync.OnceValue(func() pass.Family {
	return pass.Join(
		algsimp.Family,
		async.Family,
		collectives.Family,
		control.Family,
		copies.Family,
		dots.Family,
		dynamic.Family,
		expand.Family,
		fuse.Family,
		layout.Family,
		host.Family,
		legalize.Family,
		linalg.Family,
		loops.Family,
		memory.Family,
		motion.Family,
		schedule.Family,
		simplify.Family,
		types.Family,
		spmd.Family,
	)
})

// All lists every pass, by name; those with options as they are without.
func All() []*pass.Pass { return standard.All() }

// Pipelines are the named pipelines: what a user may write for a pass. O0 to O3 are the levels of the command line; cpu is what the
// runtime needs.
var pipelines = []Pipeline{
	{"simplify", "housekeeping until nothing changes",
		"fix(algsimp{executing-on-cpu rules=[-H04,-E25,-F30]},tuple-simplifier,optimization-barrier-simplifier,zero-sized-hlo-elimination,while-loop-constant-sinking{sink-only-scalar-constants},while-loop-simplifier{merge-counters=false},conditional-simplifier,map-inliner,sort-simplifier,constant-folding,cse,dce)"},
	{"cpu", "the passes that lowering needs, and simplification", "strip-memory-placement-annotations,sharding-remover,control-dep-rewriter,control-dep-remover{only-copies=true},async-to-sync,call-inliner{share=true},fusion-inliner,layout-remover,simplify,dynamic-padder{checked=true},old-call-rewriter,unread-vectors,while-loop-unroller{elementwise=true max-trip=8 max-growth=600},gather-expander,scatter-expander,complex-function-expander,transpose-folding{runs=true},slice-hoister,gather-hoister,stacked-reduce-expander,simplify,while-loop-transpose-code-motion,while-loop-invariant-code-motion,simplify,stack-sinker,simplify,transpose-folding{runs=true},while-loop-unread-state,outline-dynamic,partial-sort-fusion,joined-slice-fusion,row-fusion,fusion,dce"},
	{"cpu-async", "cpu, with expensive work begun asynchronously where other work can be done beside it",
		"cpu,while-loop-trip-count-annotator,async-wrapper"},
	{"spmd", "turn a program with shardings for many devices, as JAX exports it, into the program of one device",
		"sdy-import,flatten-call-graph,hlo-constant-splitter{split-expressions=true},sharding-propagation,spmd-partitioning,cse,dce{remove-collectives}"},
	{"spmd-partitioner", "another name of spmd-partitioning", "spmd-partitioning"},
	{"debug", "the passes that lowering needs, and dead-code elimination: every other value keeps its instruction, and its rounding",
		"async-to-sync,old-call-rewriter,fusion-inliner,outline-dynamic,dce"},
	{"O0", "only the passes that lowering needs", "async-to-sync,old-call-rewriter,fusion-inliner,outline-dynamic"},
	{"O1", "each of the cheap passes once: time in proportion to the module", "algsimp{executing-on-cpu rules=[-H04,-E25,-F30]},tuple-simplifier,cse,dce"},
	{"O2", "all simplifications, until nothing changes",
		"call-inliner,computation-deduplicator{applied=true},fix(simplify,constant-folding{level=aggressive max-elements=256 max-ops=65536},reshape-mover,transpose-folding{any-dimensions=true}),while-loop-invariant-code-motion,fix(simplify,reshape-mover,transpose-folding{any-dimensions=true}),computation-deduplicator{applied=true}"},
	{"O3", "O2, barriers removed, loops counted, elementwise code fused",
		"O2,optimization-barrier-expander,simplify,while-loop-trip-count-annotator,fusion,dce"},
}

// Orders lists the constraints that every standard pipeline keeps.
var Orders = []pass.Order{
	{Before: "call-inliner", After: "cse", Because: "equal expressions of caller and callee are seen only in one computation"},
	{Before: "call-inliner", After: "dce", Because: "a callee without callers goes with its last call"},
	{Before: "cse", After: "dce", Because: "what was merged leaves dead operands behind"},
	{Before: "fusion-inliner", After: "fusion", Because: "loops are chosen for this machine, not for the one of the dump"},
	{Before: "fusion", After: "async-wrapper", Because: "what is wrapped is not fused any more"},
	{Before: "transpose-folding", After: "while-loop-invariant-code-motion", Because: "a transpose that a dot can take needs no memory, but outside of the loop the dot does not see it"},
	{Before: "async-wrapper", After: "latency-hiding-scheduler", Because: "the scheduler places what has been begun"},
	{Before: "latency-hiding-scheduler", After: "sync-useless-pairs", Because: "the schedule tells which chains hide nothing"},
	{Before: "async-to-sync", After: "fusion-inliner", Because: "wrapped fusions become plain ones first"},
}

// standard is the catalogue of this package.
var standard = &Catalogue{catalogued, pipelines, Orders}

// Parse reads pipeline text with the passes and pipelines of the catalogue.
func Parse(text string) (*pass.Pipeline, error) { return standard.Parse(text) }

// Pipelines calls yield with the name of each standard pipeline and what it is.
func Pipelines(yield func(name string, p Standard) bool) { standard.Pipelines(yield) }
