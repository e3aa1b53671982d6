package algsimp

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// integerRules are those about integers that need to compute a constant, or to look at ranges.
var integerRules = []*pass.RewriteRule{
	over(rule("B15", "x / 2^k → x >> k, unsigned", func(in hlo.Instruction) (pass.Expr, bool) {
		k, ok := powerOf(in.OperandInstr(1))
		if !ok || !in.Shape().Type().IsUnsigned() {
			return no()
		}
		return same(in, hlo.OpShiftRightLogical, pass.Use(in.OperandInstr(0)), fill(in.Shape(), k))
	}, hlo.OpDivide), nil, repeated),
	over(rule("B16", "x / 2^k → |x| >> k with the sign of x, signed", func(in hlo.Instruction) (pass.Expr, bool) {
		k, ok := powerOf(in.OperandInstr(1))
		if !ok || !in.Shape().Type().IsSigned() {
			return no()
		}
		return bySign(in, func(abs pass.Expr) pass.Expr {
			return pass.New(hlo.OpShiftRightLogical, in.Shape(), nil, abs, fill(in.Shape(), k))
		})
	}, hlo.OpDivide), nil, repeated),
	over(rule("B31", "iota % n → iota, if n is no less than the dimension", func(in hlo.Instruction) (pass.Expr, bool) {
		i := in.OperandInstr(0)
		n, ok := splatInt(in.OperandInstr(1))
		if !ok || !in.Shape().Type().IsInteger() || n < countOf(i) || !counts(i, 0) {
			return no()
		}
		return use(i)
	}, hlo.OpRemainder), iotas, repeated),
	over(rule("B32", "(iota + n) % n → iota % n, if the sum does not overflow", func(in hlo.Instruction) (pass.Expr, bool) {
		sum := in.OperandInstr(0)
		n, ok := splatInt(in.OperandInstr(1))
		if !ok || n <= 0 || !in.Shape().Type().IsInteger() {
			return no()
		}
		for i := range 2 {
			x := sum.OperandInstr(i)
			if m, known := splatInt(sum.OperandInstr(1 - i)); known && m == n && x.Opcode() == hlo.OpIota && counts(x, n) {
				return same(in, hlo.OpRemainder, pass.Use(x), pass.Use(in.OperandInstr(1)))
			}
		}
		return no()
	}, hlo.OpRemainder), []hlo.Opcode{hlo.OpAdd}, repeated),
	over(rule("B29", "a % 2^k → a & (2^k - 1), unsigned", func(in hlo.Instruction) (pass.Expr, bool) {
		k, ok := powerOf(in.OperandInstr(1))
		if !ok || !in.Shape().Type().IsUnsigned() {
			return no()
		}
		return same(in, hlo.OpAnd, pass.Use(in.OperandInstr(0)), fill(in.Shape(), 1<<k-1))
	}, hlo.OpRemainder), nil, repeated),
	over(rule("B30", "a % 2^k → |a| & (2^k - 1) with the sign of a, signed", func(in hlo.Instruction) (pass.Expr, bool) {
		k, ok := powerOf(in.OperandInstr(1))
		if !ok || !in.Shape().Type().IsSigned() {
			return no()
		}
		return bySign(in, func(abs pass.Expr) pass.Expr {
			return pass.New(hlo.OpAnd, in.Shape(), nil, abs, fill(in.Shape(), 1<<k-1))
		})
	}, hlo.OpRemainder), nil, repeated),
	rule("X06", "iota & (2^k - 1) → iota, if the dimension is no larger than 2^k", func(in hlo.Instruction) (pass.Expr, bool) {
		for i := range 2 {
			x := in.OperandInstr(i)
			l, ok := splat(in.OperandInstr(1 - i))
			if x.Opcode() != hlo.OpIota || !ok || !in.Shape().Type().IsInteger() {
				continue
			}
			v, ok := scalar.Bits(l)
			if ok && v&(v+1) == 0 && uint64(countOf(x)) <= v+1 && counts(x, 0) {
				return use(x)
			}
		}
		return no()
	}, hlo.OpAnd),
	rule("D06i", "x ^ y → 0, if both compute the same", func(in hlo.Instruction) (pass.Expr, bool) {
		x, y := in.OperandInstr(0), in.OperandInstr(1)
		if x.ID() == y.ID() || !computesSame(x, y) {
			return no()
		}
		return fill(in.Shape(), 0), true
	}, hlo.OpXor),
}

var (
	repeated = []hlo.Opcode{hlo.OpConstant, hlo.OpBroadcast}
	iotas    = []hlo.Opcode{hlo.OpIota}
)

// fill is an array of one number, given by its representation.
func fill(s hlo.Shape, bits uint64) pass.Expr { return pass.Fill(s, scalar.FromBits(s.Type(), bits)) }

func powerOf(in hlo.Instruction) (k uint64, ok bool) {
	l, ok := splat(in)
	if !ok {
		return 0, false
	}
	return scalar.Power(l)
}

// countOf is how far an iota counts.
func countOf(iota hlo.Instruction) int64 {
	return iota.Shape().Dim(int(hlo.AttrsOf[hlo.IotaAttrs](iota).Dimension))
}

// counts reports whether an iota plus n stays within its type.
func counts(iota hlo.Instruction, n int64) bool {
	t := iota.Shape().Type()
	bits := t.Bits()
	if t.IsSigned() {
		bits--
	}
	return bits >= 62 || countOf(iota)-1 <= int64(1)<<bits-1-n
}

// bySign is f of |a|, a being the first operand of in, with the sign of a. The least number is its own absolute value, and f takes it as
// unsigned: that is right for it too.
func bySign(in hlo.Instruction, f func(abs pass.Expr) pass.Expr) (pass.Expr, bool) {
	a := pass.Use(in.OperandInstr(0))
	negative := pass.New(hlo.OpCompare, in.Shape().WithType(hlo.PRED), &hlo.CompareAttrs{Direction: hlo.LT}, a, fill(in.Shape(), 0))
	minus := func(x pass.Expr) pass.Expr { return pass.New(hlo.OpNegate, in.Shape(), nil, x) }
	abs := pass.New(hlo.OpSelect, in.Shape(), nil, negative, minus(a), a)
	of := f(abs)
	return same(in, hlo.OpSelect, negative, minus(of), of)
}

// computesSame reports whether two instructions are copies of one computation that has one value.
func computesSame(x, y hlo.Instruction) bool {
	traits := hlo.Info(x.Opcode()).Traits
	if x.Opcode() != y.Opcode() || x.NumOperands() == 0 || x.NumOperands() != y.NumOperands() || x.NumCallees() > 0 ||
		traits&(hlo.TraitRandom|hlo.TraitSideEffect|hlo.TraitCollective|hlo.TraitTokens) != 0 || x.Opcode() == hlo.OpCustomCall ||
		!x.Shape().Equal(y.Shape()) || !hlo.EqualAttrs(x.Attrs(), y.Attrs()) {
		return false
	}
	for i := range x.NumOperands() {
		if x.Operand(i) != y.Operand(i) {
			return false
		}
	}
	return true
}
