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
	part, _, ok := onlyPart(c, c.Root())
	if !ok || part >= b.Root().NumOperands() {
		return 0, false
	}
	again, _, ok := onlyPart(b, b.Root().OperandInstr(part))
	return part, ok && again == part
}

// onlyPart is the one part of a computation's parameter on which a number depends, and all that lies between, operands first.
func onlyPart(c hlo.Computation, of hlo.Instruction) (part int, between []hlo.Instruction, ok bool) {
	seen, todo := map[hlo.InstrID]bool{of.ID(): true}, []hlo.InstrID{of.ID()}
	found := false
	for len(todo) > 0 {
		in := c.MustAt(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		if !in.Shape().IsScalar() || in.NumCallees() > 0 {
			return 0, nil, false
		}
		if in.Opcode() == hlo.OpGetTupleElement {
			i := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
			if in.OperandInstr(0).Opcode() != hlo.OpParameter || found && i != part {
				return 0, nil, false
			}
			part, found = i, true
			continue
		}
		if in.NumOperands() == 0 && in.Opcode() != hlo.OpConstant {
			return 0, nil, false
		}
		for id := range in.OperandIDs() {
			if !seen[id] {
				seen[id] = true
				todo = append(todo, id)
			}
		}
	}
	if !found {
		return 0, nil, false
	}
	for in := range c.OperandsFirst() {
		if seen[in.ID()] {
			between = append(between, in)
		}
	}
	return part, between, true
}

// tryRounds counts the rounds of a loop that a part of its state decides, by computing that in integers.
func tryRounds(ctx *pass.Context, m hlo.Module, callees analysis.Computations, while hlo.Instruction, part int) (int64, bool) {
	init := while.OperandInstr(0)
	if init.Opcode() != hlo.OpTuple || init.OperandInstr(part).Opcode() != hlo.OpConstant {
		return 0, false
	}
	c, b, now := condition(callees, while), body(callees, while), init.OperandInstr(part).Literal()
	_, test, _ := onlyPart(c, c.Root())
	_, next, _ := onlyPart(b, b.Root().OperandInstr(part))
	for n := range int64(maxTried) {
		goesOn, ok := last(ctx, m, test, now)
		if !ok {
			return 0, false
		}
		if v, ok := goesOn.ScalarInt(); !ok || v == 0 {
			return n, ok
		}
		if now, ok = last(ctx, m, next, now); !ok {
			return 0, false
		}
	}
	return 0, false
}

// last computes integers, operands first, from the part of a loop's state that they depend on, and returns the last.
func last(ctx *pass.Context, m hlo.Module, all []hlo.Instruction, part *hlo.Literal) (v *hlo.Literal, ok bool) {
	values := make(map[hlo.InstrID]*hlo.Literal, len(all))
	for _, in := range all {
		switch t := in.Shape().Type(); {
		case !t.IsInteger() && t != hlo.PRED:
			return nil, false
		case in.Opcode() == hlo.OpConstant:
			v = in.Literal()
		case in.Opcode() == hlo.OpGetTupleElement:
			v = part
		default:
			operands := make([]*hlo.Literal, in.NumOperands())
			for i := range operands {
				operands[i] = values[in.Operand(i)]
			}
			var err error
			if v, err = eval.Instruction(ctx, m, in, operands); err != nil {
				return nil, false
			}
		}
		if v == nil || v.IsElided() {
			return nil, false
		}
		values[in.ID()] = v
	}
	return v, v != nil
}
