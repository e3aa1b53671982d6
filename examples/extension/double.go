package main

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// DoubleToAdd replaces products by two, see docs/passes.md.
var DoubleToAdd = &pass.Pass{
	Name: "double-to-add",
	Doc:  "x · 2 → x + x, for scalar integers",
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpMultiply || in.OperandInstr(1).Literal() == nil {
					continue
				}
				two, ok := in.OperandInstr(1).Literal().ScalarInt()
				if !ok || two != 2 || !ctx.Spend("double") {
					continue
				}
				ce, x := e.Computation(c.ID()), in.Operand(0)
				sum := ce.InsertBefore(in.ID(), hlo.OpAdd, in.Shape(), x, x)
				if err := ce.ReplaceInstruction(in.ID(), sum.ID()); err != nil {
					return m, err
				}
				ctx.Count("doubled", 1)
			}
		}
		return e.Freeze(), nil
	},
}
