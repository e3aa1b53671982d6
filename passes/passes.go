// Package passes is the catalogue: every pass, the standard pipelines, and the order constraints between them.
//
// A new pass is a file in a family package (passes/simplify, passes/control, ...) and one line in the table here.
package passes

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/algsimp"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/fuse"
	"github.com/gohalo/halo/passes/legalize"
	"github.com/gohalo/halo/passes/loops"
	"github.com/gohalo/halo/passes/simplify"
)

// All lists every pass, by name.
func All() []*pass.Pass {
	algebra, err := algsimp.New(nil)
	if err != nil {
		panic(err) // no options, no mistakes in them
	}
	all := []*pass.Pass{
		algebra,
		control.CallInliner,
		control.FlattenCallGraph,
		control.FusionInliner,
		legalize.AsyncToSync,
		legalize.OutlineDynamic,
		loops.InvariantCodeMotion,
		fuse.LoopFusion,
		simplify.ConstantFolding,
		simplify.CSE,
		simplify.DCE,
		simplify.TupleSimplifier,
	}
	slices.SortFunc(all, func(a, b *pass.Pass) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}

// Pipelines are the named pipelines: what a user may write for a pass. O0 to O3 are the levels of the command line; cpu is what the
// runtime needs.
var pipelines = []struct{ name, doc, text string }{
	{"simplify", "housekeeping until nothing changes", "fix(algsimp,tuple-simplifier,constant-folding,cse,dce)"},
	{"cpu", "what lowering needs, and simplification", "async-to-sync,call-inliner,fusion-inliner,outline-dynamic,simplify,while-loop-invariant-code-motion,simplify,fusion,dce"},
	{"O0", "only what lowering needs", "async-to-sync,fusion-inliner,outline-dynamic"},
	{"O1", "cheap simplification", "tuple-simplifier,cse,dce"},
	{"O2", "everything that pays", "call-inliner,simplify,while-loop-invariant-code-motion,simplify"},
	{"O3", "everything", "call-inliner,simplify,while-loop-invariant-code-motion,simplify"},
}

// Orders lists the constraints that every standard pipeline keeps.
var Orders = []pass.Order{
	{Before: "call-inliner", After: "cse", Because: "equal expressions of caller and callee are seen only in one computation"},
	{Before: "call-inliner", After: "dce", Because: "a callee without callers goes with its last call"},
	{Before: "cse", After: "dce", Because: "what was merged leaves dead operands behind"},
	{Before: "fusion-inliner", After: "fusion", Because: "loops are chosen for this machine, not for the one of the dump"},
	{Before: "async-to-sync", After: "fusion-inliner", Because: "wrapped fusions become plain ones first"},
}

// Parse reads pipeline text with the passes and pipelines of the catalogue.
func Parse(text string) (*pass.Pipeline, error) { return pass.Parse(text, catalogue{}) }

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
	if name == "algsimp" {
		return algsimp.New(o)
	}
	for _, p := range All() {
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
	names := []string{"fix"}
	for _, p := range All() {
		names = append(names, p.Name)
	}
	for _, p := range pipelines {
		names = append(names, p.name)
	}
	return names
}
