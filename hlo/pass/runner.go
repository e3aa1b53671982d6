package pass

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/stack"
)

// Instrument watches a pipeline run. Any function may be nil. They are called by one goroutine, in an order that does not depend on timing.
type Instrument struct {
	// Skip is asked before a pass runs.
	Skip   func(path string) bool
	Before func(path string, m hlo.Module)
	// After sees every pass that returned a module.
	After  func(r Report)
	Remark func(Remark)
	// Rewrite hears of every rewrite that fuel was spent on.
	Rewrite func(pass, rule string)
	// Unstable hears of a fixpoint that still changed at its limit, or came back to a module it had before.
	Unstable func(path string, rounds int, last []Report)
}

// Report is what one pass did.
type Report struct {
	Path          string // from the outermost pipeline: cpu/simplify#2/dce@3
	Pass          *Pass
	Before, After hlo.Module
	Statistics    map[string]int64
	Began         time.Time
	Took          time.Duration
	// Copied counts the parts of the IR that were copied because the version before has them too.
	Copied hlo.CopyStats
	FP     FP // the policy of the run
	// Fresh says that the pass had to run: otherwise nothing had changed since its last run, or the module has nothing that it is about.
	Fresh bool
	// Allocated is what the process allocated meanwhile, in bytes, if the runner counts that.
	Allocated int64
	// Computations is the number of computations that the pass was run on, when it has the local form.
	Computations int
}

// Changed reports whether the pass changed anything.
func (r *Report) Changed() bool { return r.Before != r.After }

// Class is the worst class of the rewrites that the pass has made.
func (r *Report) Class() FP {
	for f := FastMath; f > Exact; f-- {
		if r.Statistics[firedPrefix+f.String()] > 0 {
			return f
		}
	}
	return Exact
}

// firedPrefix begins the statistics that count rewrites by class.
const firedPrefix = "fp: "

// Budget bounds what one pass may take. Zero fields do not. A pass that reaches a bound stops rewriting, and what it has done is kept.
type Budget struct {
	Time         time.Duration // makes results depend on the machine
	Instructions int           // that rewrites which copy code may add
	Bytes        int64         // of constants that folding may add
}

// Runner runs pipelines. The zero Runner checks and watches nothing. It must not be used by several goroutines at once.
type Runner struct {
	// Check is called on the first module and after every pass that changed it; an error stops the run.
	Check func(hlo.Module) error
	// CheckChange is called after every pass that changed the module, when Check had no objection; an error stops the run.
	CheckChange func(ctx context.Context, before, after hlo.Module) error
	Instruments []Instrument
	// Fuel bounds the number of rewrites, by "pass" or "pass.rule"; names that are missing are not bounded. A rule with no fuel is off.
	Fuel map[string]int
	// FP is the worst class of rewrites that passes may use which have no policy of their own.
	FP FP
	// Budget is for each pass.
	Budget Budget
	// Thorough runs every pass on everything, whether or not anything changed since its last run.
	Thorough bool
	// Units are the modules that passes take out of the one they are given, and put into it; nil: there are none.
	Units Units
	// Handed is how the last run has handed on what its passes made.
	Handed Handed
	// CountMemory has reports tell how much memory each pass allocated.
	CountMemory bool

	threads []string // of the computations that passes are held to, nil if to none
	facts   facts
	now     current
	stamps  stamp
	opcodes opcodes
	records []record
	given   Context // of the pass that runs in a chain
	dirt    comparison
	left    Budget     // of the pass that runs
	mu      sync.Mutex // of left and Fuel
}

// Run runs p on m. The error, if any, is an *Error naming the pass; the module returned with it is the last good one.
func (r *Runner) Run(ctx context.Context, p *Pipeline, m hlo.Module) (hlo.Module, error) {
	if r.Check != nil {
		if err := r.Check(m); err != nil {
			return m, err
		}
	}
	r.records = nil
	r.facts = facts{}
	r.opcodes, r.dirt = opcodes{}, comparison{}
	r.Handed = Handed{}
	r.now = current{m: m, at: r.newStamp()}
	err := r.pipeline(ctx, placesOf(p))
	return r.publish(), err
}

func (r *Runner) pipeline(ctx context.Context, at *place) error {
	p := at.group
	if p.If != "" {
		runs := false
		r.look(func(m hlo.Module) { runs = holds(p.If, m) })
		if !runs {
			return nil
		}
	}
	fp, threads := r.FP, r.threads
	defer func() { r.FP, r.threads = fp, threads }()
	if p.FP != nil {
		r.FP = *p.FP
	}
	if p.Threads != nil {
		r.threads = p.Threads
	}
	if p.Fix {
		return r.fixpoint(ctx, at)
	}
	return r.steps(ctx, at)
}

func (r *Runner) fixpoint(ctx context.Context, at *place) error {
	p := at.group
	limit := p.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	var round []Report
	if watching := len(r.Instruments); r.looks() {
		r.Instruments = append(r.Instruments[:watching:watching], Instrument{After: func(rep Report) {
			if rep.Changed() {
				round = append(round, rep)
			}
		}})
		defer func() { r.Instruments = r.Instruments[:watching] }()
	}
	seen := map[hlo.Hash]bool{}
	for n := 1; ; n++ {
		round = round[:0]
		before := r.now.at
		if err := r.steps(ctx, at); err != nil || r.now.at == before {
			return err
		}
		// A module that comes back once comes back forever.
		var h hlo.Hash
		late := false
		r.look(func(m hlo.Module) {
			if late = n == 1 && limit > 1 && m.NumInstructions() >= hashedLate; !late {
				h = m.Hash()
			}
		})
		if late {
			continue
		}
		if n == limit || (n > 3 && seen[h]) {
			for _, i := range r.Instruments {
				if i.Unstable != nil {
					i.Unstable(at.position(), n, round)
				}
			}
			return nil
		}
		seen[h] = true
	}
}

// hashedLate is the size from which on a module is not hashed after the first round of a fixpoint, since that takes as long as a pass, and most are done with the
// next round. If what the first round made comes back, it is noticed a round later.
const hashedLate = 8

func (r *Runner) steps(ctx context.Context, at *place) error {
	for i := range at.steps {
		s := &at.steps[i]
		var err error
		if s.group != nil {
			err = r.pipeline(ctx, s)
		} else {
			err = r.pass(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) pass(ctx context.Context, at *place) error {
	p, e := at.pass, at.execution()
	for _, i := range r.Instruments {
		if i.Skip != nil && i.Skip(e.path()) {
			return nil
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !r.looks() {
		if !r.concerns(p) {
			return nil
		}
		if !r.record(at).alone {
			return r.handOn(ctx, e)
		}
	}
	return r.passOn(ctx, e, r.publish())
}

// passOn runs a pass on a version, and makes another of it.
func (r *Runner) passOn(ctx context.Context, e execution, m hlo.Module) error {
	p, path := e.at.pass, e.path()
	for _, i := range r.Instruments {
		if i.Before != nil {
			i.Before(path, m)
		}
	}
	c := &Context{Context: ctx, pass: p.Name, runner: r, began: time.Now()}
	rep := Report{Path: path, Pass: p, Before: m, Began: c.began, FP: r.FP}
	r.left = r.Budget
	allocated := r.allocated()
	next, err := r.call(c, e.at, m, &rep)
	c.closeSession()
	rep.Took = time.Since(c.began)
	rep.Allocated = r.allocated() - allocated
	if err != nil {
		return &Error{Pass: path, Failed: p, FP: r.FP, Before: m, Err: err}
	}
	before, after := r.now.at, r.now.at
	if next != m {
		after = r.newStamp()
	}
	r.record(e.at).last = lastRun{before: before, after: after, given: m}
	r.Handed.Copied = sum(r.Handed.Copied, c.copied)
	rep.After, rep.Statistics, rep.Copied = next, c.stats, c.copied
	for _, i := range r.Instruments {
		if i.After != nil {
			i.After(rep)
		}
	}
	if next == m {
		return nil
	}
	r.facts.forget(next)
	if r.Check != nil {
		err = r.Check(next)
	}
	if err == nil && r.CheckChange != nil {
		err = r.CheckChange(ctx, m, next)
	}
	if err != nil {
		return &Error{Pass: path, Failed: p, FP: r.FP, Before: m, After: next, Err: err}
	}
	r.now = current{m: next, at: after}
	return nil
}

// panicked is the error of a pass that has panicked. A module that has grown beyond bounds is not the pass's fault.
func panicked(v any) error {
	if g, ok := v.(*hlo.GrowthError); ok {
		return g
	}
	return stack.Caught(v)
}

// call runs the pass on what has changed since its last run, and turns a panic into an error.
func (r *Runner) call(c *Context, at *place, m hlo.Module, rep *Report) (next hlo.Module, err error) {
	p := at.pass
	defer func() {
		if v := recover(); v != nil {
			next, err = m, panicked(v)
		}
	}()
	last := r.lastOf(at)
	if last.before == r.now.at && last.after == r.now.at {
		return m, nil
	}
	if !r.concerns(p) {
		return m, nil
	}
	rep.Fresh = true
	if p.Local != nil {
		only := r.onThreads(m, r.since(last, m))
		rep.Computations = m.NumComputations()
		if only != nil {
			rep.Computations = only.Len()
		}
		return p.runLocal(c, m, only)
	}
	next, err = p.Apply(c, m)
	if err == nil && next.IsZero() {
		return m, fmt.Errorf("returned no module")
	}
	return next, err
}

// lastOf is the last run of the pass at a place, if there is one, and what has happened since says where it may find something new.
func (r *Runner) lastOf(at *place) lastRun {
	if r.Thorough || r.limits(at.pass.Name) {
		return lastRun{}
	}
	return r.record(at).last
}

// limits reports whether the rewrites of a pass are counted: then they are made one after the other, and all of them.
func (r *Runner) limits(pass string) bool {
	if r.Budget != (Budget{}) {
		return true
	}
	for key, left := range r.Fuel {
		if key == pass || len(key) > len(pass) && key[:len(pass)] == pass && key[len(pass)] == '.' && left > 0 {
			return true
		}
	}
	return false
}

func (r *Runner) listens() bool {
	for _, i := range r.Instruments {
		if i.Remark != nil || i.Rewrite != nil {
			return true
		}
	}
	return false
}

func (r *Runner) withinTime(c *Context) bool {
	if r.Budget.Time > 0 && time.Since(c.began) > r.Budget.Time {
		c.stopped = true
		c.Count("out-of-time", 1)
	}
	return !c.stopped
}

// afford takes a cost from the budget.
func (r *Runner) afford(cost Cost) bool {
	if cost == (Cost{}) || r.Budget == (Budget{}) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Budget.Instructions > 0 && cost.Instructions > r.left.Instructions || r.Budget.Bytes > 0 && cost.Bytes > r.left.Bytes {
		return false
	}
	r.left.Instructions -= cost.Instructions
	r.left.Bytes -= cost.Bytes
	return true
}

func (r *Runner) spend(pass, rule string) bool {
	if len(r.Fuel) == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := [...]string{pass, pass + "." + rule}
	for _, key := range keys {
		if left, limited := r.Fuel[key]; limited && left <= 0 {
			return false
		}
	}
	for _, key := range keys {
		if left, limited := r.Fuel[key]; limited {
			r.Fuel[key] = left - 1
		}
	}
	return true
}
