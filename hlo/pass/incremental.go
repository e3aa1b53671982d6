package pass

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// Computations of at least this many instructions are worth a session of their own; which they are depends on the module alone, so that
// the result does too.
const forkFrom = 512

// runLocal runs a pass of the local form on the computations in only, or on all if it is nil.
//
//  1. Small computations are edited one after the other in one session.
//  2. If several large ones are left, and fuel is not counted, each is lent to a fork of the session, and as many work at a time as
//     there are processors.
//  3. Counts and remarks of the parts of a run are reported in the order of the computations.
func (p *Pass) runLocal(ctx *Context, m hlo.Module, only *idmap.Set[hlo.CompID]) (hlo.Module, error) {
	if only != nil && only.Len() == 0 {
		return m, nil
	}
	e := ctx.Edit(m)
	if err := p.editLocal(ctx, m, e, only); err != nil {
		return m, err
	}
	return e.Freeze(), nil
}

// editLocal is runLocal in a session, where m is the module as it is, or a view of it.
func (p *Pass) editLocal(ctx *Context, m hlo.Module, e *hlo.Editor, only *idmap.Set[hlo.CompID]) error {
	var small, large []hlo.CompID
	about := hlo.OpcodesOf(p.About...)
	for c := range m.Computations() {
		switch {
		case only != nil && !only.Has(c.ID()):
		case len(p.About) > 0 && !ctx.runner.Thorough && !c.Opcodes().Meets(about):
		case c.NumInstructions() >= forkFrom:
			large = append(large, c.ID())
		default:
			small = append(small, c.ID())
		}
	}
	if len(large) < 2 || ctx.runner.limits(p.Name) {
		small, large = append(small, large...), nil
		slices.Sort(small)
	}
	part := ctx.part()
	for _, id := range small {
		err := p.Local(&part, m, e.Computation(id))
		ctx.join(&part)
		part = ctx.part()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	if len(large) > 0 {
		return p.runForked(ctx, m, e, large)
	}
	return nil
}

// Each yields the instructions that c has at the call, in program order, each as it is when its turn comes; what has been removed meanwhile is
// left out. It is how passes that are lent read what they edit.
func Each(c hlo.CompEdit) iter.Seq[hlo.Instruction] {
	return func(yield func(hlo.Instruction) bool) {
		ids := make([]hlo.InstrID, 0, c.NumInstructions())
		for in := range c.View().Instructions() {
			ids = append(ids, in.ID())
		}
		eachStill(c, ids, yield)
	}
}

// EachOf is [Each] for the instructions of some opcodes. A computation knows which opcodes it has and what it calls, so looking for loops, or for what it does not have,
// looks at nothing else.
func EachOf(c hlo.CompEdit, ops ...hlo.Opcode) iter.Seq[hlo.Instruction] {
	return func(yield func(hlo.Instruction) bool) {
		wanted, v := hlo.OpcodesOf(ops...), c.View()
		if !v.Opcodes().Meets(wanted) {
			return
		}
		all := v.InstructionsOf(wanted)
		if !slices.ContainsFunc(ops, mayCallNothing) {
			all = v.Calls()
		}
		eachLater(c, all, func(in hlo.Instruction) bool { return wanted.Has(in.Opcode()) }, yield)
	}
}

func mayCallNothing(op hlo.Opcode) bool {
	return !slices.ContainsFunc(hlo.Info(op).Callees, func(r hlo.CalleeRole) bool { return !r.Optional })
}

// EachWhere is [Each] for the instructions of which are is true at the call.
func EachWhere(c hlo.CompEdit, are func(hlo.Instruction) bool) iter.Seq[hlo.Instruction] {
	return func(yield func(hlo.Instruction) bool) { eachLater(c, c.View().Instructions(), are, yield) }
}

// eachLater yields what is left of some instructions when their turn comes.
func eachLater(c hlo.CompEdit, all iter.Seq[hlo.Instruction], are, yield func(hlo.Instruction) bool) {
	var ids []hlo.InstrID
	for in := range all {
		if are(in) {
			if n := len(ids); n == cap(ids) {
				ids = slices.Grow(ids, max(n, 8)) // twice as many: a long list moves seldom
			}
			ids = append(ids, in.ID())
		}
	}
	eachStill(c, ids, yield)
}

// Still yields those of a list that are still there when their turn comes, each as it is then.
func Still(c hlo.CompEdit, ids []hlo.InstrID) iter.Seq[hlo.Instruction] {
	return func(yield func(hlo.Instruction) bool) { eachStill(c, ids, yield) }
}

// eachStill yields the instructions that are still there when their turn comes.
func eachStill(c hlo.CompEdit, ids []hlo.InstrID, yield func(hlo.Instruction) bool) {
	for next := range slices.Chunk(ids, hlo.NodesAhead) {
		c.Ahead(next)
		for _, id := range next {
			if in, ok := c.View().At(id); ok && !yield(in) {
				return
			}
		}
	}
}

func (p *Pass) runForked(ctx *Context, m hlo.Module, e *hlo.Editor, ids []hlo.CompID) error {
	forks := e.Fork(ids...)
	m = forks[0].Base()
	parts, errs := make([]Context, len(ids)), make([]error, len(ids))
	cancelled, cancel := context.WithCancel(ctx)
	defer cancel()
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, id := range ids {
		parts[i] = ctx.part()
		parts[i].Context = cancelled
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if errs[i] = p.callLocal(&parts[i], m, forks[i].Computation(id)); errs[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	if err := firstCause(errs); err != nil {
		return err
	}
	for _, f := range forks {
		ctx.runner.Handed.Forked = sum(ctx.runner.Handed.Forked, f.Stats())
	}
	if err := e.Join(forks...); err != nil {
		return err
	}
	for i := range parts {
		ctx.join(&parts[i])
	}
	return ctx.Err()
}

// callLocal catches panics, as every goroutine must do for itself.
func (p *Pass) callLocal(ctx *Context, m hlo.Module, c hlo.CompEdit) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.Local(ctx, m, c)
}

// firstCause is the first error that is not the echo of another one.
func firstCause(errs []error) error {
	var echo error
	for _, err := range errs {
		switch {
		case err == nil:
		case !errors.Is(err, context.Canceled):
			return err
		case echo == nil:
			echo = err
		}
	}
	return echo
}

// dirty is the set of computations of m on which a local pass may find something new since it was given old: those that are not the same
// any more, and what calls or is called by one of these, directly or not. Everything is dirty when the header has changed.
func dirty(m, old hlo.Module) *idmap.Set[hlo.CompID] {
	if m.Entry().ID() != old.Entry().ID() || m.Config() != old.Config() {
		return nil
	}
	d := newDirt(m)
	for c := range m.Computations() {
		if was, ok := old.Computation(c.ID()); !ok || was != c {
			d.edited(c.ID())
			if ok {
				d.calls(was)
			}
		}
	}
	for c := range old.Computations() {
		if _, ok := m.Computation(c.ID()); !ok {
			d.calls(c)
		}
	}
	return d.spread()
}

// dirt collects the computations of m that have changed.
type dirt struct {
	m       hlo.Module
	set     *idmap.Set[hlo.CompID]
	callers []hlo.CompID          // in the set, whose own callers are not yet
	callees idmap.Set[hlo.CompID] // not in the set yet: their callers need not be
}

func newDirt(m hlo.Module) *dirt { return &dirt{m: m, set: new(idmap.Set[hlo.CompID])} }

func (d *dirt) mark(id hlo.CompID) {
	if d.set.Add(id) {
		d.callers = append(d.callers, id)
	}
}

// edited adds a computation that has changed, and what it calls.
func (d *dirt) edited(id hlo.CompID) {
	d.mark(id)
	d.calls(d.m.MustComputation(id))
}

// calls adds what a version of a computation calls, before or after: it has other callers now.
func (d *dirt) calls(c hlo.Computation) {
	for id := range c.Callees() {
		d.called(id)
	}
}

func (d *dirt) called(id hlo.CompID) {
	if _, ok := d.m.Computation(id); ok {
		d.callees.Add(id)
	}
}

// spread adds the callers of all that has changed.
func (d *dirt) spread() *idmap.Set[hlo.CompID] {
	for len(d.callers) > 0 {
		id := d.callers[len(d.callers)-1]
		d.callers = d.callers[:len(d.callers)-1]
		for caller := range d.m.Callers(id) {
			d.mark(caller)
		}
	}
	for id := range d.callees.All() {
		d.set.Add(id)
	}
	return d.set
}
