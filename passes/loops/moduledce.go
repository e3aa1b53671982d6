package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/simplify"
)

// ModuleDCE removes what is only carried round.
var ModuleDCE = &pass.Pass{
	Name: "module-dce",
	Doc: `remove dead code that shows only when the whole module is looked at: unused loop state, and the instructions that compute it

A part of a loop's state is dead if neither the result of the program nor an effect depends on it, however many loops, calls and branches it passes
through. The body hands it on as it is, and then the part goes, with its arguments, and with parameters that are unused by then. Loops whose
condition depends on a part keep it: whether a loop ends is not judged.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		after, err := handOnDead(ctx, m)
		if err != nil {
			return m, err
		}
		clean, err := simplify.NewDCE(pass.Options{{Key: "call-analysis"}})
		if err != nil {
			return m, err
		}
		// Loops in loops lose their parts from the inside out, one level at a time.
		for {
			before := after
			if after, err = clean.Run(ctx, after); err != nil {
				return m, err
			}
			if after, err = simplifyLoops(ctx, after, false, false); err != nil {
				return m, err
			}
			if after == before {
				return after, nil
			}
		}
	},
}

// handOnDead makes bodies of loops return dead parts of the state as they got them.
func handOnDead(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	live := pass.Fact(ctx, m, analysis.FindLive)
	e := ctx.Edit(m)
	for c := range m.PostOrder() {
		for in := range c.Instructions() {
			if in.Opcode() != hlo.OpWhile || !in.Shape().IsTuple() || !ownsCallees(m, in) {
				continue
			}
			b := e.Computation(body(m, in).ID())
			root, param := m.MustComputation(b.ID()).Root(), m.MustComputation(b.ID()).Parameter(0)
			if root.Opcode() != hlo.OpTuple || root.UserCount() > 0 || isDecorated(root) {
				continue
			}
			parts := slices.Collect(root.OperandIDs())
			for i := range parts {
				if live.Any(in, i) || live.Any(param, i) || live.Any(root, i) || handsOn(m.MustComputation(b.ID()), i, param.Shape().Elem(i)) ||
					!root.Shape().Elem(i).Equal(param.Shape().Elem(i)) || !ctx.Spend("dead-part") {
					continue
				}
				parts[i] = b.InsertSpecBefore(root.ID(), hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: param.Shape().Elem(i),
					Operands: []hlo.InstrID{param.ID()}, Attrs: &hlo.TupleElementAttrs{Index: int64(i)}}).ID()
				ctx.Count("parts", 1)
			}
			b.Instr(root.ID()).SetOperands(parts...)
		}
	}
	return e.Freeze(), nil
}
