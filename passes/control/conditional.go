package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// ConditionalSimplifier takes the branch that is always taken.
var ConditionalSimplifier = &pass.Pass{
	Name: "conditional-simplifier",
	Doc: `replace conditionals whose branch is known by a copy of the branch

The branch is known when the selector is a constant, or when there is one branch only. A selector that is out of range takes the last branch.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		wrapped := asyncComputations(m)
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			if wrapped[c.ID()] {
				continue
			}
			for in := range c.Instructions() {
				branch, ok := knownBranch(in)
				if !ok || !ctx.SpendOn("branch", pass.Cost{Instructions: m.MustComputation(in.Callee(branch)).NumInstructions()}) {
					continue
				}
				ce := e.Computation(c.ID())
				arg := ce.At(in.ID()).Operand(branch + 1)
				root := InlineBefore(ce, in.ID(), e.View(in.Callee(branch)), []hlo.InstrID{arg})
				if err := ce.ReplaceInstruction(in.ID(), root); err != nil {
					return m, err
				}
				ctx.Count("conditionals", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// knownBranch is the number of the branch that a conditional takes.
func knownBranch(in hlo.Instruction) (int, bool) {
	if in.Opcode() != hlo.OpConditional {
		return 0, false
	}
	n := in.NumCallees()
	if n == 1 {
		return 0, true
	}
	selector := in.OperandInstr(0)
	l := selector.Literal()
	if selector.Opcode() != hlo.OpConstant || l == nil || l.IsElided() {
		return 0, false
	}
	if selector.Shape().Type() == hlo.PRED {
		if slices.Contains(l.Bytes(), 1) {
			return 0, true
		}
		return 1, true
	}
	v, ok := l.ScalarInt()
	if !ok {
		return 0, false
	}
	if v < 0 || v >= int64(n) {
		return n - 1, true
	}
	return int(v), true
}
