package simplify

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// ZeroSizedElimination replaces what has no elements.
var ZeroSizedElimination = &pass.Pass{
	Name: "zero-sized-hlo-elimination",
	Doc: `replace arrays without elements by empty constants

Instructions with side effects, collectives (all devices must take part) and those with control dependencies stay.`,
	Lent: true, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		if !c.View().HasEmpty() || pass.Fact(ctx, m, analysis.FindClosed).Has(c.ID()) {
			return nil
		}
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		const stays = hlo.TraitCollective | hlo.TraitTokens | hlo.TraitAsyncStart | hlo.TraitAsyncDone
		for in := range pass.EachWhere(c, isEmpty) {
			s := in.Shape()
			if hlo.Info(in.Opcode()).Traits&stays != 0 || effects.Of(in) || in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 || !ctx.Spend("empty") {
				continue
			}
			lit, err := hlo.NewLiteral(s, nil)
			if err != nil {
				continue
			}
			id := in.ID()
			k := c.InsertSpecBefore(id, hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: s, Attrs: &hlo.ConstantAttrs{Literal: lit},
				Common: in.Common(), Position: in.Position()})
			if err := c.ReplaceInstruction(id, k.ID()); err != nil {
				return err
			}
			ctx.Count("instructions", 1)
		}
		return nil
	},
}

// isEmpty reports whether in computes an array without elements.
func isEmpty(in hlo.Instruction) bool {
	s := in.Shape()
	return s.IsArray() && s.IsStatic() && s.NumElements() == 0 && in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpConstant
}
