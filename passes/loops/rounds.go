package loops

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
)

// maxTried is how many rounds of a loop are tried out to find how many it has; XLA tries as many.
const maxTried = 128

// inductionConfig is what is known of a loop that does not count by adding a constant: the part of its state that decides, and how many rounds
// it has if that is found by trying.
func inductionConfig(ctx *pass.Context, m hlo.Module, callees analysis.Computations, while hlo.Instruction) (config string, counted, ok bool) {
	part, ok := inductionOf(callees, while)
	if !ok {
		return "", false, false
	}
	induction := fmt.Sprintf(`"known_induction_variable":{"tuple_index":"%d"}`, part)
	if n, ok := tryRounds(ctx, m, callees, while, part); ok {
		return fmt.Sprintf(`{"known_trip_count":{"n":"%d"},%s}`, n, induction), true, true
	}
	return "{" + induction + "}", false, true
}

// inductionOf is the one part of a loop's state on which its condition depends, if the next value of that depends on it alone, through numbers.
func inductionOf(m analysis.Computations, while hlo.Instruction) (int, bool) {
	c, b := condition(m, while), body(m, while)
	if !while.Shape().IsTuple() || c.NumParameters() != 1 || b.NumParameters() != 1 || b.Root().Opcode() != hlo.OpTuple {
		return 0, false
	}
	part, ok := onlyPart(c, c.Root())
	if !ok || part >= b.Root().NumOperands() {
		return 0, false
	}
	again, ok := onlyPart(b, b.Root().OperandInstr(part))
	return part, ok && again == part
}

// onlyPart is the one part of a computation's parameter on which a number depends.
func onlyPart(c hlo.Computation, of hlo.Instruction) (part int, found bool) {
	seen, todo := map[hlo.InstrID]bool{of.ID(): true}, []hlo.InstrID{of.ID()}
	for len(todo) > 0 {
		in := c.MustAt(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		if !in.Shape().IsScalar() || in.NumCallees() > 0 {
			return 0, false
		}
		if in.Opcode() == hlo.OpGetTupleElement {
			i := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
			if in.OperandInstr(0).Opcode() != hlo.OpParameter || found && i != part {
				return 0, false
			}
			part, found = i, true
			continue
		}
		if in.NumOperands() == 0 && in.Opcode() != hlo.OpConstant {
			return 0, false
		}
		for id := range in.OperandIDs() {
			if !seen[id] {
				seen[id] = true
				todo = append(todo, id)
			}
		}
	}
	return part, found
}

// tryRounds counts the rounds of a loop that a part of its state decides, by computing that in integers.
func tryRounds(ctx *pass.Context, m hlo.Module, callees analysis.Computations, while hlo.Instruction, part int) (int64, bool) {
	init := while.OperandInstr(0)
	if init.Opcode() != hlo.OpTuple || init.OperandInstr(part).Opcode() != hlo.OpConstant {
		return 0, false
	}
	now := init.OperandInstr(part).Literal()
	c, b := condition(callees, while), body(callees, while)
	for n := range int64(maxTried) {
		goesOn, ok := valueWith(ctx, m, c, c.Root().ID(), now)
		if !ok {
			return 0, false
		}
		if v, ok := goesOn.ScalarInt(); !ok || v == 0 {
			return n, ok
		}
		if now, ok = valueWith(ctx, m, b, b.Root().Operand(part), now); !ok {
			return 0, false
		}
	}
	return 0, false
}

// valueWith is an integer of a loop's body or condition, given the part of the state that it depends on.
func valueWith(ctx *pass.Context, m hlo.Module, c hlo.Computation, of hlo.InstrID, part *hlo.Literal) (*hlo.Literal, bool) {
	values := map[hlo.InstrID]*hlo.Literal{}
	for in := range c.OperandsFirst() {
		t := in.Shape().Type()
		if in.Opcode() == hlo.OpParameter || !in.Shape().IsScalar() || in.NumCallees() > 0 || !t.IsInteger() && t != hlo.PRED {
			continue
		}
		operands, known := make([]*hlo.Literal, 0, in.NumOperands()), true
		for id := range in.OperandIDs() {
			v := values[id]
			known = known && v != nil
			operands = append(operands, v)
		}
		switch {
		case in.Opcode() == hlo.OpConstant:
			values[in.ID()] = in.Literal()
		case in.Opcode() == hlo.OpGetTupleElement && in.Shape().Equal(part.Shape()):
			values[in.ID()] = part // the others are not used: onlyPart has seen to it
		case known && len(operands) > 0:
			if v, err := eval.Instruction(ctx, m, in, operands); err == nil {
				values[in.ID()] = v
			}
		}
	}
	v := values[of]
	return v, v != nil && !v.IsElided()
}
