package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// CallParameterCleanup hands calls only what they need.
var CallParameterCleanup = &pass.Pass{
	Name: "call-parameter-cleanup",
	Doc: `remove parameters of calls that are unused or returned unchanged

A part of the result that is a parameter is taken from the argument, and goes from the result if that is a tuple that only get-tuple-elements read.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		order := slices.Collect(m.PostOrder())
		slices.Reverse(order) // callers first: what a caller no longer hands on is not looked for again in this run
		for _, c := range order {
			sites := callsOf(m, c.ID())
			if len(sites) == 0 || c.ID() == m.Entry().ID() {
				continue
			}
			back := handedBack(e.View(c.ID()))
			if len(back) > 0 && ctx.Spend("handed-back") {
				if err := takeFromArguments(e, c.ID(), sites, back); err != nil {
					return m, err
				}
				ctx.Count("handed-back", int64(len(back)))
			}
			if err := dropUnread(ctx, e, c.ID(), sites); err != nil {
				return m, err
			}
		}
		return e.Freeze(), nil
	},
}

// site is an instruction that calls.
type site struct {
	comp hlo.CompID
	id   hlo.InstrID
}

// callsOf lists the calls of a computation; none if anything else runs it.
func callsOf(m hlo.Module, id hlo.CompID) (sites []site) {
	for comp, in := range m.Callers(id) {
		if m.MustComputation(comp).MustAt(in).Opcode() != hlo.OpCall {
			return nil
		}
		sites = append(sites, site{comp, in})
	}
	return sites
}

// handedBack gives the number of the parameter that each part of the result is, of those that are one.
func handedBack(c hlo.Computation) map[int]int64 {
	root := c.Root()
	if root.Opcode() != hlo.OpTuple || root.UserCount() > 0 || root.Common() != nil && root.Common().Sharding != nil {
		return nil
	}
	back := map[int]int64{}
	for i := range root.NumOperands() {
		if n, ok := root.OperandInstr(i).ParameterNumber(); ok {
			back[i] = n
		}
	}
	return back
}

// takeFromArguments makes the callers use their arguments for the parts that are handed back, and takes these out of the result.
func takeFromArguments(e *hlo.Editor, callee hlo.CompID, sites []site, back map[int]int64) error {
	c := e.Computation(callee)
	root := c.At(c.Root())
	var kept []hlo.InstrID
	var shapes []hlo.Shape
	live := make([]bool, root.NumOperands())
	place := map[int]int{} // of the parts that stay
	for i := range root.NumOperands() {
		if _, ok := back[i]; !ok {
			live[i], place[i] = true, len(kept)
			kept, shapes = append(kept, root.Operand(i)), append(shapes, root.Shape().Elem(i))
		}
	}
	n, old := root.NumOperands(), root.Shape()
	narrow := hlo.MakeTuple(shapes...)
	emit.Narrow(c.Instr(root.ID()).SetOperands(kept...), narrow, live)
	for _, s := range sites {
		ce := e.Computation(s.comp)
		spec := emit.Again(ce.At(s.id))
		at := emit.Before(ce, ce.At(s.id))
		spec.Shape, spec.Common = narrow, emit.KeptOrigin(spec.Common, live)
		call := at.Spec(spec)
		parts := make([]hlo.InstrID, n)
		for i := range parts {
			if p, ok := back[i]; ok {
				parts[i] = spec.Operands[p]
			} else {
				parts[i] = at.Element(call, place[i])
			}
		}
		for _, u := range slices.Collect(ce.Users(s.id)) {
			if in := ce.At(u); in.Opcode() == hlo.OpGetTupleElement {
				if err := ce.ReplaceInstruction(u, parts[hlo.AttrsOf[hlo.TupleElementAttrs](in).Index]); err != nil {
					return err
				}
			}
		}
		if err := ce.ReplaceInstruction(s.id, at.OpOf(hlo.OpTuple, old, nil, parts...)); err != nil {
			return err
		}
		dropDead(ce, parts)
	}
	return nil
}

// dropDead removes elements and tuples without users among what stands around parts.
func dropDead(c hlo.CompEdit, parts []hlo.InstrID) {
	for _, id := range parts {
		if !c.Has(id) {
			continue
		}
		for _, u := range slices.Collect(c.Users(id)) {
			pass.Release(c, u, nil)
		}
		pass.Release(c, id, nil)
	}
}

// dropUnread takes parameters without users out of a callee and its calls.
func dropUnread(ctx *pass.Context, e *hlo.Editor, callee hlo.CompID, sites []site) error {
	c := e.Computation(callee)
	params := c.View().Parameters()
	for n := len(params) - 1; n >= 0; n-- {
		if c.UserCount(params[n]) > 0 || c.Root() == params[n] || c.At(params[n]).NumControlSuccessors() > 0 || !ctx.Spend("parameter") {
			continue
		}
		if err := c.RemoveParameter(n); err != nil {
			return err
		}
		for _, s := range currentCalls(e, callee, sites) {
			ce := e.Computation(s.comp)
			gone := ce.At(s.id).Operand(n)
			ce.Instr(s.id).RemoveOperand(n)
			pass.Release(ce, gone, nil)
		}
		ctx.Count("parameters", 1)
	}
	return nil
}

// currentCalls finds the calls of callee in the computations of sites, where they may have been made again.
func currentCalls(e *hlo.Editor, callee hlo.CompID, sites []site) (now []site) {
	seen := map[hlo.CompID]bool{}
	for _, s := range sites {
		if seen[s.comp] {
			continue
		}
		seen[s.comp] = true
		for in := range e.View(s.comp).Instructions() {
			if in.Opcode() == hlo.OpCall && in.Callee(0) == callee {
				now = append(now, site{s.comp, in.ID()})
			}
		}
	}
	return now
}
