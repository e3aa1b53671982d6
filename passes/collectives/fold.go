package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// AllReduceFolder makes one reduction of two.
var AllReduceFolder = &pass.Pass{
	Name: "all-reduce-folder",
	Doc: `reduce between larger groups once rather than between smaller ones twice

all-reduce over {{0,1},{2,3}} and then over {{0,2},{1,3}} is all-reduce over {{0,1,2,3}}: every value must reach every device exactly once.
Floating-point sums are added in another order: policy xla or fast.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			for in := range c.PostOrder() {
				if in.Opcode() != hlo.OpAllReduce || in.NumOperands() != 1 {
					continue
				}
				ce := e.Computation(c.ID())
				now := ce.At(in.ID())
				inner := now.OperandInstr(0)
				if _, ok := soleUser(inner); !ok || inner.Opcode() != hlo.OpAllReduce || inner.NumOperands() != 1 || inner.NumControlPredecessors() > 0 {
					continue
				}
				fo, fi := factsOf(m, now), factsOf(m, inner)
				folded, ok := foldGroups(fi, fo)
				fi.groups = fo.groups
				if !ok || !alike(inner, now, fi, fo) || !fo.reducer.ok || !mayReorder(ctx, fo.reducer.op, in.Shape().Type()) || !ctx.Spend("fold") {
					continue
				}
				attrs := *now.Attrs().(*hlo.AllReduceAttrs)
				attrs.ReplicaGroups = &hlo.ReplicaGroups{Lists: folded}
				ce.Instr(in.ID()).SetAttrs(&attrs).SetOperand(0, inner.Operand(0))
				if err := ce.Remove(inner.ID()); err != nil {
					return m, err
				}
				ctx.Count("all-reduces", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// foldGroups is the groups of one reduction that does what two do, the inner one first. False when a value would count twice, or when the
// devices that share a result are not those whose values are in it.
func foldGroups(inner, outer facts) ([][]int64, bool) {
	first, ok1 := inner.lists()
	second, ok2 := outer.lists()
	if !ok1 || !ok2 {
		return nil, false
	}
	groupOf := map[int64][]int64{}
	for _, g := range first {
		for _, id := range g {
			groupOf[id] = g
		}
	}
	reached := map[int64][]int64{} // the devices whose values reach a device
	for _, g := range second {
		var all []int64
		for _, id := range g {
			if groupOf[id] == nil {
				return nil, false
			}
			all = append(all, groupOf[id]...)
		}
		slices.Sort(all)
		if len(slices.Compact(slices.Clone(all))) != len(all) {
			return nil, false
		}
		for _, id := range g {
			reached[id] = all
		}
	}
	var folded [][]int64
	done := map[int64]bool{}
	for _, g := range second {
		for _, id := range g {
			if done[id] {
				continue
			}
			for _, other := range reached[id] {
				if !slices.Equal(reached[other], reached[id]) || done[other] {
					return nil, false
				}
			}
			for _, other := range reached[id] {
				done[other] = true
			}
			folded = append(folded, reached[id])
		}
	}
	return folded, len(done) == len(reached)
}
