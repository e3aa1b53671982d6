package types

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// ConvolutionTypeCanonicalizer computes contractions of floats in floats.
var ConvolutionTypeCanonicalizer = &pass.Pass{
	Name: "convolution-type-canonicalizer",
	Doc: `compute contractions of floating-point numbers that return integers in f32, and convert the result

If an operand is f64, it is f64. As the op is written, each operand would be truncated to an integer before it is multiplied.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if hlo.Info(in.Opcode()).Work != hlo.WorkContraction || !in.Shape().Type().IsInteger() {
				continue
			}
			t, isFloat := hlo.F32, false
			for o := range in.Operands() {
				if from := o.Shape().Type(); from.IsFloat() {
					isFloat = true
					if from == hlo.F64 {
						t = from
					}
				}
			}
			if !isFloat || !ctx.SpendUnder(pass.FastMath, "result", pass.FastMath) {
				continue
			}
			if err := resultIn(c, in.ID(), t); err != nil {
				return err
			}
			ctx.Count("ops", 1)
		}
		return nil
	},
}
