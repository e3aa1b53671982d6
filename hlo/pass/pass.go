// Package pass says what a transformation of modules is, and how several make a pipeline.
//
//	type        what it is
//	Pass        a named function from module to module
//	Pipeline    a named sequence of passes and pipelines, perhaps repeated until nothing changes
//	Runner      runs a pipeline: checks the module after each change, tells instruments what happens
//	Context     what a pass may use: cancellation, fuel, statistics, remarks
//
// A pass has changed something exactly when it returns another module than it was given, which is a comparison of pointers
// (hlo.Module values are ==). Pipelines are written as text, `fix(algsimp,dce),cse`, and print back to it.
//
// What a pass is lives here, the passes live below package passes, and their catalogue is package passes itself. This package is given
// a check and a dump as functions: it imports neither the verifier nor the printer.
package pass

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Pass is a transformation. It is a value; parameters go into a constructor.
type Pass struct {
	Name string // kebab-case; XLA's name where XLA has the pass
	Doc  string // the first line is a title
	// Options are the pass's parameters as written, for printing the pipeline back.
	Options Options
	// Rules document the rewrites of a pass that is a table of them.
	Rules []Rule
	// Run returns the new version of the module, and the module it was given when there is nothing to do.
	Run func(ctx *Context, m hlo.Module) (hlo.Module, error)
}

// Rule is the documentation of one named rewrite. Fuel is spent by its id.
type Rule struct{ ID, Doc string }

// Context is what a pass may use while it runs. It belongs to one run of one pass.
type Context struct {
	context.Context
	pass   string
	runner *Runner
	stats  map[string]int64
}

// NewContext makes a context for running a pass by hand.
func NewContext(ctx context.Context) *Context { return &Context{Context: ctx, runner: &Runner{}} }

// Spend takes fuel for one rewrite by the named rule and reports whether there was any: a pass asks before it rewrites. Without limits
// there always is.
func (c *Context) Spend(rule string) bool { return c.runner.spend(c.pass, rule) }

// Count adds to a statistic of the pass.
func (c *Context) Count(name string, n int64) {
	if c.stats == nil {
		c.stats = make(map[string]int64)
	}
	c.stats[name] += n
}

// Remark reports what the pass did, or could not do, to an instruction.
func (c *Context) Remark(in hlo.Instruction, format string, args ...any) {
	for _, i := range c.runner.Instruments {
		if i.Remark != nil {
			i.Remark(c.pass, in, fmt.Sprintf(format, args...))
		}
	}
}

// Error says which pass of a pipeline failed.
type Error struct {
	Pass   string // path from the outermost pipeline: cpu/simplify/dce
	Failed *Pass
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
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }
