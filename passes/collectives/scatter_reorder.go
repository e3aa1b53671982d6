package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AllReduceReduceScatterReorder reduces what is left after scattering.
var AllReduceReduceScatterReorder = &pass.Pass{
	Name: "all-reduce-reduce-scatter-reorder",
	Doc: `scatter first, and reduce the smaller part

reduce-scatter(all-reduce(x)) becomes all-reduce(reduce-scatter(x)), each between its own groups, when the devices of every group of the
all-reduce get the same part. Floating-point sums are added in another order: policy xla or fast.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			for in := range c.PostOrder() {
				if in.Opcode() != hlo.OpReduceScatter || in.NumOperands() != 1 || in.NumControlPredecessors() > 0 {
					continue
				}
				ce := e.Computation(c.ID())
				all := ce.At(in.ID()).OperandInstr(0)
				if _, ok := soleUser(all); !ok || all.Opcode() != hlo.OpAllReduce || all.NumOperands() != 1 || all.NumControlPredecessors() > 0 {
					continue
				}
				fa, fs := factsOf(m, all), factsOf(m, in)
				if !fa.reducer.ok || fa.reducer != fs.reducer || fa.channel.Set != fs.channel.Set || fa.global != fs.global || !commute(fa, fs) ||
					!mayReorder(ctx, fa.reducer.op, in.Shape().Type()) || !ctx.Spend("reorder") {
					continue
				}
				at, gone, outer := emit.Before(ce, in), all.ID(), emit.Again(all)
				outer.Operands[0] = at.Spec(emit.With(emit.Again(ce.At(in.ID())), outer.Operands[0]))
				outer.Shape = in.Shape()
				if err := ce.ReplaceInstruction(in.ID(), at.Spec(outer)); err != nil {
					return m, err
				}
				if err := ce.Remove(gone); err != nil {
					return m, err
				}
				ctx.Count("reordered", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// commute reports whether an all-reduce and a reduce-scatter may change places: the same values reach every device in either order, and
// devices that reduce together get the same part.
func commute(all, scatter facts) bool {
	a, ok1 := all.lists()
	s, ok2 := scatter.lists()
	if !ok1 || !ok2 {
		return false
	}
	inAll, inScatter, place := map[int64][]int64{}, map[int64][]int64{}, map[int64]int{}
	for _, g := range a {
		for _, id := range g {
			inAll[id] = g
		}
	}
	for _, g := range s {
		for i, id := range g {
			inScatter[id], place[id] = g, i
		}
	}
	reach := func(id int64, first, second map[int64][]int64) (all []int64) {
		for _, x := range second[id] {
			all = append(all, first[x]...)
		}
		slices.Sort(all)
		return all
	}
	for id, g := range inAll {
		for _, other := range g {
			if place[other] != place[id] {
				return false
			}
		}
		if inScatter[id] == nil || !slices.Equal(reach(id, inAll, inScatter), reach(id, inScatter, inAll)) {
			return false
		}
	}
	return len(inAll) == len(inScatter)
}
