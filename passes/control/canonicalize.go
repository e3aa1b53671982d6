package control

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ConditionalCanonicalizer makes branches functions from tuple to tuple.
var ConditionalCanonicalizer = &pass.Pass{
	Name: "conditional-canonicalizer",
	Doc: `make the arguments and results of branches tuples

Other passes then add to and take from them without looking at single values. A branch that something else runs, too, is cloned first.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpConditional || !ctx.Spend("conditional") {
					continue
				}
				changed, err := tupled(e, e.Computation(c.ID()), m, in)
				if err != nil {
					return m, err
				}
				if changed {
					ctx.Count("conditionals", 1)
				}
			}
		}
		return e.Freeze(), nil
	},
}

// tupled gives one conditional tuples.
func tupled(e *hlo.Editor, c hlo.CompEdit, m hlo.Module, in hlo.Instruction) (changed bool, err error) {
	result := in.Shape()
	seen := map[hlo.CompID]bool{}
	for i := range in.NumCallees() {
		arg := c.At(in.ID()).OperandInstr(i + 1)
		argID, argShape := arg.ID(), arg.Shape()
		if argShape.IsTuple() && result.IsTuple() {
			continue
		}
		changed = true
		id := in.Callee(i)
		if !calledOnce(m, id) || seen[id] {
			id = CloneComputation(e, id)
			c.Instr(in.ID()).SetCallee(i, id)
		}
		seen[id] = true
		branch := e.Computation(id)
		if s := argShape; !s.IsTuple() {
			tuple := emit.At{C: c, Before: in.ID()}.Tuple(argID)
			c.Instr(in.ID()).SetOperand(i+1, tuple)
			p := branch.View().Parameters()[0]
			branch.Instr(p).SetShape(hlo.MakeTuple(s)).SetCommon(emit.TupledOrigin(branch.At(p).Common()))
			element := emit.At{C: branch, Before: afterParameters(branch)}.Element(p, 0)
			branch.ReplaceAllUses(p, element)
			branch.Instr(element).SetOperands(p)
			emit.Reorder(branch)
		}
		if !result.IsTuple() {
			branch.SetRoot(emit.End(branch).Tuple(branch.Root()))
		}
	}
	if changed && !result.IsTuple() {
		at := emit.Before(c, in)
		spec := emit.Again(c.At(in.ID()))
		spec.Shape, spec.Common = hlo.MakeTuple(result), emit.TupledOrigin(spec.Common)
		err = c.ReplaceInstruction(in.ID(), at.Element(at.Spec(spec), 0))
	}
	return changed, err
}

// afterParameters is the first instruction that is no parameter, or NoInstr.
func afterParameters(c hlo.CompEdit) hlo.InstrID {
	for in := range c.View().Instructions() {
		if in.Opcode() != hlo.OpParameter {
			return in.ID()
		}
	}
	return hlo.NoInstr
}
