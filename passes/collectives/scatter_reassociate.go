package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ReduceScatterReassociate scatters once after adding.
var ReduceScatterReassociate = &pass.Pass{
	Name: "reduce-scatter-reassociate",
	Doc: `scatter once after adding rather than twice before

reduce-scatter(x) + reduce-scatter(y) becomes reduce-scatter(x + y). Floating-point sums are added in another order: policy xla or fast.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			for in := range c.PostOrder() {
				if in.NumOperands() != 2 || !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCommutative) {
					continue
				}
				ce := e.Computation(c.ID())
				now := ce.At(in.ID())
				x, y := now.OperandInstr(0), now.OperandInstr(1)
				if x.Opcode() != hlo.OpReduceScatter || y.Opcode() != hlo.OpReduceScatter {
					continue
				}
				_, okX := soleUser(x)
				_, okY := soleUser(y)
				fx, fy := factsOf(m, x), factsOf(m, y)
				if !okX || !okY || !alike(x, y, fx, fy) || !slices.Equal(fx.dims, fy.dims) || fx.reducer.op != in.Opcode() || !fx.reducer.ok ||
					x.NumOperands() != 1 || !x.OperandInstr(0).Shape().Equal(y.OperandInstr(0).Shape()) || !x.Shape().Equal(y.Shape()) ||
					!mayReorder(ctx, in.Opcode(), in.Shape().Type()) || !ctx.Spend("reassociate") {
					continue
				}
				at, spec, ids := emit.Before(ce, in), emit.Again(x), []hlo.InstrID{x.ID(), y.ID()}
				sum := at.Spec(hlo.InstrSpec{Opcode: in.Opcode(), Attrs: in.Attrs(), Shape: x.OperandInstr(0).Shape(), Operands: []hlo.InstrID{x.Operand(0), y.Operand(0)}})
				if err := emit.Replace(ce, in.ID(), at.Spec(emit.With(spec, sum))); err != nil {
					return m, err
				}
				for _, id := range slices.Compact(ids) {
					if err := ce.Remove(id); err != nil {
						return m, err
					}
				}
				ctx.Count("reduce-scatters", 1)
			}
		}
		return e.Freeze(), nil
	},
}
