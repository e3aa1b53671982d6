package loops

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// forwardFinal puts the constant with which the counter of a loop ends in the place of what reads it after the loop.
func forwardFinal(ctx *pass.Context, c hlo.CompEdit, while hlo.Instruction, l analysis.Loop) error {
	t := while.Shape().Elem(l.Induction).Type()
	last := emit.Number(t, l.First+l.Trip*l.Step)
	if v, ok := last.ScalarInt(); !ok || v != l.First+l.Trip*l.Step {
		return nil
	}
	for id := range c.Users(while.ID()) {
		u := c.At(id)
		if u.Opcode() != hlo.OpGetTupleElement || int(hlo.AttrsOf[hlo.TupleElementAttrs](u).Index) != l.Induction ||
			u.NumControlPredecessors()+u.NumControlSuccessors() > 0 || !ctx.Spend("final") {
			continue
		}
		if err := emit.Replace(c, id, emit.Before(c, u).Constant(last)); err != nil {
			return err
		}
		ctx.Count("final", 1)
	}
	return nil
}
