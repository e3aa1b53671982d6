package hlo_test

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// A pass in small: read the frozen module, edit through a session, publish. The two versions share all that was not touched.
func ExampleModule_Edit() {
	s := hlo.MakeShape(hlo.F32, 4)
	build := hlo.NewModule("double_negate")
	b := build.NewComputation("main")
	p := b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "p", Shape: s, Attrs: &hlo.ParameterAttrs{Number: 0}})
	n := b.Append(hlo.InstrSpec{Opcode: hlo.OpNegate, Shape: s, Operands: []hlo.InstrID{p}})
	b.Append(hlo.InstrSpec{Opcode: hlo.OpNegate, Shape: s, Operands: []hlo.InstrID{n}})
	main := b.Finish(hlo.NoInstr) // the last instruction is the root
	build.SetEntry(main)
	m := build.Freeze()

	e := m.Edit()
	c := e.Computation(main)
	for in := range m.Entry().Instructions() {
		if in.Opcode() != hlo.OpNegate {
			continue
		}
		if arg := in.OperandInstr(0); arg.Opcode() == hlo.OpNegate {
			c.ReplaceAllUses(in.ID(), arg.Operand(0))
			if err := c.Remove(in.ID()); err != nil {
				fmt.Println(err)
			}
		}
	}
	m2 := e.Freeze()

	fmt.Println("changed:", m2 != m)
	for ch := range m2.Diff(m) {
		switch ch.Kind {
		case hlo.InstructionRemoved:
			fmt.Println(ch.Kind, ch.OldInstr.Name())
		default:
			fmt.Println(ch.Kind, ch.NewComp.Name())
		}
	}
	fmt.Println("root:", m.Entry().Root().Name(), "->", m2.Entry().Root().Name())

	// Output:
	// changed: true
	// computation changed main
	// instruction removed negate.1
	// root: negate.1 -> p
}
