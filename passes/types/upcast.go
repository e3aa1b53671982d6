package types

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// OperandUpcaster gives contractions operands of the type of their result.
var OperandUpcaster = &pass.Pass{
	Name: "operand-upcaster",
	Doc:  "convert the operands of dot and convolution to the type of the result, where that is wider",
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if in.Opcode() != hlo.OpDot && in.Opcode() != hlo.OpConvolution {
				continue
			}
			t := in.Shape().Type()
			operands := slices.Collect(c.At(in.ID()).OperandIDs())
			at := emit.Before(c, in)
			changed := false
			for i, o := range operands {
				if from := at.Shape(o).Type(); from != t && widest(from, t) == t && ctx.Spend("operand") {
					operands[i], changed = at.Convert(o, t), true
				}
			}
			if changed {
				c.Instr(in.ID()).SetOperands(operands...)
				ctx.Count("ops", 1)
			}
		}
		return nil
	},
}

func widest(a, b hlo.PrimitiveType) hlo.PrimitiveType {
	if t, err := hlo.HigherPrecision(a, b); err == nil {
		return t
	}
	return hlo.InvalidType
}
