package algsimp

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

var valueRules = []*pass.RewriteRule{
	rule("G08", "sort along an axis of size 0 or 1 → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		axis := int(hlo.AttrsOf[hlo.SortAttrs](in).Dimensions[0])
		if in.NumOperands() != 1 || !static(in) || in.Shape().Dim(axis) > 1 {
			return no()
		}
		return use(in.OperandInstr(0))
	}, hlo.OpSort),
	rule("H24", "constant of several equal elements → broadcast of a scalar", func(in hlo.Instruction) (pass.Expr, bool) {
		l, ok := splat(in)
		if !ok || in.Shape().Rank() == 0 || !static(in) || in.Shape().NumElements() == 1 {
			return no()
		}
		return pass.Fill(in.Shape(), l), true
	}, hlo.OpConstant),
	rule("H25", "constant 0, k, 2k, … → iota · k", func(in hlo.Instruction) (pass.Expr, bool) {
		l, t := in.Literal(), in.Shape().Type()
		if l == nil || l.IsElided() || in.Shape().Rank() != 1 || in.Shape().Dim(0) < 2 || !t.IsInteger() || t.Bits() < 8 {
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
			if element(i) != uint64(i)*step&mask {
				return no()
			}
		}
		iota := pass.New(hlo.OpIota, in.Shape(), &hlo.IotaAttrs{})
		switch step {
		case 0:
			return no() // H24
		case 1:
			return iota, true
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
