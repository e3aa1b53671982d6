package pass

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// Between two passes a module is a version, which others may hold, or one in the making, which passes own one after the other. Where nobody
// looks, passes make a chain: it copies each node at most once, whichever of them writes to it. The chain ends, and the module becomes a
// version, when somebody looks: an instrument, a check, or the end of the run. A pass need not know: what it reads stays as it was until it is done
// (hlo.Owned.Rewrite).
//
// When a pass of a chain fails, the runner starts over from where the chain began, version by version, so that errors and reproducers hold
// the module that the pass was given.

// current is the module of a run as it is now.
type current struct {
	m     hlo.Module // the version, or the one with which the chain began
	at    stamp
	chain *chain // nil if m is all
}

// Handed says how a run has handed on what its passes made.
type Handed struct {
	// Chains is how many there were.
	Chains int
	// Copied counts the parts of the IR that were copied, in chains and out of them.
	Copied hlo.CopyStats
	// Forked is the part of them that was copied since several large computations were worked on at once.
	Forked hlo.CopyStats
	// Restarts are the paths of passes that failed in a chain, which was run again version by version then. A pass of the list that did not
	// fail again has read what it had edited, though it says that it is lent, or has opened sessions of its own. It gets versions for the rest of the run.
	Restarts []string
}

// stamp numbers what a run makes of its module: another one after each change, and the greater the later.
type stamp uint64

func (r *Runner) newStamp() stamp {
	r.stamps++
	return r.stamps
}

// chain is a module in the making, and how it came about.
type chain struct {
	o      hlo.Owned[hlo.Module]
	base   hlo.Module
	end    hlo.Module                          // the version that it became
	links  []execution                         // of the passes that have run
	edited idmap.Map[hlo.CompID, stamp]        // when each computation was edited last
	called idmap.Map[hlo.CompID, []hlo.CompID] // what the edited ones have called, at any time
	header stamp                               // when the header changed last
}

// looks reports whether somebody wants to see the module after each pass, or counts what passes do.
func (r *Runner) looks() bool {
	return r.Check != nil || r.CheckChange != nil || len(r.Instruments) > 0 || len(r.Fuel) > 0 || r.Budget != (Budget{})
}

// publish ends a chain.
func (r *Runner) publish() hlo.Module {
	if ch := r.now.chain; ch != nil {
		r.Handed.Copied = sum(r.Handed.Copied, ch.o.Stats())
		r.now.m, r.now.chain = ch.o.Share(), nil
		ch.end, ch.links = r.now.m, nil
		r.facts.forget(r.now.m)
	}
	return r.now.m
}

// look shows f the module as it is now, for as long as f runs. It ends no chain.
func (r *Runner) look(f func(hlo.Module)) {
	ch := r.now.chain
	if ch == nil {
		f(r.now.m)
		return
	}
	ch.o = ch.o.Edit(func(e *hlo.Editor) { f(e.ViewModule()) })
}

// handOn runs a pass on the module in the making.
func (r *Runner) handOn(ctx context.Context, e execution) error {
	last := r.lastOf(e.at)
	if last.before == r.now.at && last.after == r.now.at {
		return nil
	}
	ch := r.now.chain
	given := hlo.Module{}
	if ch == nil {
		given = r.now.m
		ch = &chain{o: hlo.Own(given), base: given}
		r.now.chain = ch
		r.Handed.Chains++
	}
	before, edits := r.now.at, ch.o.Edits()
	r.given = Context{Context: ctx, pass: e.at.pass.Name, runner: r, unseen: true}
	if err := r.callOwned(&r.given, e.at.pass, ch, last); err != nil {
		return r.startOver(ctx, e, err)
	}
	ch.links = append(ch.links, e)
	if ch.o.Edits() != edits {
		r.now.at = r.newStamp()
		ch.note(r.now.at)
		if r.facts.outdate() {
			r.look(r.facts.forget)
		}
	}
	r.record(e.at).last = lastRun{before: before, after: r.now.at, given: given, chain: ch}
	return nil
}

func (r *Runner) callOwned(c *Context, p *Pass, ch *chain, last lastRun) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	if p.Own != nil {
		ch.o, err = p.Own(c, ch.o.Move())
		return err
	}
	run := func(e *hlo.Editor) {
		m := e.ViewModule()
		for range m.Callers(m.Entry().ID()) { // who calls whom stays known when views are stale
			break
		}
		if p.Run != nil {
			err = p.runLent(c, m, e)
			return
		}
		only := r.onThreads(m, r.since(last, m))
		if only == nil || only.Len() > 0 {
			err = p.editLocal(c, m, e, only)
		}
	}
	if p.Lent {
		ch.o = ch.o.Edit(run)
	} else {
		ch.o = ch.o.Rewrite(run)
	}
	return err
}

// runLent runs a pass of the form Run in a session.
func (p *Pass) runLent(c *Context, m hlo.Module, e *hlo.Editor) error {
	c.lent = e
	next, err := p.Run(c, m)
	if err == nil && (next.IsZero() || !e.Shows(next)) {
		return fmt.Errorf("returned another module than it has made")
	}
	return err
}

// startOver runs a chain again in which a pass has failed, version by version. The pass fails again, and the module that it was given is
// known then.
func (r *Runner) startOver(ctx context.Context, failed execution, err error) error {
	ch, pass := r.now.chain, r.record(failed.at)
	r.now.m, r.now.chain = ch.base, nil
	r.Handed.Restarts = append(r.Handed.Restarts, failed.path())
	if ctx.Err() != nil {
		return &Error{Pass: failed.path(), Failed: pass.pass, FP: pass.fp, Before: ch.base, Err: err}
	}
	fp, threads := r.FP, r.threads
	defer func() { r.FP, r.threads = fp, threads }()
	r.forgetRuns()
	r.now.at = r.newStamp()
	pass.alone = true
	for _, e := range append(ch.links, failed) {
		x := r.record(e.at)
		r.FP, r.threads = x.fp, x.threads
		if err := r.passOn(ctx, e, r.now.m); err != nil {
			return err
		}
	}
	return nil
}

// note remembers what the last pass has edited.
func (ch *chain) note(now stamp) {
	edited := ch.o.Edited()
	ch.o = ch.o.Edit(func(e *hlo.Editor) {
		if e.Config() != ch.base.Config() || e.Entry() != ch.base.Entry().ID() {
			ch.header = now
		}
		for _, id := range edited {
			was, isOld := ch.base.Computation(id)
			isFirst := ch.edited.Get(id) == 0
			if isOld && isFirst {
				ch.calls(id, was.Callees())
			}
			ch.edited.Set(id, now)
			if e.Has(id) && (e.CallsMore(id) || isFirst && !isOld) {
				ch.calls(id, e.Callees(id))
			}
		}
	})
}

func (ch *chain) calls(id hlo.CompID, callees iter.Seq[hlo.CompID]) {
	list := ch.called.Get(id)
	list = slices.AppendSeq(list, callees)
	if len(list) > 0 {
		slices.Sort(list)
		ch.called.Set(id, slices.Compact(list))
	}
}

// since is the set of computations of m, which is the current module, on which a local pass may find something new since its last run; nil
// if that is all of them.
func (r *Runner) since(last lastRun, m hlo.Module) *idmap.Set[hlo.CompID] {
	if last.before == 0 { // it has not run
		return nil
	}
	now, was := r.now.chain, last.chain
	if was != nil && was == now {
		return was.dirty(m, last.before)
	}
	if now == nil && !last.given.IsZero() {
		return r.dirt.between(m, last.given)
	}
	set := new(idmap.Set[hlo.CompID])
	if now != nil { // the way back goes from here to where the chain began,
		set, m = now.dirty(m, 0), now.base
	}
	old := last.given
	if old.IsZero() { // to where the chain of the last run ended, and in that one to the last run
		set, old = union(set, was.dirty(m, last.before)), was.end
	}
	if !m.SameLineage(old) {
		return nil
	}
	return union(set, dirty(m, old))
}

// comparison keeps what is dirty between two versions: most passes that run in a row were last given the same one.
type comparison struct {
	m, old hlo.Module
	set    *idmap.Set[hlo.CompID]
}

// between is dirty(m, old), nil if m does not come from old. It must not be written.
func (c *comparison) between(m, old hlo.Module) *idmap.Set[hlo.CompID] {
	if c.m != m || c.old != old {
		*c = comparison{m: m, old: old}
		if m.SameLineage(old) {
			c.set = dirty(m, old)
		}
	}
	return c.set
}

// dirty is like the function of that name, for what a chain has edited after a moment.
func (ch *chain) dirty(m hlo.Module, after stamp) *idmap.Set[hlo.CompID] {
	if ch.header > after {
		return nil
	}
	d := newDirt(m)
	for id, at := range ch.edited.All() {
		if at <= after {
			continue
		}
		for _, callee := range ch.called.Get(id) {
			d.called(callee)
		}
		if _, ok := m.Computation(id); ok {
			d.edited(id)
		}
	}
	return d.spread()
}

// union joins sets, of which nil is the set of all.
func union(a, b *idmap.Set[hlo.CompID]) *idmap.Set[hlo.CompID] {
	if a == nil || b == nil {
		return nil
	}
	for id := range b.All() {
		a.Add(id)
	}
	return a
}
