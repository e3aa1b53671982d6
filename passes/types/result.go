package types

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ResultCaster gives contractions a result of the type of their operands.
var ResultCaster = &pass.Pass{
	Name: "result-caster",
	Doc: `compute dot and convolution in the type of the operands, where that of the result is narrower, and convert the result

The sum is rounded twice then: to the type of the operands, and to that of the result.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if in.Opcode() != hlo.OpDot && in.Opcode() != hlo.OpConvolution || !in.Shape().IsArray() {
				continue
			}
			t, own := widest(in.OperandInstr(0).Shape().Type(), in.OperandInstr(1).Shape().Type()), in.Shape().Type()
			if t == hlo.InvalidType || t == own || widest(t, own) != t || !t.IsInteger() && !t.IsFloat() && !t.IsComplex() {
				continue
			}
			class := pass.Exact // integers wrap around, whatever their size
			if !t.IsInteger() || !own.IsInteger() {
				class = pass.Rounding
			}
			if !ctx.SpendUnder(pass.FastMath, "result", class) {
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

// resultIn makes an instruction again with a result of another type, which is converted.
func resultIn(c hlo.CompEdit, id hlo.InstrID, t hlo.PrimitiveType) error {
	in := c.At(id) // as it is now: an operand may have been made again
	own, at, spec := in.Shape().Type(), emit.Before(c, in), emit.Again(in)
	spec.Name, spec.Shape, spec.Control = "", in.Shape().WithType(t), nil
	return emit.Replace(c, id, at.Convert(at.Spec(spec), own))
}
