package algsimp

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/pass"
)

var arithmeticRules = []*pass.RewriteRule{
	rule("A01", "x + 0 → x (floating: x + -0)", func(in hlo.Instruction) (pass.Expr, bool) {
		if x, ok := beside(in, addsNothing); ok {
			return use(x)
		}
		return no()
	}, hlo.OpAdd),
	loose(pass.ZeroSign, rule("A01z", "x + 0 → x (floating: turns -0 + 0, which is 0, into -0)", func(in hlo.Instruction) (pass.Expr, bool) {
		if x, ok := beside(in, isZero); ok && in.Shape().Type().IsFloat() {
			return use(x)
		}
		return no()
	}, hlo.OpAdd)),
	rule("A03", "(x + c1) + c2 → x + (c1 + c2), integers", func(in hlo.Instruction) (pass.Expr, bool) { return gather(in, hlo.OpAdd, hlo.PrimitiveType.IsInteger) }, hlo.OpAdd),
	loose(pass.Overflow, rule("A03f", "(x + c1) + c2 → x + (c1 + c2), floating", func(in hlo.Instruction) (pass.Expr, bool) {
		return gather(in, hlo.OpAdd, hlo.PrimitiveType.IsFloat)
	}, hlo.OpAdd)),
	rule("A05", "x + (y - x) → y, integers", func(in hlo.Instruction) (pass.Expr, bool) {
		var x, y hlo.Instruction
		return integer(in, &y, match.Swap(hlo.OpAdd, match.Any(&x), match.Op(hlo.OpSubtract, match.Any(&y), match.Same(&x))))
	}, hlo.OpAdd),
	rule("A10", "x - x → 0, integers", func(in hlo.Instruction) (pass.Expr, bool) {
		if in.Shape().Type().IsInteger() && in.Operand(0) == in.Operand(1) {
			return pass.Fill(in.Shape(), scalar(in.Shape().Type(), 0)), true
		}
		return no()
	}, hlo.OpSubtract),
	rule("A11", "x - 0 → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if second(in, isZero) {
			return use(in.OperandInstr(0))
		}
		return no()
	}, hlo.OpSubtract),
	rule("A12", "x - c → x + (-c)", func(in hlo.Instruction) (pass.Expr, bool) {
		x, c := in.OperandInstr(0), in.OperandInstr(1)
		l, ok := splat(c)
		if _, constant := splat(x); !ok || constant || c.Opcode() != hlo.OpBroadcast && !isConstant(c) || in.Shape().Type().IsComplex() {
			return no()
		}
		minus := pass.New(hlo.OpNegate, l.Shape(), nil, pass.Constant(l))
		if in.Shape().Rank() > 0 {
			minus = pass.New(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{}, minus)
		}
		return same(in, hlo.OpAdd, pass.Use(x), minus)
	}, hlo.OpSubtract),
	rule("A13", "x - (x - y) → y, integers", func(in hlo.Instruction) (pass.Expr, bool) {
		var x, y hlo.Instruction
		return integer(in, &y, match.Op(hlo.OpSubtract, match.Any(&x), match.Op(hlo.OpSubtract, match.Same(&x), match.Any(&y))))
	}, hlo.OpSubtract),
	rule("A14", "x - (x + y) → -y, integers", func(in hlo.Instruction) (pass.Expr, bool) {
		var x, y hlo.Instruction
		e, ok := integer(in, &y, match.Op(hlo.OpSubtract, match.Any(&x), match.Swap(hlo.OpAdd, match.Same(&x), match.Any(&y))))
		return pass.New(hlo.OpNegate, in.Shape(), nil, e), ok && in.Shape().Type().IsSigned()
	}, hlo.OpSubtract),
	rule("A15", "(x + y) - x → y, integers", func(in hlo.Instruction) (pass.Expr, bool) {
		sum, x := in.OperandInstr(0), in.OperandInstr(1)
		var y hlo.Instruction
		return integer(in, &y, match.Op(hlo.OpSubtract, match.Pattern(func(hlo.Instruction) bool {
			return match.Swap(hlo.OpAdd, match.Same(&x), match.Any(&y))(sum)
		}), match.Any(nil)))
	}, hlo.OpSubtract),
	rule("B01", "x · 1 → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if x, ok := beside(in, isOne); ok {
			return use(x)
		}
		return no()
	}, hlo.OpMultiply),
	rule("B02", "x · 0 → 0, integers", func(in hlo.Instruction) (pass.Expr, bool) {
		if _, ok := beside(in, isZero); ok && in.Shape().Type().IsInteger() {
			return pass.Fill(in.Shape(), scalar(in.Shape().Type(), 0)), true
		}
		return no()
	}, hlo.OpMultiply),
	rule("B03", "(-x)·(-y) → x·y", func(in hlo.Instruction) (pass.Expr, bool) {
		var x, y hlo.Instruction
		if match.Op(hlo.OpMultiply, match.Op(hlo.OpNegate, match.Any(&x)), match.Op(hlo.OpNegate, match.Any(&y)))(in) {
			return same(in, hlo.OpMultiply, pass.Use(x), pass.Use(y))
		}
		return no()
	}, hlo.OpMultiply),
	rule("B04", "|x|·|x| → x·x, real", func(in hlo.Instruction) (pass.Expr, bool) {
		var x hlo.Instruction
		abs := match.Op(hlo.OpAbs, match.Any(&x))
		if abs(in.OperandInstr(0)) && in.Operand(0) == in.Operand(1) && sameShape(x, in) {
			return same(in, hlo.OpMultiply, pass.Use(x), pass.Use(x))
		}
		return no()
	}, hlo.OpMultiply),
	rule("B07", "(x·c1)·c2 → x·(c1·c2), integers", func(in hlo.Instruction) (pass.Expr, bool) {
		return gather(in, hlo.OpMultiply, hlo.PrimitiveType.IsInteger)
	}, hlo.OpMultiply),
	loose(pass.Overflow, rule("B07f", "(x·c1)·c2 → x·(c1·c2), floating", func(in hlo.Instruction) (pass.Expr, bool) {
		return gather(in, hlo.OpMultiply, hlo.PrimitiveType.IsFloat)
	}, hlo.OpMultiply)),
	rule("B14", "x / 1 → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if second(in, isOne) {
			return use(in.OperandInstr(0))
		}
		return no()
	}, hlo.OpDivide),
	rule("B15", "x / 2^k → x >> k, unsigned", func(in hlo.Instruction) (pass.Expr, bool) {
		l, ok := splat(in.OperandInstr(1))
		if !ok {
			return no()
		}
		k, ok := power(l)
		if !ok {
			return no()
		}
		return same(in, hlo.OpShiftRightLogical, pass.Use(in.OperandInstr(0)), pass.Fill(in.Shape(), scalar(in.Shape().Type(), k)))
	}, hlo.OpDivide),
	rule("B28", "(a % b) % b → a % b", func(in hlo.Instruction) (pass.Expr, bool) {
		inner := in.OperandInstr(0)
		if inner.Opcode() == hlo.OpRemainder && inner.Operand(1) == in.Operand(1) {
			return use(inner)
		}
		return no()
	}, hlo.OpRemainder),
	rule("B29", "a % 2^k → a & (2^k - 1), unsigned", func(in hlo.Instruction) (pass.Expr, bool) {
		l, ok := splat(in.OperandInstr(1))
		if !ok {
			return no()
		}
		k, ok := power(l)
		if !ok {
			return no()
		}
		return same(in, hlo.OpAnd, pass.Use(in.OperandInstr(0)), pass.Fill(in.Shape(), scalar(in.Shape().Type(), 1<<k-1)))
	}, hlo.OpRemainder),
	rule("B31", "iota % n → iota, if n is no less than the dimension", func(in hlo.Instruction) (pass.Expr, bool) {
		i := in.OperandInstr(0)
		l, ok := splat(in.OperandInstr(1))
		if i.Opcode() != hlo.OpIota || !ok || !in.Shape().Type().IsInteger() {
			return no()
		}
		n, ok := l.ScalarInt()
		dim := i.Shape().Dim(int(hlo.AttrsOf[hlo.IotaAttrs](i).Dimension))
		if !ok || n < dim || in.Shape().Type().Bits() < 32 {
			return no()
		}
		return use(i)
	}, hlo.OpRemainder),
	rule("X06", "iota & (2^k - 1) → iota, if the dimension is no larger than 2^k", func(in hlo.Instruction) (pass.Expr, bool) {
		for i := range 2 {
			x := in.OperandInstr(i)
			l, ok := splat(in.OperandInstr(1 - i))
			if x.Opcode() != hlo.OpIota || !ok || !in.Shape().Type().IsInteger() {
				continue
			}
			v, ok := bitsOf(l)
			dim := uint64(x.Shape().Dim(int(hlo.AttrsOf[hlo.IotaAttrs](x).Dimension)))
			if ok && v&(v+1) == 0 && dim <= v+1 && in.Shape().Type().Bits() >= 32 {
				return use(x)
			}
		}
		return no()
	}, hlo.OpAnd),
	rule("B33", "-(-x) → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if n := in.OperandInstr(0); n.Opcode() == hlo.OpNegate {
			return use(n.OperandInstr(0))
		}
		return no()
	}, hlo.OpNegate),
}

// integer answers with what p binds to result, if the type is an integer.
func integer(in hlo.Instruction, result *hlo.Instruction, p match.Pattern) (pass.Expr, bool) {
	if !in.Shape().Type().IsInteger() || !p(in) {
		return no()
	}
	return pass.Use(*result), true
}

// gather brings the constants of op(op(x, c1), c2) together, for the types that of holds for.
func gather(in hlo.Instruction, op hlo.Opcode, of func(hlo.PrimitiveType) bool) (pass.Expr, bool) {
	if !of(in.Shape().Type()) {
		return no()
	}
	for i := range 2 {
		inner := in.OperandInstr(i)
		c2, ok := splat(in.OperandInstr(1 - i))
		if !ok || inner.Opcode() != op || inner.UserCount() != 1 {
			continue
		}
		for j := range 2 {
			c1, ok := splat(inner.OperandInstr(1 - j))
			x := inner.OperandInstr(j)
			if _, constant := splat(x); !ok || constant {
				continue
			}
			c := pass.New(op, c1.Shape(), nil, pass.Constant(c1), pass.Constant(c2))
			if in.Shape().Rank() > 0 {
				c = pass.New(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{}, c)
			}
			return same(in, op, pass.Use(x), c)
		}
	}
	return no()
}
