package main

import (
	"errors"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/difftest"
)

// class is a way in which XLA:CPU is known to differ from the meaning of HLO, or from another that HLO allows.
type class struct {
	name string
	// op reports whether an instruction is computed in another way; the differing result has to depend on one.
	op func(in hlo.Instruction) bool
}

var classes = []class{
	// XLA's simplifier takes the initial value of a reduction for neutral when it makes a reshape of a reduction of one element, or several
	// reductions of one of a concatenation.
	{"reduction from a value that is not neutral", func(in hlo.Instruction) bool {
		if in.Opcode() != hlo.OpReduce {
			return false
		}
		x := in.OperandInstr(0)
		return value(x).Opcode() == hlo.OpConcatenate || x.Shape().NumElements() == leaf(in.Shape()).NumElements()
	}},
	// HLO's quotient by zero has all bits set; XLA's simplifier makes x/x one.
	{"integer divided by itself", func(in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpDivide && in.Shape().Type().IsInteger() && value(in.OperandInstr(0)) == value(in.OperandInstr(1))
	}},
	// Which of several equal elements a window selects is not defined.
	{"ties in select-and-scatter", func(in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpSelectAndScatter
	}},
	// Which NaN an operation makes is not defined.
	{"bits of a NaN", func(in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpBitcastConvert && in.OperandInstr(0).Shape().Type().IsFloat()
	}},
}

// classify is the name of a class that explains a difference, or "".
func classify(m hlo.Module, o difftest.Outcome) string {
	switch {
	case errors.Is(o.Err, errDied):
		return "XLA ends the process"
	case o.Verdict == difftest.RunFails && errors.As(o.Err, new(refusal)):
		return "refused by XLA"
	}
	for in := range sources(m, o.Leaf) {
		for _, c := range classes {
			if c.op(in) {
				return c.name
			}
		}
	}
	return ""
}

// value is the instruction that makes an instruction's value, behind copies, tuples and loops; the latter as if they did not change it.
func value(in hlo.Instruction) hlo.Instruction {
	switch in.Opcode() {
	case hlo.OpCopy:
		return value(in.OperandInstr(0))
	case hlo.OpGetTupleElement:
		tuple := in.OperandInstr(0)
		if tuple.Opcode() == hlo.OpWhile {
			tuple = value(tuple.OperandInstr(0))
		}
		if tuple.Opcode() == hlo.OpTuple {
			return value(tuple.OperandInstr(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)))
		}
	}
	return in
}

// leaf is the first array of a shape.
func leaf(s hlo.Shape) hlo.Shape {
	for s.IsTuple() && s.NumElems() > 0 {
		s = s.Elem(0)
	}
	return s
}

// sources are the instructions that a leaf of a module's result depends on, those of called computations included.
func sources(m hlo.Module, leaf int) map[hlo.Instruction]bool {
	seen := make(map[hlo.Instruction]bool)
	var visit func(in hlo.Instruction)
	visit = func(in hlo.Instruction) {
		if seen[in] {
			return
		}
		seen[in] = true
		for operand := range in.Operands() {
			visit(operand)
		}
		for id := range in.Callees() {
			if c, ok := m.Computation(id); ok {
				visit(c.Root())
			}
		}
	}
	root := m.Entry().Root()
	if root.Opcode() != hlo.OpTuple {
		visit(root)
		return seen
	}
	for operand := range root.Operands() {
		if leaf -= operand.Shape().NumLeaves(); leaf < 0 {
			visit(operand)
			break
		}
	}
	return seen
}
