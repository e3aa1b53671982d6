package simplify

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// TupleSimplifier removes tuples that are made only to be taken apart, and the other way round.
var TupleSimplifier = &pass.Pass{
	Name:  "tuple-simplifier",
	About: []hlo.Opcode{hlo.OpTuple, hlo.OpGetTupleElement},
	Doc: `forward tuple elements and drop tuples rebuilt from their own elements

	get-tuple-element(tuple(a, b), index=1)                       → b
	tuple(get-tuple-element(t), index=0, ..., index=n-1)          → t`,
	Lent: true, Local: func(ctx *pass.Context, _ hlo.Module, ce hlo.CompEdit) error {
		for in := range pass.Each(ce) {
			if op := in.Opcode(); op != hlo.OpTuple && op != hlo.OpGetTupleElement || ce.UserCount(in.ID()) == 0 && ce.Root() != in.ID() {
				continue
			}
			id := in.ID()
			to, rule := simplerTuple(ce, in)
			if rule == "" || !ctx.Spend(rule) {
				continue
			}
			ce.ReplaceAllUses(id, to)
			if ce.Root() == id {
				ce.SetRoot(to)
			}
			pass.Release(ce, id, nil)
			ctx.Count(rule, 1)
		}
		return nil
	},
}

// simplerTuple returns the value that in equals, and the rule that says so.
func simplerTuple(c hlo.CompEdit, in hlo.Instruction) (hlo.InstrID, string) {
	if in.NumControlPredecessors() > 0 {
		return 0, ""
	}
	switch in.Opcode() {
	case hlo.OpGetTupleElement:
		t := in.OperandInstr(0)
		if t.Opcode() != hlo.OpTuple {
			return 0, ""
		}
		element := t.Operand(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
		if element == in.ID() || !c.At(element).Shape().Equal(in.Shape()) {
			return 0, ""
		}
		return element, "element-of-tuple"
	case hlo.OpTuple:
		if source, ok := hlo.TupledAgain(in); ok && source.Shape().Equal(in.Shape()) {
			return source.ID(), "tuple-of-elements"
		}
	}
	return 0, ""
}
