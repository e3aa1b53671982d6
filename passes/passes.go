// Package passes is the catalogue: every pass, the standard pipelines, and the order constraints between them.
//
// A new pass is a file in a family package (passes/simplify, passes/control, ...) and one line in the table here.
package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/algsimp"
	"github.com/gohalo/halo/passes/async"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/fuse"
	"github.com/gohalo/halo/passes/legalize"
	"github.com/gohalo/halo/passes/loops"
	"github.com/gohalo/halo/passes/schedule"
	"github.com/gohalo/halo/passes/simplify"
)

// makers are the passes with options.
var makers = map[string]func(pass.Options) (*pass.Pass, error){
	"algsimp":                  algsimp.New,
	"async-collective-creator": async.NewCollectiveCreator,
	"async-wrapper":            async.NewWrapper,
	"constant-folding":         simplify.NewConstantFolding,
	"dce":                      simplify.NewDCE,
	"latency-hiding-scheduler": schedule.NewLatencyHiding,
	"rules":                    algsimp.NewRules,
	"while-loop-unroller":      loops.NewUnroller,
}

// plain are the passes without.
var plain = []*pass.Pass{
	async.SyncUselessPairs,
	async.Unwrapper,
	control.CallInliner,
	control.ComputationDeduplicator,
	control.ConditionalSimplifier,
	control.FlattenCallGraph,
	control.FusionInliner,
	control.MapInliner,
	control.OptimizationBarrierExpander,
	legalize.AsyncToSync,
	legalize.ControlDepRewriter,
	legalize.OutlineDynamic,
	legalize.PlacementRemover,
	legalize.ShardingRemover,
	loops.ConstantSinking,
	loops.InvariantCodeMotion,
	loops.ModuleDCE,
	loops.Simplifier,
	loops.TripCountAnnotator,
	fuse.LoopFusion,
	simplify.CSE,
	simplify.GatherExpander,
	simplify.ReshapeMover,
	simplify.ScatterExpander,
	simplify.SortSimplifier,
	simplify.TupleSimplifier,
	simplify.ZeroSizedElimination,
}

// All lists every pass, by name; those with options as they are without.
func All() []*pass.Pass {
	all := slices.Clone(plain)
	for name, make := range makers {
		p, err := make(nil)
		if err != nil {
			panic(fmt.Sprintf("passes: %s without options: %v", name, err))
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pass.Pass) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Pipelines are the named pipelines: what a user may write for a pass. O0 to O3 are the levels of the command line; cpu is what the
// runtime needs.
var pipelines = []struct{ name, doc, text string }{
	{"simplify", "housekeeping until nothing changes",
		"fix(algsimp{executing-on-cpu rules=[-H04,-E25]},tuple-simplifier,zero-sized-hlo-elimination,while-loop-constant-sinking,while-loop-simplifier,conditional-simplifier,map-inliner,sort-simplifier,constant-folding,cse,dce)"},
	{"cpu", "what lowering needs, and simplification", "strip-memory-placement-annotations,sharding-remover,control-dep-rewriter,async-to-sync,call-inliner,fusion-inliner,outline-dynamic,simplify,gather-expander,scatter-expander,while-loop-invariant-code-motion,simplify,fusion,dce"},
	{"cpu-async", "cpu, with expensive work begun early and scheduled beside other work",
		"cpu,while-loop-trip-count-annotator,async-wrapper,latency-hiding-scheduler,sync-useless-pairs"},
	{"debug", "what lowering needs, and what nobody reads removed: every other value keeps its instruction, and its rounding",
		"async-to-sync,fusion-inliner,outline-dynamic,dce"},
	{"O0", "only what lowering needs", "async-to-sync,fusion-inliner,outline-dynamic"},
	{"O1", "each of the cheap passes once: time in proportion to the module", "algsimp{executing-on-cpu rules=[-H04,-E25]},tuple-simplifier,cse,dce"},
	{"O2", "everything that makes a module simpler, until nothing changes", "call-inliner,simplify,while-loop-invariant-code-motion,simplify"},
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
	{Before: "async-wrapper", After: "latency-hiding-scheduler", Because: "the scheduler places what has been begun"},
	{Before: "latency-hiding-scheduler", After: "sync-useless-pairs", Because: "the schedule tells which chains hide nothing"},
	{Before: "async-to-sync", After: "fusion-inliner", Because: "wrapped fusions become plain ones first"},
}

// Parse reads pipeline text with the passes and pipelines of the catalogue.
func Parse(text string) (*pass.Pipeline, error) { return pass.Parse(text, catalogue{}) }

// Check refuses a pattern of [pass.Matches] that is malformed or has a name that the catalogue does not know.
func Check(pattern string) error { return pass.CheckPattern(pattern, catalogue{}) }

// Standard is a named pipeline of the catalogue.
type Standard struct{ Doc, Text string }

// Pipelines calls yield with the name of each standard pipeline and what it is.
func Pipelines(yield func(name string, p Standard) bool) {
	for _, p := range pipelines {
		if !yield(p.name, Standard{p.doc, p.text}) {
			return
		}
	}
}

// catalogue answers for the tables above.
type catalogue struct{}

func (catalogue) Pass(name string, o pass.Options) (*pass.Pass, error) {
	if make := makers[name]; make != nil {
		return make(o)
	}
	for _, p := range plain {
		if p.Name == name {
			return p, o.Known()
		}
	}
	return nil, nil
}

func (catalogue) Pipeline(name string) *pass.Pipeline {
	for _, p := range pipelines {
		if p.name == name {
			q, err := Parse(p.text)
			if err != nil {
				panic(fmt.Sprintf("passes: pipeline %s: %v", name, err))
			}
			q.Name = name
			return q
		}
	}
	return nil
}

func (catalogue) Names() []string {
	names := pass.Combinators()
	for _, p := range All() {
		names = append(names, p.Name)
	}
	for _, p := range pipelines {
		names = append(names, p.name)
	}
	return names
}
