package pass

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
)

// Computations of at least this many instructions are worth a session of their own; which they are depends on the module alone, so that
// the result does too.
const forkFrom = 512

// runLocal runs a pass of the local form on the computations in only, or on all if it is nil.
//
//  1. Small computations are edited one after the other in one session.
//  2. If several large ones are left, and fuel is not counted, each is lent to a fork of the session, and as many work at a time as
//     there are processors.
//  3. What parts of the run have counted and remarked is told in the order of the computations.
func (p *Pass) runLocal(ctx *Context, m hlo.Module, only map[hlo.CompID]bool) (hlo.Module, error) {
	var small, large []hlo.CompID
	for c := range m.Computations() {
		switch {
		case only != nil && !only[c.ID()]:
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
	if len(small)+len(large) == 0 {
		return m, nil
	}
	e := ctx.Edit(m)
	for _, id := range small {
		part := ctx.part()
		err := p.Local(part, m, e.Computation(id))
		ctx.join(part)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return m, err
		}
	}
	if len(large) > 0 {
		if err := p.runForked(ctx, m, e, large); err != nil {
			return m, err
		}
	}
	return e.Freeze(), nil
}

func (p *Pass) runForked(ctx *Context, m hlo.Module, e *hlo.Editor, ids []hlo.CompID) error {
	forks := e.Fork(ids...)
	parts, errs := make([]*Context, len(ids)), make([]error, len(ids))
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
			if errs[i] = p.callLocal(parts[i], m, forks[i].Computation(id)); errs[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	if err := firstCause(errs); err != nil {
		return err
	}
	if err := e.Join(forks...); err != nil {
		return err
	}
	for _, part := range parts {
		ctx.join(part)
	}
	return ctx.Err()
}

// callLocal catches panics: in a goroutine of its own nobody else would.
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
func dirty(m, old hlo.Module) map[hlo.CompID]bool {
	if m.Entry().ID() != old.Entry().ID() || m.Config() != old.Config() {
		return nil
	}
	set := map[hlo.CompID]bool{}
	var callees, callers []hlo.CompID
	mark := func(id hlo.CompID, list *[]hlo.CompID) {
		if !set[id] {
			set[id] = true
			*list = append(*list, id)
		}
	}
	touch := func(c hlo.Computation) { // a version before or after: what it calls has other callers now
		for in := range c.Instructions() {
			for id := range in.Callees() {
				if _, ok := m.Computation(id); ok {
					callees = append(callees, id)
				}
			}
		}
	}
	for c := range m.Computations() {
		if was, ok := old.Computation(c.ID()); !ok || was != c {
			mark(c.ID(), &callers)
			touch(c)
			if ok {
				touch(was)
			}
		}
	}
	for c := range old.Computations() {
		if _, ok := m.Computation(c.ID()); !ok {
			touch(c)
		}
	}
	for len(callers) > 0 {
		id := callers[len(callers)-1]
		callers = callers[:len(callers)-1]
		for caller := range m.Callers(id) {
			mark(caller, &callers)
		}
	}
	for _, id := range callees {
		set[id] = true
	}
	return set
}
