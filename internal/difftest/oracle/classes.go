package main

import (
	"errors"
	"math"
	"regexp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/difftest"
)

// class is a way in which XLA:CPU is known to differ from the meaning of HLO, or from another that HLO allows.
type class struct {
	name string
	// op reports whether an instruction is computed in another way; the differing result has to depend on one.
	op func(m hlo.Module, in hlo.Instruction) bool
}

var classes = []class{
	// XLA's simplifier takes the initial value of a reduction for neutral when it makes a reshape of a reduction of one element, several
	// reductions of one of a concatenation, or one of two reductions.
	{"reduction from a value that is not neutral", func(m hlo.Module, in hlo.Instruction) bool {
		if in.Opcode() != hlo.OpReduce {
			return false
		}
		x := in.OperandInstr(0)
		made := value(m, x).Opcode()
		return made == hlo.OpConcatenate || made == hlo.OpReduce || x.Shape().NumElements() == leaf(in.Shape()).NumElements()
	}},
	// HLO's quotient by zero has all bits set; XLA's simplifier makes x/x one.
	{"integer divided by itself", func(m hlo.Module, in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpDivide && in.Shape().Type().IsInteger() && same(m, in.OperandInstr(0), in.OperandInstr(1))
	}},
	// Which of several equal elements a window selects is not defined.
	{"ties in select-and-scatter", func(_ hlo.Module, in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpSelectAndScatter
	}},
	// XLA:CPU keeps what is computed within a map of narrow numbers wider until its end.
	{"narrow map", func(_ hlo.Module, in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpMap && in.Shape().Type().IsFloat() && in.Shape().Type().Bits() == 16
	}},
	// XLA:CPU rounds every partial sum of narrow numbers. Once terms times half an ulp reach one, no bound holds for what that is off by.
	{"long sum of narrow numbers", func(_ hlo.Module, in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpReduce && leaf(in.Shape()).Type().IsFloat() && termsOf(in) >= halfUlps(leaf(in.Shape()).Type())
	}},
	// A comparator for numbers puts NaN in no order.
	{"sort of NaN", func(_ hlo.Module, in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpSort && in.OperandInstr(0).Shape().Type().IsFloat()
	}},
	// Which NaN an operation makes is not defined.
	{"bits of a NaN", func(_ hlo.Module, in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpBitcastConvert && in.OperandInstr(0).Shape().Type().IsFloat()
	}},
}

// infinite are classes of differences in which one side is infinite or NaN.
var infinite = []class{
	// XLA:CPU takes denormals for zeros, so their quotient and its angle are NaN. Programs have them from the bits of small integers.
	{"denormals", func(_ hlo.Module, in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpBitcastConvert && in.Shape().Type().IsFloat()
	}},
	// XLA:CPU's polynomial makes a number of a NaN.
	{"exponential of NaN", func(_ hlo.Module, in hlo.Instruction) bool { return in.Opcode() == hlo.OpExponential }},
	// The parts of a complex quotient or product of infinities and zeros depend on the formula.
	{"complex infinities", func(_ hlo.Module, in hlo.Instruction) bool {
		return in.Shape().IsArray() && in.Shape().Type().IsComplex() && (in.Opcode() == hlo.OpDivide || in.Opcode() == hlo.OpMultiply)
	}},
}

// notFinite finds such a side in the report of a difference.
var notFinite = regexp.MustCompile(`(got|want) \S*(NaN|Inf)`)

// classify is the name of a class that explains a difference, or "".
func classify(m hlo.Module, o difftest.Outcome) string {
	switch {
	case errors.Is(o.Err, errDied):
		return "XLA ends the process"
	case o.Verdict == difftest.RunFails && errors.As(o.Err, new(refusal)):
		return "refused by XLA"
	}
	apply := classes
	if notFinite.MatchString(o.Err.Error()) {
		apply = slices.Concat(classes, infinite)
	}
	for in := range sources(m, o.Leaf) {
		for _, c := range apply {
			if c.op(m, in) {
				return c.name
			}
		}
	}
	return ""
}

// value is the instruction that makes an instruction's value, behind what passes it on: copies, reshapes, tuples, calls of computations that return
// a parameter, conversions to the same type, transposes there and back, loops as if they did not change it, and ops that give x of x and x.
func value(m hlo.Module, in hlo.Instruction) hlo.Instruction {
	//halo:allow opswitch what XLA's simplifier sees through
	switch in.Opcode() {
	case hlo.OpCopy, hlo.OpReshape, hlo.OpBitcast:
		return value(m, in.OperandInstr(0))
	case hlo.OpConvert:
		if x := in.OperandInstr(0); x.Shape().Type() == in.Shape().Type() {
			return value(m, x)
		}
	case hlo.OpTranspose:
		if x := value(m, in.OperandInstr(0)); x.Opcode() == hlo.OpTranspose && undoes(in, x) {
			return value(m, x.OperandInstr(0))
		}
	case hlo.OpGetTupleElement:
		tuple := in.OperandInstr(0)
		if tuple.Opcode() == hlo.OpWhile {
			tuple = value(m, tuple.OperandInstr(0))
		}
		if tuple.Opcode() == hlo.OpTuple {
			return value(m, tuple.OperandInstr(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)))
		}
	case hlo.OpCall, hlo.OpFusion:
		callee := m.MustComputation(in.Callee(0))
		if n, ok := value(m, callee.Root()).ParameterNumber(); ok {
			return value(m, in.OperandInstr(int(n)))
		}
	case hlo.OpMinimum, hlo.OpMaximum, hlo.OpAnd, hlo.OpOr:
		if x := in.OperandInstr(0); same(m, x, in.OperandInstr(1)) {
			return value(m, x)
		}
	case hlo.OpSelect:
		if x := in.OperandInstr(1); same(m, x, in.OperandInstr(2)) {
			return value(m, x)
		}
	}
	return in
}

// undoes reports whether a transpose puts the axes back to where they were before another.
func undoes(in, before hlo.Instruction) bool {
	axes := hlo.AttrsOf[hlo.DimensionsAttrs](before).Dimensions
	for i, d := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
		if axes[d] != int64(i) {
			return false
		}
	}
	return true
}

// same reports whether two instructions have one value, because they are one, or do the same with the same values.
func same(m hlo.Module, x, y hlo.Instruction) bool {
	if x, y = value(m, x), value(m, y); x == y {
		return true
	}
	if x.Opcode() != y.Opcode() || x.NumOperands() != y.NumOperands() || x.NumCallees()+y.NumCallees() > 0 || hlo.Info(x.Opcode()).Traits.Has(hlo.TraitSideEffect) ||
		!x.Shape().Equal(y.Shape()) || !hlo.EqualAttrs(x.Attrs(), y.Attrs()) {
		return false
	}
	for i := range x.NumOperands() {
		if !same(m, x.OperandInstr(i), y.OperandInstr(i)) {
			return false
		}
	}
	return true
}

// leaf is the first array of a shape.
func leaf(s hlo.Shape) hlo.Shape {
	for s.IsTuple() && s.NumElems() > 0 {
		s = s.Elem(0)
	}
	return s
}

// termsOf is how many elements each element of a reduction's result is made of.
func termsOf(in hlo.Instruction) int64 {
	results := max(leaf(in.Shape()).NumElements(), 1)
	return in.OperandInstr(0).Shape().NumElements() / results
}

// halfUlps is how many halves of the last place of 1 make 1, for the narrow types; no reduction has as many terms of the others.
func halfUlps(t hlo.PrimitiveType) int64 {
	switch t {
	case hlo.F16:
		return 1 << 11
	case hlo.BF16:
		return 1 << 8
	}
	return math.MaxInt64
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
