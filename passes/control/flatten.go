package control

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// FlattenCallGraph gives every call site a computation of its own.
var FlattenCallGraph = flattenCalls(false)

// NewFlattenCallGraph makes the pass flatten-call-graph.
func NewFlattenCallGraph(o pass.Options) (*pass.Pass, error) {
	const key = "skip-cloning-handler"
	if err := o.Known(key); err != nil {
		return nil, err
	}
	skip := o.Text(key, "")
	if skip != "" && skip != "calls" {
		return nil, fmt.Errorf("%s=%s: want calls", key, skip)
	}
	p := *flattenCalls(skip == "calls")
	p.Options = o
	p.Params = []pass.Param{{Name: key, Doc: "computations that sites may share: calls, for those that nothing but calls runs; none"}}
	return &p, nil
}

// flattenCalls makes the pass; shareCalled leaves out the computations of which every caller is a call.
func flattenCalls(shareCalled bool) *pass.Pass {
	p := &pass.Pass{
		Name: "flatten-call-graph",
		Doc: `clone computations so that each has one sequential call site

Only callees that run as computations are cloned (call, while, conditional, async-start); those applied to elements are shared, because
nothing tells their applications apart.`,
		Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			var shared map[hlo.CompID]bool
			if shareCalled {
				shared = onlyCalled(m)
			}
			e := ctx.Edit(m)
			// Callers first: a clone's own callees are then met, and cloned, like any other's.
			work := []hlo.CompID{m.Entry().ID()}
			used := map[hlo.CompID]bool{m.Entry().ID(): true}
			for len(work) > 0 {
				id := work[0]
				work = work[1:]
				for _, site := range callSites(e.View(id)) {
					for i, callee := range site.callees {
						if used[callee] {
							if shared[callee] {
								continue
							}
							if !ctx.Spend("clone") {
								return e.Freeze(), nil
							}
							callee = CloneComputation(e, callee)
							e.Computation(id).Instr(site.id).SetCallee(i, callee)
							ctx.Count("clones", 1)
						}
						used[callee] = true
						work = append(work, callee)
					}
				}
			}
			return e.Freeze(), nil
		},
	}
	if !shareCalled {
		p.Makes = []pass.Phase{pass.Flattened}
	}
	return p
}

// onlyCalled is the computations of m that calls run and nothing else does.
func onlyCalled(m hlo.Module) map[hlo.CompID]bool {
	called := map[hlo.CompID]bool{}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			for callee := range in.Callees() {
				only, seen := called[callee]
				called[callee] = in.Opcode() == hlo.OpCall && (only || !seen)
			}
		}
	}
	return called
}

// callSite is an instruction that runs computations.
type callSite struct {
	id      hlo.InstrID
	callees []hlo.CompID
}

// callSites lists the calls of c: a list of its own, since c may be a view that edits make stale.
func callSites(c hlo.Computation) (sites []callSite) {
	for in := range c.Instructions() {
		if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) {
			sites = append(sites, callSite{in.ID(), slices.Collect(in.Callees())})
		}
	}
	return sites
}

// CloneComputation adds a copy of a computation to the session. It calls the same computations, except
// that fusions and asynchronous chains get their own.
func CloneComputation(e *hlo.Editor, id hlo.CompID) hlo.CompID {
	c := e.View(id)
	b := e.NewComputation(c.Name() + ".clone")
	b.SetExecutionThread(c.ExecutionThread())
	b.SetScheduled(c.IsScheduled())
	copied := make(map[hlo.InstrID]hlo.InstrID, c.NumInstructions())
	for in := range c.OperandsFirst() {
		copied[in.ID()] = b.Append(Copy(e, in, copied))
	}
	return b.Finish(copied[c.Root().ID()])
}

// Copy says how to make in again, with operands and control predecessors replaced by what copied has for them; others stay. A fusion owns
// the computation that it fuses, and an async-start the one that it wraps, so copies get clones of them.
func Copy(e *hlo.Editor, in hlo.Instruction, copied map[hlo.InstrID]hlo.InstrID) hlo.InstrSpec {
	rename := func(ids []hlo.InstrID) []hlo.InstrID {
		for i, id := range ids {
			if to, ok := copied[id]; ok {
				ids[i] = to
			}
		}
		return ids
	}
	callees := slices.Collect(in.Callees())
	if in.Opcode() == hlo.OpFusion || in.Opcode() == hlo.OpAsyncStart {
		for i, id := range callees {
			callees[i] = CloneComputation(e, id)
		}
	}
	return hlo.InstrSpec{
		Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Operands: rename(slices.Collect(in.OperandIDs())),
		Attrs: in.Attrs(), Common: in.Common(), Callees: callees,
		Control: rename(slices.Collect(in.ControlPredecessors())), Position: in.Position(),
	}
}
