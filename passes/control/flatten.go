package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// FlattenCallGraph gives every call site a computation of its own.
var FlattenCallGraph = &pass.Pass{
	Name: "flatten-call-graph",
	Doc: `clone computations so that each has one sequential call site

Only callees that run as computations are cloned (call, while, conditional, async-start); those applied to elements are shared, because
nothing tells their applications apart.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := m.Edit()
		// Callers first: a clone's own callees are then met, and cloned, like any other's.
		work := []hlo.CompID{m.Entry().ID()}
		used := map[hlo.CompID]bool{m.Entry().ID(): true}
		for len(work) > 0 {
			id := work[0]
			work = work[1:]
			for _, in := range slices.Collect(e.View(id).Instructions()) {
				if !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) {
					continue
				}
				for i := range in.NumCallees() {
					callee := in.Callee(i)
					if used[callee] {
						if !ctx.Spend("clone") {
							return e.Freeze(), nil
						}
						callee = CloneComputation(e, callee)
						e.Computation(id).Instr(in.ID()).SetCallee(i, callee)
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

// CloneComputation adds a copy of a computation to the session; it calls the same computations.
func CloneComputation(e *hlo.Editor, id hlo.CompID) hlo.CompID {
	c := e.View(id)
	b := e.NewComputation(c.Name() + ".clone")
	b.SetExecutionThread(c.ExecutionThread())
	b.SetScheduled(c.IsScheduled())
	copied := make(map[hlo.InstrID]hlo.InstrID, c.NumInstructions())
	rename := func(ids []hlo.InstrID) []hlo.InstrID {
		for i, id := range ids {
			ids[i] = copied[id]
		}
		return ids
	}
	for in := range c.Instructions() {
		copied[in.ID()] = b.Append(hlo.InstrSpec{
			Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Operands: rename(slices.Collect(in.OperandIDs())),
			Attrs: in.Attrs(), Common: in.Common(), Callees: slices.Collect(in.Callees()),
			Control: rename(slices.Collect(in.ControlPredecessors())), Position: in.Position(),
		})
	}
	return b.Finish(copied[c.Root().ID()])
}
