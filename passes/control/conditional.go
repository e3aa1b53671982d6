package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ConditionalSimplifier removes conditionals, and what is only carried in and out of them.
var ConditionalSimplifier = &pass.Pass{
	Name:  "conditional-simplifier",
	About: []hlo.Opcode{hlo.OpConditional},
	Doc: `choose a known branch, run both if they are cheap, and pass branches only the operands they use

	conditional of a constant selector, or of one branch  → a copy of the branch
	conditional of two branches of cheap elementwise ops  → both, and select
	part of the result that nothing reads                 → gone, from all branches
	parts of the result that are one value in each branch → one part
	part of the argument that a branch does not read      → gone

A selector that is out of range takes the last branch. A conditional whose frontend attribute inlineable says "false" becomes a call of the branch. Branches with
effects, and those that draw random numbers, stay.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		wrapped := asyncComputations(m)
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			if wrapped[c.ID()] {
				continue
			}
			for in := range pass.EachOf(e.Computation(c.ID()), hlo.OpConditional) {
				k := &conditional{ctx: ctx, m: m, e: e, c: e.Computation(c.ID()), id: in.ID(), effects: effects}
				if err := k.simplify(); err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	},
}

// conditional is one in a session.
type conditional struct {
	ctx     *pass.Context
	m       hlo.Module
	e       *hlo.Editor
	c       hlo.CompEdit
	id      hlo.InstrID
	effects *analysis.SideEffects
}

func (k *conditional) simplify() error {
	if err := k.mergeResults(); err != nil {
		return err
	}
	if err := k.dropResults(); err != nil {
		return err
	}
	in := k.c.At(k.id)
	if k.effects.Of(in) || k.isRandom() {
		return k.dropArguments()
	}
	if branch, ok := knownBranch(in); ok {
		return k.take(branch)
	}
	if done, err := k.selectBoth(); done || err != nil {
		return err
	}
	return k.dropArguments()
}

// isRandom reports whether a branch draws random numbers.
func (k *conditional) isRandom() bool {
	for id := range k.c.At(k.id).Callees() {
		for in := range k.e.View(id).Instructions() {
			if in.Opcode() == hlo.OpRng {
				return true
			}
		}
	}
	return false
}

// take puts a branch in the place of the conditional.
func (k *conditional) take(branch int) error {
	in := k.c.At(k.id)
	callee, arg := in.Callee(branch), in.Operand(branch+1)
	if !k.ctx.SpendOn("branch", pass.Cost{Instructions: k.e.View(callee).NumInstructions()}) {
		return nil
	}
	k.ctx.Count("conditionals", 1)
	if c := in.Common(); c != nil {
		if v, _ := c.FrontendAttributes.Get("inlineable"); v == "false" {
			at := emit.Before(k.c, in)
			call := at.Spec(hlo.InstrSpec{Opcode: hlo.OpCall, Shape: in.Shape(), Operands: []hlo.InstrID{arg}, Callees: []hlo.CompID{callee}, Common: c})
			return k.c.ReplaceInstruction(k.id, call)
		}
	}
	root := InlineBefore(k.c, k.id, k.e.View(callee), []hlo.InstrID{arg})
	return k.c.ReplaceInstruction(k.id, root)
}

// own makes branch i a computation that only this conditional runs.
func (k *conditional) own(i int) hlo.CompEdit {
	in := k.c.At(k.id)
	id := in.Callee(i)
	n := 0
	for other := range in.Callees() {
		if other == id {
			n++
		}
	}
	if n == 1 && (id >= k.m.CompIDLimit() || calledOnce(k.m, id)) {
		return k.e.Computation(id)
	}
	id = CloneComputation(k.e, id)
	k.c.Instr(k.id).SetCallee(i, id)
	return k.e.Computation(id)
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
