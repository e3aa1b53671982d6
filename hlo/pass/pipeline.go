package pass

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gohalo/halo/hlo"
)

// Pipeline is a sequence of passes and pipelines.
type Pipeline struct {
	Name  string // "" for a group in parentheses
	Steps []Step
	// Fix repeats the steps until the module stops changing, at most Limit times (0: DefaultLimit).
	Fix   bool
	Limit int
}

// DefaultLimit is XLA's limit of repetitions.
const DefaultLimit = 25

// Step is a pass or a pipeline.
type Step struct {
	Pass     *Pass
	Pipeline *Pipeline
}

// Of makes a pipeline of passes.
func Of(name string, passes ...*Pass) *Pipeline {
	p := &Pipeline{Name: name}
	for _, s := range passes {
		p.Steps = append(p.Steps, Step{Pass: s})
	}
	return p
}

// Fixpoint makes a pipeline that repeats the passes until nothing changes.
func Fixpoint(name string, passes ...*Pass) *Pipeline {
	p := Of(name, passes...)
	p.Fix = true
	return p
}

// Then appends a pipeline to p and returns p.
func (p *Pipeline) Then(q *Pipeline) *Pipeline {
	p.Steps = append(p.Steps, Step{Pipeline: q})
	return p
}

// Instrument watches a pipeline run. Any function may be nil.
type Instrument struct {
	// Skip is asked before a pass runs.
	Skip   func(path string) bool
	Before func(path string, m hlo.Module)
	// After sees every pass; before == after when it changed nothing.
	After  func(path string, before, after hlo.Module, stats map[string]int64, took time.Duration)
	Remark func(pass string, in hlo.Instruction, text string)
	// Rewrite hears of every rewrite that fuel was spent on.
	Rewrite func(pass, rule string)
	// Unstable hears of a fixpoint that still changed at its limit, or came back to a module it had before.
	Unstable func(path string, rounds int)
}

// Runner runs pipelines. The zero Runner checks and watches nothing. It must not be used by several goroutines at once.
type Runner struct {
	// Check is called on the first module and after every pass that changed it; an error stops the run.
	Check func(hlo.Module) error
	// CheckChange is called after every pass that changed the module, when Check had no objection; an error stops the run.
	CheckChange func(ctx context.Context, before, after hlo.Module) error
	Instruments []Instrument
	// Fuel bounds the number of rewrites, by "pass" or "pass.rule"; names that are missing are not bounded.
	Fuel map[string]int
}

// Run runs p on m. The error, if any, is an *Error naming the pass; the module returned with it is the last good one.
func (r *Runner) Run(ctx context.Context, p *Pipeline, m hlo.Module) (hlo.Module, error) {
	if r.Check != nil {
		if err := r.Check(m); err != nil {
			return m, err
		}
	}
	return r.pipeline(ctx, "", p, m)
}

func (r *Runner) pipeline(ctx context.Context, path string, p *Pipeline, m hlo.Module) (hlo.Module, error) {
	if p.Name != "" {
		path = join(path, p.Name)
	}
	if !p.Fix {
		return r.steps(ctx, path, p, m)
	}
	limit := p.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	seen := map[hlo.Hash]bool{}
	for round := 1; ; round++ {
		next, err := r.steps(ctx, path, p, m)
		if err != nil || next == m {
			return next, err
		}
		m = next
		// A module that comes back will come back for ever.
		if h := m.Hash(); round == limit || (round > 3 && seen[h]) {
			for _, i := range r.Instruments {
				if i.Unstable != nil {
					i.Unstable(path, round)
				}
			}
			return m, nil
		} else {
			seen[h] = true
		}
	}
}

func (r *Runner) steps(ctx context.Context, path string, p *Pipeline, m hlo.Module) (hlo.Module, error) {
	for _, s := range p.Steps {
		var err error
		if s.Pipeline != nil {
			m, err = r.pipeline(ctx, path, s.Pipeline, m)
		} else {
			m, err = r.pass(ctx, join(path, s.Pass.Name), s.Pass, m)
		}
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

func (r *Runner) pass(ctx context.Context, path string, p *Pass, m hlo.Module) (hlo.Module, error) {
	for _, i := range r.Instruments {
		if i.Skip != nil && i.Skip(path) {
			return m, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return m, err
	}
	for _, i := range r.Instruments {
		if i.Before != nil {
			i.Before(path, m)
		}
	}
	c := &Context{Context: ctx, pass: p.Name, runner: r}
	began := time.Now()
	next, err := call(c, p, m)
	took := time.Since(began)
	if err != nil {
		return m, &Error{Pass: path, Failed: p, Before: m, Err: err}
	}
	for _, i := range r.Instruments {
		if i.After != nil {
			i.After(path, m, next, c.stats, took)
		}
	}
	if next == m {
		return m, nil
	}
	if r.Check != nil {
		err = r.Check(next)
	}
	if err == nil && r.CheckChange != nil {
		err = r.CheckChange(ctx, m, next)
	}
	if err != nil {
		return m, &Error{Pass: path, Failed: p, Before: m, After: next, Err: err}
	}
	return next, nil
}

// call runs the pass and turns a panic into an error.
func call(c *Context, p *Pass, m hlo.Module) (next hlo.Module, err error) {
	defer func() {
		if v := recover(); v != nil {
			next, err = m, &Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	next, err = p.Run(c, m)
	if err == nil && next.IsZero() {
		return m, fmt.Errorf("returned no module")
	}
	return next, err
}

func (r *Runner) spend(pass, rule string) bool {
	for _, key := range [...]string{pass, pass + "." + rule} {
		if left, limited := r.Fuel[key]; limited {
			if left <= 0 {
				return false
			}
			r.Fuel[key] = left - 1
		}
	}
	for _, i := range r.Instruments {
		if i.Rewrite != nil {
			i.Rewrite(pass, rule)
		}
	}
	return true
}
