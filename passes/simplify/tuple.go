package simplify

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// TupleSimplifier removes tuples that are made only to be taken apart, and the other way round.
var TupleSimplifier = tupleSimplifier(false)

// NewTupleSimplifier makes the pass tuple-simplifier.
func NewTupleSimplifier(o pass.Options) (*pass.Pass, error) {
	const key = "exclude-entry-computation"
	if err := o.Known(key); err != nil {
		return nil, err
	}
	skips, err := o.Bool(key)
	if err != nil {
		return nil, err
	}
	p := tupleSimplifier(skips)
	p.Options, p.Params = o, []pass.Param{{Name: key, Doc: "leave the entry computation as it is; false"}}
	return p, nil
}

const tupleDoc = `forward tuple elements and drop tuples rebuilt from their own elements

	get-tuple-element(tuple(a, b), index=1)                       → b
	tuple(get-tuple-element(t), index=0, ..., index=n-1)          → t

The operands that are taken out of the state of an asynchronous chain are those of its start and updates.`

func tupleSimplifier(skipsEntry bool) *pass.Pass {
	about := []hlo.Opcode{hlo.OpTuple, hlo.OpGetTupleElement}
	return &pass.Pass{Name: "tuple-simplifier", About: about, Doc: tupleDoc, Lent: true, Local: func(ctx *pass.Context, m hlo.Module, ce hlo.CompEdit) error {
		if skipsEntry && ce.ID() == m.Entry().ID() {
			return nil
		}
		for in := range pass.EachOf(ce, hlo.OpTuple, hlo.OpGetTupleElement) {
			if ce.UserCount(in.ID()) == 0 && ce.Root() != in.ID() {
				continue
			}
			id := in.ID()
			to, rule := simplerTuple(ce, in)
			if rule == "" || otherSharding(in, ce.At(to)) || ce.Root() == id && ce.ID() != ce.Editor().Entry() && !emit.KeepsResultSharding(in, ce.At(to)) || !ctx.Spend(rule) {
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
	}}
}

// otherSharding reports whether two instructions for one value say that it lies on the devices in different ways: one of them moves it there.
func otherSharding(a, b hlo.Instruction) bool {
	x, y := a.Common(), b.Common()
	return x != nil && y != nil && x.Sharding != nil && y.Sharding != nil && !hlo.EqualAttr(x.Sharding, y.Sharding)
}

// simplerTuple returns the value that in equals, and the rule that says so.
func simplerTuple(c hlo.CompEdit, in hlo.Instruction) (hlo.InstrID, string) {
	if in.NumControlPredecessors() > 0 {
		return 0, ""
	}
	switch in.Opcode() {
	case hlo.OpGetTupleElement:
		t := in.OperandInstr(0)
		if id, ok := boundOperand(t, int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)); ok && c.At(id).Shape().Equal(in.Shape()) {
			return id, "operand-of-chain"
		}
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

// boundOperand finds operand i of a chain, if in is element 0 of its state.
func boundOperand(in hlo.Instruction, i int) (hlo.InstrID, bool) {
	if in.Opcode() != hlo.OpGetTupleElement || hlo.AttrsOf[hlo.TupleElementAttrs](in).Index != 0 {
		return 0, false
	}
	for step := in.OperandInstr(0); ; step = step.OperandInstr(0) {
		//halo:allow opswitch the steps of a chain, and what hands one on
		switch step.Opcode() {
		case hlo.OpCopy:
			continue
		case hlo.OpAsyncStart:
			if i >= step.NumOperands() {
				return 0, false
			}
			return step.Operand(i), true
		case hlo.OpAsyncUpdate:
			before := step.OperandInstr(0).Shape()
			if !before.IsTuple() || before.NumElems() == 0 || !before.Elem(0).IsTuple() {
				return 0, false
			}
			if n := before.Elem(0).NumElems(); i >= n {
				if k := 1 + i - n; k < step.NumOperands() {
					return step.Operand(k), true
				}
				return 0, false
			}
		default:
			return 0, false
		}
	}
}
