package pass

import (
	"context"
	"time"

	"github.com/gohalo/halo/hlo"
)

// Context is what a pass may use while it runs. It belongs to one run of one pass, or to the part of the run that works on one computation.
type Context struct {
	context.Context
	pass    string
	runner  *Runner
	began   time.Time
	stats   map[string]int64
	copied  hlo.CopyStats
	session *hlo.Editor // whose copies are not counted yet
	lent    *hlo.Editor // of the chain that the pass is a part of; nil if there is none
	held    []event     // of a part of a run: told to the instruments when it is its turn
	isPart  bool
	unseen  bool // nobody will ask for stats
	stopped bool // a budget ran out
}

// event is a rewrite, or a remark.
type event struct {
	rule   string
	remark *Remark
}

// NewContext makes a context for running a pass by hand.
func NewContext(ctx context.Context) *Context {
	return &Context{Context: ctx, runner: &Runner{}, began: time.Now()}
}

// Edit opens a session like [hlo.Module.Edit], whose copies are counted as the pass's. In a chain of passes it is that of the chain, whose nodes are
// written in place, and its Freeze gives a view.
func (c *Context) Edit(m hlo.Module) *hlo.Editor {
	if c.lent != nil {
		if !c.lent.Shows(m) {
			panic("pass: a session on what has been edited since")
		}
		return c.lent
	}
	c.closeSession()
	c.session = m.Edit()
	return c.session
}

// IsLent reports whether the pass is part of a chain: then it edits what it was given.
func (c *Context) IsLent() bool { return c.lent != nil }

// Trial is a context for finding out what the pass would make of the module that it was given, before it is edited: its sessions make versions of their own, its fuel is not spent, and nobody hears of
// it.
func (c *Context) Trial() *Context {
	return &Context{Context: c.Context, pass: c.pass, runner: &Runner{FP: c.FP()}, began: c.began}
}

func (c *Context) closeSession() {
	if c.session != nil {
		c.copied = sum(c.copied, c.session.Stats())
		c.session = nil
	}
}

// Spend takes fuel for one rewrite by the named rule and reports whether there was any: a pass asks before it rewrites. Without limits
// there always is.
func (c *Context) Spend(rule string) bool { return c.SpendOn(rule, Cost{}) }

// Cost is what a rewrite that makes the program larger adds to it.
type Cost struct {
	Instructions int
	Bytes        int64 // of constants
}

// SpendOn is Spend for a rewrite with a cost, which the budget must have left too. When the budget has run out the pass is to go on without
// such rewrites; a remark says so once.
func (c *Context) SpendOn(rule string, cost Cost) bool {
	if c.stopped || !c.runner.withinTime(c) {
		return false
	}
	if !c.runner.afford(cost) {
		if !c.stopped {
			c.Count("over-budget", 1)
		}
		return false
	}
	if !c.runner.spend(c.pass, rule) {
		return false
	}
	c.tell(event{rule: rule})
	return true
}

// FP is the worst class of rewrites that the runner's policy allows.
func (c *Context) FP() FP { return c.runner.FP }

// SpendAs is [Context.Spend] for a rewrite that may change floating-point results as the class says. It reports false where the policy of the
// run does not allow that; reports have the class otherwise, so that checks know what may differ.
func (c *Context) SpendAs(rule string, class FP) bool { return c.SpendUnder(Exact, rule, class) }

// SpendUnder is [Context.SpendAs] where policy holds beside that of the run: what the pass was asked for by an option. A pass that is there to do without an op, so that whoever runs
// it asks for results other than the op's own, says [FastMath].
func (c *Context) SpendUnder(policy FP, rule string, class FP) bool {
	if class > max(policy, c.FP()) || !c.Spend(rule) {
		return false
	}
	if class != Exact {
		c.Count(firedPrefix+class.String(), 1)
	}
	return true
}

// Count adds to a statistic of the pass.
func (c *Context) Count(name string, n int64) {
	if c.unseen {
		return
	}
	if c.stats == nil {
		c.stats = make(map[string]int64)
	}
	c.stats[name] += n
}

func (c *Context) tell(e event) {
	if c.isPart {
		if c.runner.listens() {
			c.held = append(c.held, e)
		}
		return
	}
	for _, i := range c.runner.Instruments {
		switch {
		case e.rule != "" && i.Rewrite != nil:
			i.Rewrite(c.pass, e.rule)
		case e.remark != nil && i.Remark != nil:
			i.Remark(*e.remark)
		}
	}
}

// part is a context for the work on one computation.
func (c *Context) part() Context {
	return Context{Context: c.Context, pass: c.pass, runner: c.runner, began: c.began, isPart: true, unseen: c.unseen}
}

// join takes over what a part counted and held back.
func (c *Context) join(part *Context) {
	for name, n := range part.stats {
		c.Count(name, n)
	}
	for _, e := range part.held {
		c.tell(e)
	}
}

// sum adds two counts of copies.
func sum(a, b hlo.CopyStats) hlo.CopyStats {
	return hlo.CopyStats{Modules: a.Modules + b.Modules, Computations: a.Computations + b.Computations, Inner: a.Inner + b.Inner,
		Leaves: a.Leaves + b.Leaves, Instructions: a.Instructions + b.Instructions, AttrSets: a.AttrSets + b.AttrSets, Bytes: a.Bytes + b.Bytes}
}
