package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// UnflattenCallGraph makes calls share what they call.
var UnflattenCallGraph = &pass.Pass{
	Name:   "unflatten-call-graph",
	Breaks: []pass.Phase{pass.Flattened},
	Doc: `merge equal computations that only calls run

What loops, branches and asynchronous instructions run stays: each of them owns its computations.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		first := map[hlo.Hash][]hlo.CompID{}
		for c := range m.PostOrder() {
			if c.ID() == m.Entry().ID() || len(callsOf(m, c.ID())) == 0 {
				continue
			}
			now := e.View(c.ID())
			hash := now.Hash()
			same := slices.IndexFunc(first[hash], func(id hlo.CompID) bool {
				return e.View(id).Equal(now) && e.View(id).ExecutionThread() == now.ExecutionThread()
			})
			if same < 0 {
				first[hash] = append(first[hash], c.ID())
				continue
			}
			if !ctx.Spend("merge") {
				break
			}
			for _, s := range callsOf(m, c.ID()) {
				e.Computation(s.comp).Instr(s.id).SetCallee(0, first[hash][same])
			}
			e.RemoveComputation(c.ID())
			ctx.Count("computations", 1)
		}
		return e.Freeze(), nil
	},
}
