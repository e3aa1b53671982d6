package algsimp

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

var minmaxRules = []*pass.RewriteRule{
	rule("C01", "|x| → x, if x is not negative: unsigned, |y|, exp(y), y·y", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0)
		if sameShape(x, in) && (in.Shape().Type().IsUnsigned() || notNegative(x)) {
			return use(x)
		}
		return no()
	}, hlo.OpAbs),
	rule("C02", "max(x, x), min(x, x) → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if in.Operand(0) == in.Operand(1) {
			return use(in.OperandInstr(0))
		}
		return no()
	}, hlo.OpMaximum, hlo.OpMinimum),
	rule("C03", "max(x, lowest) → x; min(x, highest) → x", func(in hlo.Instruction) (pass.Expr, bool) {
		bound := lowest
		if in.Opcode() == hlo.OpMinimum {
			bound = highest
		}
		if x, ok := beside(in, bound); ok {
			return use(x)
		}
		return no()
	}, hlo.OpMaximum, hlo.OpMinimum),
	rule("C04", "max(max(x, y), y) → max(x, y), and so for min; for integers in any order", func(in hlo.Instruction) (pass.Expr, bool) {
		for i := range 2 {
			inner, other := in.OperandInstr(i), in.Operand(1-i)
			// Which of two zeros, or of two NaN, a floating maximum is may depend on the order.
			exact := !in.Shape().Type().IsFloat() || i == 0 && inner.NumOperands() == 2 && inner.Operand(1) == other
			if inner.Opcode() == in.Opcode() && (inner.Operand(0) == other || inner.Operand(1) == other) && exact {
				return use(inner)
			}
		}
		return no()
	}, hlo.OpMaximum, hlo.OpMinimum),
	rule("C08", "clamp(lo, clamp(lo, x, hi), hi) → clamp(lo, x, hi)", func(in hlo.Instruction) (pass.Expr, bool) {
		inner := in.OperandInstr(1)
		if inner.Opcode() == hlo.OpClamp && inner.Operand(0) == in.Operand(0) && inner.Operand(2) == in.Operand(2) {
			return use(inner)
		}
		return no()
	}, hlo.OpClamp),
	rule("C11", "exp(0) → 1", func(in hlo.Instruction) (pass.Expr, bool) {
		l, ok := splat(in.OperandInstr(0))
		v, known := one(in.Shape().Type())
		if !ok || !known || !isZero(l) && !isMinusZero(l) {
			return no()
		}
		return pass.Fill(in.Shape(), scalar(in.Shape().Type(), v)), true
	}, hlo.OpExponential),
	rule("C16", "power(x, 0) → 1", func(in hlo.Instruction) (pass.Expr, bool) {
		v, known := one(in.Shape().Type())
		if !known || !second(in, isZero) {
			return no()
		}
		return pass.Fill(in.Shape(), scalar(in.Shape().Type(), v)), true
	}, hlo.OpPower),
	rule("C17", "power(x, 1) → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if second(in, isOne) {
			return use(in.OperandInstr(0))
		}
		return no()
	}, hlo.OpPower),
	rule("C26", "complex(real(c), imag(c)) → c", func(in hlo.Instruction) (pass.Expr, bool) {
		re, im := in.OperandInstr(0), in.OperandInstr(1)
		if re.Opcode() == hlo.OpReal && im.Opcode() == hlo.OpImag && re.Operand(0) == im.Operand(0) && sameShape(re.OperandInstr(0), in) {
			return use(re.OperandInstr(0))
		}
		return no()
	}, hlo.OpComplex),
	rule("C27", "real(complex(r, i)) → r", func(in hlo.Instruction) (pass.Expr, bool) { return part(in, 0) }, hlo.OpReal),
	rule("C28", "imag(complex(r, i)) → i", func(in hlo.Instruction) (pass.Expr, bool) { return part(in, 1) }, hlo.OpImag),
	rule("C29", "real(x) → x, if x is real", func(in hlo.Instruction) (pass.Expr, bool) {
		if x := in.OperandInstr(0); sameShape(x, in) {
			return use(x)
		}
		return no()
	}, hlo.OpReal),
	rule("C30", "imag(x) → 0, if x is real", func(in hlo.Instruction) (pass.Expr, bool) {
		if x := in.OperandInstr(0); sameShape(x, in) {
			return pass.Fill(in.Shape(), scalar(in.Shape().Type(), 0)), true
		}
		return no()
	}, hlo.OpImag),
}

// notNegative reports whether no element is below zero; NaN may be there. √-0 is -0, so a root does not count.
func notNegative(x hlo.Instruction) bool {
	float := x.Shape().Type().IsFloat()
	switch x.Opcode() {
	case hlo.OpAbs:
		return true
	case hlo.OpExponential:
		return float
	case hlo.OpMultiply:
		return float && x.Operand(0) == x.Operand(1)
	}
	return false
}

func part(in hlo.Instruction, i int) (pass.Expr, bool) {
	if c := in.OperandInstr(0); c.Opcode() == hlo.OpComplex {
		return use(c.OperandInstr(i))
	}
	return no()
}
