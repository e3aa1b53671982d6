package types

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/passes/emit"
)

// apply gives the instructions of a computation the types that were decided, and puts conversions where an op does not take or make them itself.
func (p *propagation) apply(ctx *pass.Context, was hlo.Computation, c hlo.CompEdit) error {
	order := slices.Collect(was.Instructions())
	for i, in := range order {
		p.operands(c, in)
		s, some := p.decided(in)
		if !some {
			continue
		}
		ctx.Count("values", 1)
		if p.retypes(in) {
			c.Instr(in.ID()).SetShape(s)
			continue
		}
		next := emit.End(c)
		if i+1 < len(order) {
			next = emit.At{C: c, Before: order[i+1].ID()}
		}
		if common := in.Common(); common != nil && common.Metadata != nil {
			next.Common = &hlo.Common{Metadata: common.Metadata}
		}
		users, root := slices.Collect(c.Users(in.ID())), c.Root() == in.ID()
		converted, ok := hlo.NoInstr, false
		if l := in.Literal(); l != nil && !l.IsElided() && s.IsArray() {
			if l, ok = rules.Converted(l, s); ok {
				converted = next.Constant(l)
			}
		}
		if !ok {
			converted = next.OpOf(hlo.OpConvert, s, nil, in.ID())
		}
		for _, u := range users {
			for k, o := range slices.Collect(c.At(u).OperandIDs()) {
				if o == in.ID() {
					c.Instr(u).SetOperand(k, converted)
				}
			}
		}
		if root {
			c.SetRoot(converted)
		}
		if ok {
			pass.Release(c, in.ID(), nil)
		}
	}
	for _, in := range order {
		if err := p.withoutConvert(c, in); err != nil {
			return err
		}
	}
	return nil
}

// decided is the shape of an instruction's value as it was decided.
func (p *propagation) decided(in hlo.Instruction) (s hlo.Shape, some bool) {
	at, _ := p.places(in)
	s = in.Shape().Map(func(leaf hlo.Shape) hlo.Shape {
		narrow := leaf.IsArray() && leaf.Type() == p.high && p.narrow(at)
		at++
		if narrow {
			some = true
			return leaf.WithType(p.low)
		}
		return leaf
	})
	return s, some
}

// retypes reports whether in returns the narrow type itself: what hands a value on, an op all of whose wide operands become narrow, and one that takes both types.
func (p *propagation) retypes(in hlo.Instruction) bool {
	switch {
	case callsThrough(in) || forwards(in) || in.Opcode() == hlo.OpParameter:
		return true
	case in.Opcode() == hlo.OpConstant || in.NumOperands() == 0:
		return false
	case p.mixes(in):
		return true
	case in.NumCallees() > 0:
		return false
	}
	some := false
	for i := range in.NumOperands() {
		o := in.OperandInstr(i)
		if !o.Shape().IsArray() || o.Shape().Type() != p.high {
			continue
		}
		if at, _ := p.places(o); !p.narrow(at) || !p.handsDown(in, i) {
			return false
		}
		some = true
	}
	return some
}

func (p *propagation) mixes(in hlo.Instruction) bool {
	return p.mixed.has(in.Opcode()) && p.output.has(in.Opcode()) && p.operand.has(in.Opcode())
}

// operands converts the operands of in that are not of the type that it takes.
func (p *propagation) operands(c hlo.CompEdit, in hlo.Instruction) {
	if in.Opcode() == hlo.OpTuple {
		at, _ := p.places(in)
		for i := range in.NumOperands() {
			o := c.At(in.ID()).OperandInstr(i)
			if o.Shape().IsArray() && o.Shape().Type() == p.high && p.narrow(at) {
				c.Instr(in.ID()).SetOperand(i, emit.Before(c, in).Convert(o.ID(), p.low))
			}
			at += int32(in.OperandInstr(i).Shape().NumLeaves())
		}
		return
	}
	if s, some := p.decided(in); in.Opcode() == hlo.OpWhile && some && p.convertible(in.OperandInstr(0)) {
		p.initial(c, in, s)
	}
	if callsThrough(in) || forwards(in) || in.Opcode() == hlo.OpConvert || p.mixes(in) {
		return
	}
	_, result := p.decided(in)
	if result && p.retypes(in) {
		return
	}
	if p.roundsOperands(in) && p.allNarrowOperands(in) {
		return
	}
	for i := range in.NumOperands() {
		o := in.OperandInstr(i)
		if at, _ := p.places(o); o.Shape().IsArray() && o.Shape().Type() == p.high && p.narrow(at) {
			c.Instr(in.ID()).SetOperand(i, emit.Before(c, in).Convert(c.At(in.ID()).Operand(i), p.high))
		}
	}
}

// initial converts the state with which a loop begins.
func (p *propagation) initial(c hlo.CompEdit, while hlo.Instruction, s hlo.Shape) {
	at, init := emit.Before(c, while), while.Operand(0)
	if !s.IsTuple() {
		c.Instr(while.ID()).SetOperands(at.Convert(init, p.low))
		return
	}
	parts := make([]hlo.InstrID, s.NumElems())
	for i, e := range s.Elems() {
		parts[i] = at.Element(init, i)
		if e.IsArray() {
			parts[i] = at.Convert(parts[i], e.Type())
		}
	}
	c.Instr(while.ID()).SetOperands(at.Tuple(parts...))
}

// allNarrowOperands reports whether all wide operands of in become narrow.
func (p *propagation) allNarrowOperands(in hlo.Instruction) bool {
	for o := range in.Operands() {
		if at, _ := p.places(o); o.Shape().IsArray() && o.Shape().Type() == p.high && !p.narrow(at) {
			return false
		}
	}
	return true
}

// withoutConvert removes a conversion whose operand has its type now. The element of a tuple that is made on the spot is the value itself.
func (p *propagation) withoutConvert(c hlo.CompEdit, in hlo.Instruction) error {
	if in.Opcode() != hlo.OpConvert || in.Shape().Type() != p.low {
		return nil
	}
	x := c.At(in.ID()).OperandInstr(0)
	if at, _ := p.places(in.OperandInstr(0)); in.OperandInstr(0).Shape().Type() != p.high || !p.narrow(at) || !x.Shape().EqualIgnoringLayout(in.Shape()) {
		return nil
	}
	by := x.ID()
	if x.Opcode() == hlo.OpGetTupleElement && x.OperandInstr(0).Opcode() == hlo.OpTuple {
		by = x.OperandInstr(0).Operand(int(hlo.AttrsOf[hlo.TupleElementAttrs](x).Index))
	}
	return emit.Forward(c, in.ID(), by)
}
