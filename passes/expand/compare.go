package expand

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Comparison compares floating-point numbers in the total order as integers.
var Comparison = expander("comparison-expander", `compare, type=TOTALORDER of floating-point numbers → compare of integers in the same order

The bits of a number, read as a signed integer, have its order where the sign is plus. Where it is minus, the greatest integer less the bits has: -NaN comes first, -0 before 0, NaN last.`,
	func(in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpCompare && hlo.AttrsOf[hlo.CompareAttrs](in).Type == hlo.CompareTotalOrder && in.OperandInstr(0).Shape().Type().IsFloat() &&
			hasInteger(in.OperandInstr(0).Shape().Type()) && in.OperandInstr(0).Shape().IsStatic()
	},
	func(at emit.At, in hlo.Instruction) hlo.InstrID {
		l, r, d := in.Operand(0), in.Operand(1), hlo.AttrsOf[hlo.CompareAttrs](in).Direction
		return at.Compare(d, inOrder(at, l), inOrder(at, r))
	})

// signed are the signed integers by their bits.
var signed = map[int]hlo.PrimitiveType{16: hlo.S16, 32: hlo.S32, 64: hlo.S64}

// hasInteger reports whether the bits of a type, read as a signed integer, are ordered: narrow formats have zeros and NaNs of their own.
func hasInteger(t hlo.PrimitiveType) bool { return signed[t.Bits()] != 0 }

// inOrder is integers in the order of floating-point numbers.
func inOrder(at emit.At, x hlo.InstrID) hlo.InstrID {
	s := at.Shape(x)
	t := signed[s.Type().Bits()]
	bits := at.OpOf(hlo.OpBitcastConvert, s.WithType(t), nil, x)
	dims := s.Dimensions()
	zero, most := at.Fill(at.Int(t, 0), dims...), at.Fill(at.Constant(emit.Highest(t)), dims...)
	return at.Select(at.Compare(hlo.LT, bits, zero), at.Binary(hlo.OpSubtract, most, bits), bits)
}

// RealImag drops the parts of numbers that have one only.
var RealImag = &pass.Pass{
	Name: "real-imag-expander",
	Doc: `real and imag of numbers that are not complex → the numbers, and zeros

An array of bounded size keeps its imag: zeros in its place would lose the size.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for _, in := range backward(m.MustComputation(c.ID())) {
			if !c.Has(in.ID()) || in.Opcode() != hlo.OpReal && in.Opcode() != hlo.OpImag || in.OperandInstr(0).Shape().Type().IsComplex() ||
				in.Opcode() == hlo.OpImag && !in.Shape().IsStatic() || in.Opcode() == hlo.OpReal && !in.Shape().Equal(in.OperandInstr(0).Shape()) || !ctx.Spend("part") {
				continue
			}
			var err error
			if in.Opcode() == hlo.OpReal {
				err = emit.Forward(c, in.ID(), in.Operand(0))
			} else {
				at := emit.Before(c, in)
				err = emit.Replace(c, in.ID(), at.Fill(at.Constant(emit.Zero(in.Shape().Type())), in.Shape().Dimensions()...))
			}
			if err != nil {
				return err
			}
			ctx.Count("expanded", 1)
		}
		return nil
	},
}
