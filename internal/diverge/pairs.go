package diverge

import (
	"context"
	"fmt"
	"slices"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/moddiff"
)

// pairNames pairs the instructions of two programs as halo diff does: of each instruction of b that has a partner, the partner's name.
func pairNames(a, b hlo.Module) map[string]string {
	names := map[string]string{}
	d := moddiff.Find(a, b)
	for _, p := range d.Pairs {
		ca, cb := a.MustComputation(p.Old), b.MustComputation(p.New)
		for to, from := range p.Same {
			names[cb.MustAt(to).Name()] = ca.MustAt(from).Name()
		}
	}
	for _, c := range d.Changes {
		if !c.Old.IsZero() && !c.New.IsZero() {
			names[c.New.Name()] = c.Old.Name()
		}
	}
	return names
}

// partner is what a value of b is called in a.
func (c *Config) partner(name string) (string, bool) {
	if c.names == nil {
		return name, true
	}
	to, ok := c.names[name]
	return to, ok
}

// comparable reports whether two arrays have the same dimensions. Of two programs, types may differ.
func (c *Config) comparable(got, want hlo.Shape) bool {
	if c.names == nil {
		return got.Compatible(want)
	}
	return got.IsArray() && want.IsArray() && slices.Equal(got.Dimensions(), want.Dimensions())
}

// argumentsFor are the arguments of a, as b takes them.
func argumentsFor(ctx context.Context, b hlo.Module, args []*hlo.Literal) ([]*hlo.Literal, error) {
	entry := b.Entry()
	if entry.NumParameters() != len(args) {
		return nil, fmt.Errorf("a has %d parameters, and b has %d", len(args), entry.NumParameters())
	}
	out := make([]*hlo.Literal, len(args))
	for i, l := range args {
		var err error
		if out[i], err = converted(ctx, l, entry.Parameter(i).Shape()); err != nil {
			return nil, fmt.Errorf("parameter %d: %w", i, err)
		}
	}
	return out, nil
}

// converted is a value in the types of a shape.
func converted(ctx context.Context, l *hlo.Literal, s hlo.Shape) (*hlo.Literal, error) {
	if l.Shape().Compatible(s) {
		return l, nil
	}
	if s.IsTuple() && l.Shape().IsTuple() && s.NumElems() == l.Shape().NumElems() {
		parts := make([]*hlo.Literal, s.NumElems())
		for i := range parts {
			var err error
			if parts[i], err = converted(ctx, l.Part(i), s.Elem(i)); err != nil {
				return nil, err
			}
		}
		return hlo.NewTupleLiteral(parts...), nil
	}
	if !s.IsArray() || !l.Shape().IsArray() || !slices.Equal(s.Dimensions(), l.Shape().Dimensions()) {
		return nil, fmt.Errorf("it is %v in a and %v in b", l.Shape().WithoutLayout(), s.WithoutLayout())
	}
	m, err := parser.Parse("convert", fmt.Sprintf("HloModule convert\nENTRY e {\n  p = %v parameter(0)\n  ROOT c = %v convert(p)\n}", l.Shape().WithoutLayout(), s.WithoutLayout()))
	if err != nil {
		return nil, err
	}
	return eval.Prepare(m, m.Entry().Root()).Eval(ctx, eval.On{}, []*hlo.Literal{l})
}

// maxLocal bounds the departing values of which it is asked whether they depart by themselves.
const maxLocal = 256

// blame goes on from the first departure, and looks for the first value of b that departs even if it is computed of the operands that a has: those before
// only hand on what has built up. It sets the operands of the departure that it returns.
func blame(ctx context.Context, a, b *observation, m hlo.Module, first *Departure, cfg *Config) *Departure {
	tried := 0
	for i := range b.values {
		v := &b.values[i]
		d := departure(a, v, cfg)
		if d == nil {
			continue
		}
		if tried++; tried > maxLocal {
			break
		}
		d.Operands, d.Unpaired = operandsOf(ctx, a, v, cfg)
		if d.Operands == nil {
			if first.Instruction == d.Instruction && first.Execution == d.Execution {
				return d // what it reads has no counterpart: the difference is there
			}
			continue
		}
		l, err := eval.Prepare(m, v.in).Eval(ctx, eval.On{}, d.Operands)
		if err != nil {
			return d
		}
		leaves := l.Leaves()
		if d.Leaf >= len(leaves) {
			continue
		}
		if local := cfg.compare(leaves[d.Leaf], d.Want); local.Bad > 0 {
			d.Local = &local
			return d
		}
	}
	first.Inherited = true
	for i := range b.values {
		if v := &b.values[i]; v.in == first.Instruction && v.execution == first.Execution {
			first.Operands, first.Unpaired = operandsOf(ctx, a, v, cfg)
		}
	}
	return first
}

// operandsOf are the values that a has for the operands of an instruction of b, in the types of b; nil with the names of those that a does not have.
func operandsOf(ctx context.Context, a *observation, v *value, cfg *Config) (list []*hlo.Literal, unpaired []string) {
	for o := range v.in.Operands() {
		var l *hlo.Literal
		if o.Opcode() == hlo.OpConstant { // a part of b, and maybe what differs
			l = o.Literal()
		} else if name, ok := cfg.partner(o.Name()); ok {
			l = a.at(valueKey{name, v.execution})
		}
		if l != nil {
			l, _ = converted(ctx, l, o.Shape())
		}
		if l == nil {
			unpaired = append(unpaired, o.Name())
			continue
		}
		list = append(list, l)
	}
	if unpaired != nil {
		return nil, unpaired
	}
	return list, nil
}

// compare measures with the tolerance of the coarser of both types.
func (c *Config) compare(got, want *hlo.Literal) arrays.Difference {
	rtol, atol := 0.0, 0.0
	for _, t := range []hlo.PrimitiveType{got.Shape().Type(), want.Shape().Type()} {
		r := arrays.Tolerance(t)
		a := r
		if c.Tolerance != nil {
			r, a = c.Tolerance(t)
		}
		rtol, atol = max(rtol, r), max(atol, a)
	}
	return arrays.CompareExactly(got, want, rtol, atol, c.Exactness)
}
