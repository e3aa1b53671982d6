package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// ConstantSplitter gives every user of a constant one of its own.
var ConstantSplitter = &pass.Pass{
	Name: "spmd-constant-splitter",
	Doc: `give every user of a constant one of its own

One constant, or one broadcast of it, may begin arrays that are split in different ways. Copies cost nothing on a device, and do not tie the
shardings of their users together.`,
	Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		for _, in := range slices.Collect(c.View().Instructions()) {
			if !isMade(in) || in.IsRoot() {
				continue
			}
			users := slices.Collect(c.Users(in.ID()))
			first := true
			for _, u := range users {
				for i := range c.At(u).NumOperands() {
					if c.At(u).Operand(i) != in.ID() {
						continue
					}
					if first {
						first = false
						continue
					}
					if !ctx.Spend("split") {
						return nil
					}
					c.Instr(u).SetOperand(i, copyMade(c, in, u))
					ctx.Count("copies", 1)
				}
			}
		}
		return nil
	},
}

// isMade reports whether an array is made of nothing: a constant, an iota, or a broadcast of a scalar constant.
func isMade(in hlo.Instruction) bool {
	switch in.Opcode() {
	case hlo.OpConstant, hlo.OpIota:
		return in.Shape().Rank() > 0
	case hlo.OpBroadcast:
		return in.OperandInstr(0).Opcode() == hlo.OpConstant && in.OperandInstr(0).Shape().IsScalar()
	}
	return false
}

// copyMade makes such an array again, in front of a user.
func copyMade(c hlo.CompEdit, in hlo.Instruction, at hlo.InstrID) hlo.InstrID {
	spec := hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Attrs: in.Attrs(), Common: in.Common(), Position: in.Position()}
	for id := range in.OperandIDs() {
		spec.Operands = append(spec.Operands, id)
	}
	return c.InsertSpecBefore(at, spec).ID()
}
