package control

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// OptimizationBarrierExpander removes barriers.
var OptimizationBarrierExpander = &pass.Pass{
	Name:  "optimization-barrier-expander",
	About: []hlo.Opcode{hlo.OpOptBarrier},
	Doc: `replace each opt-barrier by its operand

A barrier keeps other passes from looking through it, so this one runs when all that it is to stop have run. What ran after the barrier by a control
dependency runs after its operand; a schedule is kept.`,
	Lent: true, Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		for in := range pass.EachOf(c, hlo.OpOptBarrier) {
			if in.IsRoot() && in.NumControlPredecessors() > 0 || !ctx.Spend("barrier") {
				continue
			}
			if err := expand(c, in.ID(), in.Operand(0)); err != nil {
				return err
			}
			ctx.Count("barriers", 1)
		}
		return nil
	},
}

// expand removes a barrier. Control predecessors go to what used it, since the operand may come before them.
func expand(c hlo.CompEdit, barrier, operand hlo.InstrID) error {
	var before []hlo.InstrID
	for p := range c.At(barrier).ControlPredecessors() {
		before = append(before, p)
	}
	for _, p := range before {
		c.Instr(barrier).RemoveControlPredecessor(p)
	}
	for user := range c.Users(barrier) {
		for _, p := range before {
			if user != p {
				c.Instr(user).AddControlPredecessor(p)
			}
		}
	}
	return c.ReplaceInstruction(barrier, operand)
}
