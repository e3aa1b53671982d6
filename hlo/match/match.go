// Package match recognises small patterns of instructions, by their operands:
//
//	var x, y hlo.Instruction
//	p := match.Op(hlo.OpMultiply, match.Op(hlo.OpNegate, match.Any(&x)), match.Op(hlo.OpNegate, match.Any(&y)))
//	if p(in) { … } // in is (-x)·(-y)
//
// A [Pattern] is a function, so a pass adds its own kinds as it needs them. What a pattern binds is valid when the whole pattern matched,
// and until the session edits the computation again. Patterns look at operands only, never into called computations.
package match

import "github.com/gohalo/halo/hlo"

// Pattern reports whether an instruction has a form, and binds parts of it. Alternatives may leave bindings of a failed attempt behind.
type Pattern func(in hlo.Instruction) bool

// Any matches every instruction and binds it; to may be nil.
func Any(to *hlo.Instruction) Pattern {
	return func(in hlo.Instruction) bool {
		if to != nil {
			*to = in
		}
		return true
	}
}

// Same matches the instruction that was bound to x before.
func Same(x *hlo.Instruction) Pattern {
	return func(in hlo.Instruction) bool { return in.ID() == x.ID() }
}

// Op matches an opcode with exactly these operands.
func Op(op hlo.Opcode, operands ...Pattern) Pattern {
	return func(in hlo.Instruction) bool {
		if in.Opcode() != op || in.NumOperands() != len(operands) {
			return false
		}
		for i, p := range operands {
			if !p(in.OperandInstr(i)) {
				return false
			}
		}
		return true
	}
}

// Swap matches a binary opcode with its operands in either order.
func Swap(op hlo.Opcode, a, b Pattern) Pattern { return Either(Op(op, a, b), Op(op, b, a)) }

// Either matches the first alternative that does.
func Either(alternatives ...Pattern) Pattern {
	return func(in hlo.Instruction) bool {
		for _, p := range alternatives {
			if p(in) {
				return true
			}
		}
		return false
	}
}

// Where adds a condition.
func (p Pattern) Where(condition func(in hlo.Instruction) bool) Pattern {
	return func(in hlo.Instruction) bool { return p(in) && condition(in) }
}

// As binds what p matches.
func (p Pattern) As(to *hlo.Instruction) Pattern {
	return func(in hlo.Instruction) bool {
		ok := p(in)
		if ok {
			*to = in
		}
		return ok
	}
}

// OneUse matches what p does if nothing else uses it.
func (p Pattern) OneUse() Pattern {
	return p.Where(func(in hlo.Instruction) bool { return in.UserCount() == 1 && !in.IsRoot() })
}

// Splat matches a constant all of whose elements are the same, or a broadcast of such a constant, and binds one element as a scalar.
// to may be nil.
func Splat(to **hlo.Literal) Pattern {
	return func(in hlo.Instruction) bool {
		l, ok := SplatValue(in)
		if ok && to != nil {
			*to = l
		}
		return ok
	}
}

// SplatValue is the one value of all elements of a constant, or of a broadcast of one, as a scalar literal.
func SplatValue(in hlo.Instruction) (*hlo.Literal, bool) {
	for in.Opcode() == hlo.OpBroadcast {
		in = in.OperandInstr(0)
	}
	l := in.Literal()
	if in.Opcode() != hlo.OpConstant || l == nil || !l.Shape().IsArray() || !l.IsSplat() {
		return nil, false
	}
	if l.Shape().IsScalar() {
		return l, true
	}
	scalar, err := hlo.NewLiteral(hlo.MakeArray(l.Shape().Type(), nil, nil, hlo.DefaultLayout(0)), l.Bytes()[:l.Shape().Type().ByteSize()])
	return scalar, err == nil
}
