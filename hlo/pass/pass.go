// Package pass says what a transformation of modules is, and how several make a pipeline.
//
//	type        what it is                                                                      file
//	Pass        a named function from module to module, or over the computations of one         pass.go, incremental.go
//	Context     what a pass may use: cancellation, fuel, budgets, facts, statistics, remarks    context.go, facts.go, remark.go
//	Pipeline    a named sequence of passes and pipelines, perhaps repeated                      pipeline.go, text.go, options.go
//	Phase       a property of modules that passes make, and undo                                phase.go
//	Runner      runs a pipeline: checks the module after each change, calls instruments         runner.go, measure.go
//	Matches     selects passes by where they stand: O2/simplify#2/dce@3                         path.go
//	Rewriter    a pass that is a table of rules                                                 rewrite*.go, expr.go, fp.go
//	History     what became of each instruction, and by which rewrite                           history.go, outcome.go
//
// A pass has changed something exactly when it returns another module than it was given, which is a comparison of pointers
// (hlo.Module values are ==). Pipelines are written as text, `fix(algsimp,dce),cse`, and print back to it.
//
// The passes are packages below passes, and their catalogue is package passes itself. This package is given
// a check and a dump as functions: it imports neither the verifier nor the printer.
package pass

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/stack"
)

// Pass is a transformation. It is a value; parameters go into a constructor. What it makes must depend on the module and on its options
// alone: the same input gives the same output, and a pass that changed nothing is not run again before something has changed.
type Pass struct {
	Name string // kebab-case; XLA's name where XLA has the pass
	Doc  string // the first line is a title
	// Options are the pass's parameters as written, for printing the pipeline back.
	Options Options
	// Rewrites documents those of a pass that is a table of them: see [Pass.Rules].
	Rewrites func() []Rule
	// Params document the options that it reads.
	Params []Param
	// About, if not empty, lists the opcodes that the pass is about: it leaves a module alone that has no instruction of one of them, and
	// one of the local form each computation.
	About []hlo.Opcode
	// Makes lists what a module is after the pass, and Breaks what it no longer is.
	Makes, Breaks []Phase

	// A pass has one of three forms.

	// Run returns the new version of the module, and the module it was given when there is nothing to do.
	Run func(ctx *Context, m hlo.Module) (hlo.Module, error)
	// Local edits one computation, c, and may add others; m is the module as it was before, or after some other computations were edited. It may look at what c calls and at who calls c, and
	// at facts about these, but at nothing else, since it is not run again on computations for which all this stayed as it was. It must
	// be safe to run on several computations at once.
	Local func(ctx *Context, m hlo.Module, c hlo.CompEdit) error
	// In a chain of passes, m is a view of what passes before have made and nobody has looked at, and the session is that of the chain: Run opens its sessions
	// with Context.Edit, on what it was given or what Freeze gave it, and keeps what a session has done; a pass that does not is run on a version. What
	// was read stays as it was until the first Freeze, or the end of the pass.

	// Lent says that Run or Local reads computations anew after each edit, so that nothing need be kept of what it writes over: m and what it gives out die with the next edit
	// then. Local takes c from its handle; of m it may read what it has not edited.
	Lent bool
	// Own edits the module that passes hand on, and gives it back. What passes before it have copied is not copied again.
	Own func(ctx *Context, o hlo.Owned[hlo.Module]) (hlo.Owned[hlo.Module], error)
}

// Rule is the documentation of one named rewrite. Fuel is spent by its id. Text is the rule itself, if it is one of package rules.
type Rule struct{ ID, Doc, Text string }

// Rules lists the rewrites of a pass that is a table of them.
func (p *Pass) Rules() []Rule {
	if p.Rewrites == nil {
		return nil
	}
	return p.Rewrites()
}

// Param is the documentation of an option: `{limit=4}`.
type Param struct{ Name, Doc string }

// Apply runs the pass on m, whichever form it has.
func (p *Pass) Apply(ctx *Context, m hlo.Module) (hlo.Module, error) {
	switch {
	case p.Run != nil:
		return p.Run(ctx, m)
	case p.Own != nil:
		return p.runOwn(ctx, m)
	}
	return p.runLocal(ctx, m, nil)
}

// runOwn runs a pass of the form Own on a module that others may hold.
func (p *Pass) runOwn(ctx *Context, m hlo.Module) (hlo.Module, error) {
	o, err := p.Own(ctx, hlo.Own(m))
	if err != nil {
		return m, err
	}
	ctx.copied = sum(ctx.copied, o.Stats())
	return o.Share(), nil
}

// Error says which pass of a pipeline failed.
type Error struct {
	Pass   string // path from the outermost pipeline: cpu/simplify#2/dce
	Failed *Pass
	FP     FP // the policy under which it ran
	// Before is the module that the pass was given.
	Before hlo.Module
	// After is the module it made, when the check refused it; else the zero Module.
	After hlo.Module
	Err   error
}

func (e *Error) Error() string {
	if !e.After.IsZero() {
		return fmt.Sprintf("after pass %s: %v", e.Pass, e.Err)
	}
	return fmt.Sprintf("pass %s: %v", e.Pass, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Panic is a panic of a pass, caught at its boundary.
type Panic = stack.Panic
