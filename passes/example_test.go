package passes_test

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// DoubleToAdd is the pass of docs/passes.md, which quotes it.
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

func Example_yourOwn() {
	m, err := parser.Parse("double.hlo", `HloModule double

ENTRY main {
  x = s32[] parameter(0)
  two = s32[] constant(2)
  ROOT y = s32[] multiply(x, two)
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	check := func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{}).Err() }
	runner := &pass.Runner{Check: check}
	after, err := runner.Run(context.Background(), pass.Of("mine", DoubleToAdd), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(printer.String(after))
	// Output:
	// HloModule double, entry_computation_layout={(s32[])->s32[]}
	//
	// ENTRY %main (x: s32[]) -> s32[] {
	//   %two = s32[] constant(2)
	//   %x = s32[] parameter(0)
	//   ROOT %add = s32[] add(%x, %x)
	// }
}
