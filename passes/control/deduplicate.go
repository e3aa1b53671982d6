package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// ComputationDeduplicator is the inverse of [FlattenCallGraph].
var ComputationDeduplicator = &pass.Pass{
	Name:   "computation-deduplicator",
	Breaks: []pass.Phase{pass.Flattened},
	Doc: `merge equal computations

Computations are equal if they compute the same in the same way on the same thread; names, metadata and the order of the text do not count, and
callees are compared first. What a fusion fuses and an asynchronous instruction wraps belongs to it alone and stays, and so does the entry.
Passes that look into the body of a loop want to own it: this one is for the end, or for reading.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		closed := pass.Fact(ctx, m, analysis.FindClosed)
		e := ctx.Edit(m)
		first := map[hlo.Hash][]hlo.CompID{}
		for c := range m.PostOrder() { // callees first: those of equal computations are then the same
			if closed.Has(c.ID()) || c.ID() == m.Entry().ID() || reducesBetweenDevices(m, c.ID()) {
				continue
			}
			now := e.View(c.ID())
			hash := now.Hash()
			same := slices.IndexFunc(first[hash], func(id hlo.CompID) bool { return e.View(id).Equal(now) })
			if same < 0 {
				first[hash] = append(first[hash], c.ID())
				continue
			}
			if !ctx.Spend("merge") {
				break
			}
			for caller, id := range m.Callers(c.ID()) {
				in := e.Computation(caller).Instr(id)
				for i, callee := range slices.Collect(in.View().Callees()) {
					if callee == c.ID() {
						in.SetCallee(i, first[hash][same])
					}
				}
			}
			e.RemoveComputation(c.ID())
			ctx.Count("computations", 1)
			ctx.Count("instructions", int64(c.NumInstructions()))
		}
		return e.Freeze(), nil
	},
}

// reducesBetweenDevices reports whether a collective folds with a computation: it stays the collective's own, as XLA keeps it.
func reducesBetweenDevices(m hlo.Module, id hlo.CompID) bool {
	for caller, in := range m.Callers(id) {
		if hlo.Info(m.MustComputation(caller).MustAt(in).Opcode()).Traits.Has(hlo.TraitCollective) {
			return true
		}
	}
	return false
}
