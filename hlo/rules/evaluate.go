package rules

import (
	"context"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/scalar"
)

// literal computes an evaluated node: a number that the rule knows when it fires.
func (n *node) literal(t hlo.PrimitiveType, b *bindings) (*hlo.Literal, bool) {
	switch {
	case n.slot >= 0:
		return match.SplatValue(b.values[n.slot])
	case n.number != nil:
		return scalar.Of(t, *n.number)
	}
	args := make([]*hlo.Literal, len(n.args))
	for _, numbers := range []bool{false, true} { // numbers take the type of their neighbours
		for i, a := range n.args {
			if (a.number != nil) != numbers {
				continue
			}
			var ok bool
			if args[i], ok = a.literal(t, b); !ok {
				return nil, false
			}
			t = args[i].Shape().Type()
		}
	}
	attrs, ok := n.attrs(n.opcode(b), b)
	if !ok || n.attrOf == typeAttr {
		return nil, false
	}
	return Evaluate(n.opcode(b), attrs, args...)
}

// Evaluate computes an op on literals.
func Evaluate(op hlo.Opcode, attrs hlo.OpAttrs, args ...*hlo.Literal) (*hlo.Literal, bool) {
	b := hlo.NewBuilder("evaluate")
	values := make([]hlo.Value, len(args))
	for i, l := range args {
		values[i] = b.Constant(l)
	}
	m, err := b.Build(b.Op(op, attrs, values...))
	if err != nil {
		return nil, false
	}
	l, err := eval.Instruction(context.Background(), m, m.Entry().Root(), args)
	return l, err == nil
}

// Converted is a literal in the type and layout of a shape, rounded as convert rounds.
func Converted(l *hlo.Literal, s hlo.Shape) (*hlo.Literal, bool) {
	b := hlo.NewBuilder("convert")
	m, err := b.Build(b.Convert(b.Constant(l), s.Type()))
	if err != nil {
		return nil, false
	}
	v, ok := Compute(m)
	if !ok {
		return nil, false
	}
	v, err = v.WithShape(s)
	return v, err == nil
}

// Compute is the value of a small module without parameters.
func Compute(m hlo.Module) (*hlo.Literal, bool) {
	l, err := eval.Module(context.Background(), m, nil, eval.Options{MaxSteps: 1000, MaxBytes: 1 << 20})
	return l, err == nil
}
