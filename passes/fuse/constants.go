package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// ConstantSinking brings scalar constants into fusions.
var ConstantSinking = &pass.Pass{
	Name: "fusion-constant-sinking",
	Doc: `use scalar constants inside of the fusions that read them

A constant stays outside if it is the only operand of the fusion, or of one inside of it that reads it.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		order := slices.Collect(m.PostOrder())
		slices.Reverse(order) // outer fusions first: what they get, inner ones may get from them
		e := ctx.Edit(m)
		for _, c := range order {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpFusion {
					continue
				}
				if err := sinkConstants(ctx, e.Computation(c.ID()), in.ID()); err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	},
}

func sinkConstants(ctx *pass.Context, c hlo.CompEdit, fusion hlo.InstrID) error {
	for i := c.At(fusion).NumOperands() - 1; i >= 0; i-- {
		in := c.At(fusion)
		k := in.OperandInstr(i)
		inner := c.Editor().Computation(in.Callee(0))
		param := inner.View().Parameter(i)
		if k.Opcode() != hlo.OpConstant || !k.Shape().IsArray() || k.Shape().NumElements() != 1 || k.Literal() == nil || k.Literal().IsElided() || in.NumOperands() == 1 || param.IsRoot() ||
			slices.ContainsFunc(slices.Collect(param.Users()), func(u hlo.Instruction) bool {
				return u.Opcode() == hlo.OpFusion && u.NumOperands() == 1
			}) || !ctx.Spend("constant") {
			continue
		}
		p, id := param.ID(), k.ID()
		value := inner.InsertSpecBefore(p, hlo.InstrSpec{Opcode: hlo.OpConstant, Name: k.Name(), Shape: param.Shape(), Attrs: k.Attrs(), Position: k.Position()}).ID()
		inner.ReplaceAllUses(p, value)
		if err := inner.RemoveParameter(i); err != nil {
			return err
		}
		c.Instr(fusion).RemoveOperand(i)
		pass.Release(c, id, nil)
		ctx.Count("constants", 1)
	}
	return nil
}
