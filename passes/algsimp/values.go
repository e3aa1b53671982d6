package algsimp

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/hlo/scalar"
)

var valueRules = []*pass.RewriteRule{
	rule("G08", "sort of nothing, or along an axis of size 1 → operands", func(in hlo.Instruction) (pass.Expr, bool) {
		axis := int(hlo.AttrsOf[hlo.SortAttrs](in).Dimensions[0])
		x := in.OperandInstr(0)
		if !static(x) || x.Shape().Dim(axis) > 1 && x.Shape().NumElements() != 0 {
			return no()
		}
		if in.Shape().IsArray() {
			return use(x)
		}
		return tupleOf(in, func(i int) pass.Expr { return pass.Use(in.OperandInstr(i)) })
	}, hlo.OpSort),
	loosely(pass.NotANumber, rule("B22l", "divide by constants → multiply by their reciprocals", timesReciprocals, hlo.OpDivide)),
	rule("H24", "constant of several equal elements → broadcast of a scalar", func(in hlo.Instruction) (pass.Expr, bool) {
		l, ok := splat(in)
		if !ok || in.Shape().Rank() == 0 || !static(in) || in.Shape().NumElements() == 1 {
			return no()
		}
		return pass.Fill(in.Shape(), l), true
	}, hlo.OpConstant),
	rule("H25", "constant 0, k, 2k, … → iota · k; floats 0, 1, 2, … → iota", func(in hlo.Instruction) (pass.Expr, bool) {
		l, t := in.Literal(), in.Shape().Type()
		if l == nil || l.IsElided() || in.Shape().Rank() != 1 || in.Shape().Dim(0) < 2 || t.Bits() < 8 || !t.IsInteger() && !t.IsFloat() {
			return no()
		}
		width, n := t.ByteSize(), int(in.Shape().Dim(0))
		element := func(i int) (v uint64) {
			for b := range width {
				v |= uint64(l.Bytes()[i*width+b]) << (8 * b)
			}
			return v
		}
		step, mask := element(1), ^uint64(0)>>(64-8*width)
		for i := range n {
			want := uint64(i) * step & mask
			if t.IsFloat() {
				exact, ok := scalar.Of(t, float64(i))
				if !ok {
					return no()
				}
				want, _ = scalar.Bits(exact)
			}
			if element(i) != want {
				return no()
			}
		}
		iota := pass.New(hlo.OpIota, in.Shape(), &hlo.IotaAttrs{})
		switch {
		case t.IsFloat() || step == 1:
			return iota, true
		case step == 0:
			return no() // H24
		}
		return same(in, hlo.OpMultiply, iota, pass.Fill(in.Shape(), scalar.FromBits(t, step)))
	}, hlo.OpConstant),
	rule("H26", "iota along an axis of size 0 or 1 → 0", func(in hlo.Instruction) (pass.Expr, bool) {
		if !static(in) || in.Shape().Dim(int(hlo.AttrsOf[hlo.IotaAttrs](in).Dimension)) > 1 || in.Shape().Type().IsComplex() {
			return no()
		}
		return pass.Fill(in.Shape(), scalar.FromBits(in.Shape().Type(), 0)), true
	}, hlo.OpIota),
}

// timesReciprocals computes the reciprocals of a constant array; the rules B22 know those of a single number.
func timesReciprocals(in hlo.Instruction) (pass.Expr, bool) {
	x, c, t := in.OperandInstr(0), in.OperandInstr(1), in.Shape().Type()
	k := c
	if is(c, hlo.OpBroadcast) {
		k = c.OperandInstr(0)
	}
	if !isConstant(k) || isConstant(x) || k.Literal().IsElided() || c.Shape().Type() != t || !t.IsFloat() && !t.IsComplex() {
		return no()
	}
	one, ok := scalar.Of(t, 1)
	if !ok {
		return no()
	}
	b := hlo.NewBuilder("reciprocals")
	m, err := b.Build(b.Op(hlo.OpDivide, nil, b.Broadcast(b.Constant(one), nil, k.Shape().Dimensions()...), b.Constant(k.Literal())))
	if err != nil {
		return no()
	}
	l, ok := rules.Compute(m)
	if !ok {
		return no()
	}
	y := pass.Constant(l)
	if c.ID() != k.ID() {
		y = shaped(hlo.OpBroadcast, c.Shape(), c.Attrs(), y)
	}
	return same(in, hlo.OpMultiply, pass.Use(x), y)
}

// varianceRules know which result of which custom call is a variance.
func varianceRules(o *options) []*pass.RewriteRule {
	return []*pass.RewriteRule{
		over(rule("C01b", "abs of the variance that a batch normalisation computes → the variance", func(in hlo.Instruction) (pass.Expr, bool) {
			e := in.OperandInstr(0)
			if hlo.AttrsOf[hlo.TupleElementAttrs](e).Index != 2 || !is(e.OperandInstr(0), hlo.OpCustomCall) ||
				hlo.AttrsOf[hlo.CustomCallAttrs](e.OperandInstr(0)).Target != o.batchNorm {
				return no()
			}
			return use(e)
		}, hlo.OpAbs), []hlo.Opcode{hlo.OpGetTupleElement}),
	}
}
