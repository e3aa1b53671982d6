package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
)

// inlining is the work of a pass that inlines. A body is complete when it is copied: callees come before callers. But one that dissolves in its only call
// is copied as it is, and what it calls is inlined where the copies are: each of its instructions is copied once, however deep the calls are.
type inlining struct {
	ctx   *pass.Context
	m     hlo.Module
	e     *hlo.Editor
	want  func(hlo.Instruction) bool
	share bool

	order      []hlo.Computation // those that are worked on, callees before callers
	dissolving idmap.Set[hlo.CompID]
	callees    idmap.Set[hlo.CompID] // of which calls were inlined
}

// findDissolving finds the computations that dissolve, and the order of the others. In those that asynchronous instructions wrap, calls stay.
func (i *inlining) findDissolving(wrapped map[hlo.CompID]bool) {
	for c := range i.m.PostOrder() {
		if wrapped[c.ID()] || !hasCalls(c) {
			continue
		}
		if i.dissolves(c, wrapped) {
			i.dissolving.Add(c.ID())
		} else {
			i.order = append(i.order, c)
		}
	}
}

func hasCalls(c hlo.Computation) bool {
	for range c.Calls() {
		return true
	}
	return false
}

// dissolves reports whether one call runs c, and is inlined.
func (i *inlining) dissolves(c hlo.Computation, wrapped map[hlo.CompID]bool) bool {
	if !calledOnce(i.m, c.ID()) {
		return false
	}
	for caller, id := range i.m.Callers(c.ID()) {
		call, ok := i.e.View(caller).At(id)
		return ok && !wrapped[caller] && i.want(call)
	}
	return false
}

// computation inlines the calls in c. Those in copies of bodies that dissolve come right after the call that ran them.
func (i *inlining) computation(c hlo.Computation) error {
	ce := i.e.Computation(c.ID())
	var shared *sharing
	if i.share {
		shared = i.newSharing(c)
	}
	calls := callers(c) // the next one last
	for slices.Reverse(calls); len(calls) > 0; {
		id := calls[len(calls)-1]
		calls = calls[:len(calls)-1]
		if !ce.Has(id) || !i.want(ce.At(id)) {
			continue
		}
		in := ce.At(id)
		callee := i.e.View(in.Callee(0))
		if !i.ctx.SpendOn("inline", pass.Cost{Instructions: callee.NumInstructions()}) {
			if i.dissolving.Remove(callee.ID()) { // it does not
				if err := i.computation(callee); err != nil {
					return err
				}
			}
			continue
		}
		var inside []hlo.InstrID
		if i.dissolving.Has(callee.ID()) {
			inside = callers(callee)
		}
		operands, given := slices.Collect(in.OperandIDs()), in.Common()
		root, copied := inline(ce, id, callee, operands, shared.with(in), i.inheritance(in))
		for _, at := range slices.Backward(inside) {
			calls = append(calls, copied[at])
		}
		if shared == nil && !slices.Contains(operands, root) {
			handSharding(ce, given, root)
		}
		if err := ce.ReplaceInstruction(id, root); err != nil {
			return err
		}
		for _, o := range operands {
			pass.Release(ce, o, nil)
		}
		i.callees.Add(callee.ID())
		i.ctx.Count("calls", 1)
	}
	return nil
}
