package algsimp

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

var logicRules = []*pass.RewriteRule{
	rule("D01", "p ∧ true → p", func(in hlo.Instruction) (pass.Expr, bool) {
		if x, ok := beside(in, allBits); ok {
			return use(x)
		}
		return no()
	}, hlo.OpAnd),
	rule("D02", "x & 0 → 0", func(in hlo.Instruction) (pass.Expr, bool) {
		if _, ok := beside(in, isZero); ok {
			return pass.Fill(in.Shape(), scalar(in.Shape().Type(), 0)), true
		}
		return no()
	}, hlo.OpAnd),
	rule("D04", "p ∨ true → true", func(in hlo.Instruction) (pass.Expr, bool) {
		if _, ok := beside(in, allBits); ok && in.Shape().Type() == hlo.PRED {
			return pass.Fill(in.Shape(), boolean(true)), true
		}
		return no()
	}, hlo.OpOr),
	rule("D05", "x | 0 → x", withZero, hlo.OpOr),
	rule("D06", "x ^ x → 0", func(in hlo.Instruction) (pass.Expr, bool) {
		if in.Operand(0) == in.Operand(1) {
			return pass.Fill(in.Shape(), scalar(in.Shape().Type(), 0)), true
		}
		return no()
	}, hlo.OpXor),
	rule("D07", "x ^ 0 → x", withZero, hlo.OpXor),
	rule("D08", "¬¬x → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if n := in.OperandInstr(0); n.Opcode() == hlo.OpNot {
			return use(n.OperandInstr(0))
		}
		return no()
	}, hlo.OpNot),
	rule("D09", "x < 0 → false, x ≥ 0 → true, 0 > x → false, 0 ≤ x → true, unsigned", func(in hlo.Instruction) (pass.Expr, bool) {
		if !in.OperandInstr(0).Shape().Type().IsUnsigned() {
			return no()
		}
		d := hlo.AttrsOf[hlo.CompareAttrs](in).Direction
		left, isLeft := splat(in.OperandInstr(0))
		switch {
		case second(in, isZero) && (d == hlo.LT || d == hlo.GE):
			return pass.Fill(in.Shape(), boolean(d == hlo.GE)), true
		case isLeft && isZero(left) && (d == hlo.GT || d == hlo.LE):
			return pass.Fill(in.Shape(), boolean(d == hlo.LE)), true
		}
		return no()
	}, hlo.OpCompare),
	rule("D11", "compare(x, x) → true or false, not floating", func(in hlo.Instruction) (pass.Expr, bool) {
		t := in.OperandInstr(0).Shape().Type()
		if in.Operand(0) != in.Operand(1) || !t.IsInteger() && t != hlo.PRED {
			return no()
		}
		d := hlo.AttrsOf[hlo.CompareAttrs](in).Direction
		return pass.Fill(in.Shape(), boolean(d == hlo.EQ || d == hlo.GE || d == hlo.LE)), true
	}, hlo.OpCompare),
	rule("D12", "p ≠ false → p; p = true → p", func(in hlo.Instruction) (pass.Expr, bool) {
		d := hlo.AttrsOf[hlo.CompareAttrs](in).Direction
		x, ok := hlo.Instruction{}, false
		switch d {
		case hlo.NE:
			x, ok = beside(in, isZero)
		case hlo.EQ:
			x, ok = beside(in, allBits)
		}
		if !ok || x.Shape().Type() != hlo.PRED {
			return no()
		}
		return use(x)
	}, hlo.OpCompare),
	rule("D13", "select(p, 1, 0) ≠ 0 → p", func(in hlo.Instruction) (pass.Expr, bool) {
		s := in.OperandInstr(0)
		if hlo.AttrsOf[hlo.CompareAttrs](in).Direction != hlo.NE || !second(in, isZero) || s.Opcode() != hlo.OpSelect {
			return no()
		}
		yes, a := splat(s.OperandInstr(1))
		none, b := splat(s.OperandInstr(2))
		if !a || !b || !isOne(yes) || !isZero(none) {
			return no()
		}
		return use(s.OperandInstr(0))
	}, hlo.OpCompare),
	rule("D15", "select(p, x, x) → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if in.Operand(1) == in.Operand(2) {
			return use(in.OperandInstr(1))
		}
		return no()
	}, hlo.OpSelect),
	rule("D16", "select(true, x, y) → x; select(false, x, y) → y", func(in hlo.Instruction) (pass.Expr, bool) {
		l, ok := splat(in.OperandInstr(0))
		switch {
		case !ok:
			return no()
		case isZero(l):
			return use(in.OperandInstr(2))
		}
		return use(in.OperandInstr(1))
	}, hlo.OpSelect),
	rule("D17", "select(¬p, x, y) → select(p, y, x)", func(in hlo.Instruction) (pass.Expr, bool) {
		if n := in.OperandInstr(0); n.Opcode() == hlo.OpNot {
			return same(in, hlo.OpSelect, pass.Use(n.OperandInstr(0)), pass.Use(in.OperandInstr(2)), pass.Use(in.OperandInstr(1)))
		}
		return no()
	}, hlo.OpSelect),
	rule("D18", "select(p, true, false) → p", func(in hlo.Instruction) (pass.Expr, bool) {
		if chooses(in, true) && sameShape(in, in.OperandInstr(0)) {
			return use(in.OperandInstr(0))
		}
		return no()
	}, hlo.OpSelect),
	rule("D19", "select(p, false, true) → ¬p", func(in hlo.Instruction) (pass.Expr, bool) {
		if chooses(in, false) && sameShape(in, in.OperandInstr(0)) {
			return same(in, hlo.OpNot, pass.Use(in.OperandInstr(0)))
		}
		return no()
	}, hlo.OpSelect),
	rule("D20", "select(compare(a, b), a, b) of predicates → a ∨ b, a ∧ b, a or b", func(in hlo.Instruction) (pass.Expr, bool) {
		cmp, a, b := in.OperandInstr(0), in.OperandInstr(1), in.OperandInstr(2)
		if in.Shape().Type() != hlo.PRED || cmp.Opcode() != hlo.OpCompare || cmp.Operand(0) != a.ID() || cmp.Operand(1) != b.ID() {
			return no()
		}
		switch hlo.AttrsOf[hlo.CompareAttrs](cmp).Direction {
		case hlo.GT, hlo.GE:
			return same(in, hlo.OpOr, pass.Use(a), pass.Use(b))
		case hlo.LT, hlo.LE:
			return same(in, hlo.OpAnd, pass.Use(a), pass.Use(b))
		case hlo.EQ:
			return use(b)
		case hlo.NE:
			return use(a)
		}
		return no()
	}, hlo.OpSelect),
	rule("D22", "convert to the same type → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		if x := in.OperandInstr(0); sameShape(x, in) {
			return use(x)
		}
		return no()
	}, hlo.OpConvert),
	rule("D23", "convert(convert(x)) → x, if the type between keeps every value", func(in hlo.Instruction) (pass.Expr, bool) {
		inner := in.OperandInstr(0)
		if inner.Opcode() != hlo.OpConvert {
			return no()
		}
		x := inner.OperandInstr(0)
		if !sameShape(x, in) || !keeps(x.Shape().Type(), inner.Shape().Type()) {
			return no()
		}
		return use(x)
	}, hlo.OpConvert),
	rule("D26", "bitcast-convert(bitcast-convert(x)) → bitcast-convert(x)", func(in hlo.Instruction) (pass.Expr, bool) {
		inner := in.OperandInstr(0)
		x := inner
		if inner.Opcode() == hlo.OpBitcastConvert {
			x = inner.OperandInstr(0)
		}
		if x.ID() == inner.ID() || x.Shape().Rank() != in.Shape().Rank() || x.Shape().Type().Bits() != in.Shape().Type().Bits() || sameShape(x, in) {
			return no()
		}
		return same(in, hlo.OpBitcastConvert, pass.Use(x))
	}, hlo.OpBitcastConvert),
	rule("D27", "bitcast-convert to the same shape, at once or there and back → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0)
		if x.Opcode() == hlo.OpBitcastConvert && sameShape(x.OperandInstr(0), in) {
			x = x.OperandInstr(0)
		}
		if sameShape(x, in) {
			return use(x)
		}
		return no()
	}, hlo.OpBitcastConvert),
}

// withZero is the operand beside a zero.
func withZero(in hlo.Instruction) (pass.Expr, bool) {
	if x, ok := beside(in, isZero); ok {
		return use(x)
	}
	return no()
}

// allBits reports true of a predicate, and all ones of an integer.
func allBits(l *hlo.Literal) bool {
	v, ok := bitsOf(l)
	t := l.Shape().Type()
	switch {
	case !ok:
		return false
	case t == hlo.PRED:
		return v != 0
	}
	return t.IsInteger() && t.Bits() >= 8 && v == ^uint64(0)>>(64-t.Bits())
}

// chooses reports whether a select of predicates gives first where it holds and the opposite elsewhere.
func chooses(in hlo.Instruction, first bool) bool {
	a, ok := splat(in.OperandInstr(1))
	b, ok2 := splat(in.OperandInstr(2))
	return ok && ok2 && in.Shape().Type() == hlo.PRED && isZero(a) != first && isZero(b) == first
}

// keeps reports whether every value of a is a value of b.
func keeps(a, b hlo.PrimitiveType) bool {
	exact := map[hlo.PrimitiveType]int{hlo.BF16: 8, hlo.F16: 11, hlo.F32: 24, hlo.F64: 53} // bits of precision
	switch {
	case a == b || a == hlo.PRED && b.IsInteger() && b.Bits() >= 8:
		return true
	case a.IsSigned() && b.IsSigned(), a.IsUnsigned() && b.IsUnsigned():
		return a.Bits() <= b.Bits()
	case a.IsUnsigned() && b.IsSigned():
		return a.Bits() < b.Bits()
	case a.IsInteger() && exact[b] > 0 && b != hlo.F16 && b != hlo.BF16:
		return a.Bits() <= exact[b]
	case a.IsFloat() && b.IsFloat():
		return exact[a] > 0 && exact[a] < exact[b] && (a != hlo.BF16 || b != hlo.F16)
	}
	return false
}
