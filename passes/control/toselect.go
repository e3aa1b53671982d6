package control

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ConditionalToSelect takes conditionals out of computations that are applied to elements.
var ConditionalToSelect = &pass.Pass{
	Name: "conditional-to-select",
	Doc: `run both branches of conditionals in computations that are applied to elements, and select

Backends that compute many elements at once cannot branch for each. A conditional of two branches without effects, of one array, becomes two copies of branches and
a select.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			if !isApplied(m, c) {
				continue
			}
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpConditional || in.NumCallees() != 2 || in.OperandInstr(0).Shape().Type() != hlo.PRED || !in.Shape().IsArray() ||
					!in.Shape().IsStatic() || effects.Of(in) || isRandomInside(m, in) || !ctx.SpendOn("select", pass.Cost{Instructions: m.MustComputation(in.Callee(0)).NumInstructions()}) {
					continue
				}
				ce := e.Computation(c.ID())
				now := ce.At(in.ID())
				p, yes, no := now.Operand(0), now.Operand(1), now.Operand(2)
				yes = InlineBefore(ce, in.ID(), e.View(in.Callee(0)), []hlo.InstrID{yes})
				no = InlineBefore(ce, in.ID(), e.View(in.Callee(1)), []hlo.InstrID{no})
				at := emit.Before(ce, in)
				if dims := in.Shape().Dimensions(); len(dims) > 0 {
					p = at.Fill(p, dims...)
				}
				if err := emit.Replace(ce, in.ID(), at.Select(p, yes, no)); err != nil {
					return m, err
				}
				ctx.Count("conditionals", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// isApplied reports whether nothing but ops on elements calls a computation.
func isApplied(m hlo.Module, c hlo.Computation) bool {
	some := false
	for comp, id := range m.Callers(c.ID()) {
		if !hlo.Info(m.MustComputation(comp).MustAt(id).Opcode()).Traits.Has(hlo.TraitApply) {
			return false
		}
		some = true
	}
	return some
}

// isRandomInside reports whether a branch draws random numbers.
func isRandomInside(m hlo.Module, in hlo.Instruction) bool {
	for id := range in.Callees() {
		for inner := range m.MustComputation(id).Instructions() {
			if hlo.Info(inner.Opcode()).Traits.Has(hlo.TraitRandom) || inner.NumCallees() > 0 {
				return true
			}
		}
	}
	return false
}
