package spmd

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// scalarLiteral is zero of any type, or an integer.
func scalarLiteral(t hlo.PrimitiveType, v int64) *hlo.Literal {
	if v != 0 && !t.IsInteger() && t != hlo.PRED {
		panic("spmd: a number that is no integer")
	}
	if n := t.Bits(); n < 64 {
		v &= 1<<n - 1
	}
	return emit.Bits(t, uint64(v))
}

// isIdentity reports whether a scalar is an identity of an op; for sums of floats either zero is.
func isIdentity(op hlo.Opcode, l *hlo.Literal) bool {
	id, ok := emit.Identity(op, l.Shape().Type())
	if !ok || l.IsElided() {
		return false
	}
	return id.Equal(l) || op == hlo.OpAdd && isZero(l)
}

func isZero(l *hlo.Literal) bool {
	for _, b := range l.Bytes() {
		if b != 0 {
			return false
		}
	}
	return !l.IsElided()
}

// bits is an array of real numbers in a type that or works on, and the way back. It keeps the representation where an integer is as wide.
func (d *device) bits(v hlo.Value) (to hlo.Value, from func(hlo.Value) hlo.Value) {
	s, op := v.Shape(), hlo.OpBitcastConvert
	t, ok := hlo.UnsignedOf(s.Type().Bits())
	switch {
	case s.Type().IsInteger() || s.Type().IsPred():
		return v, func(v hlo.Value) hlo.Value { return v }
	case !ok: // f6e3m2fn and f6e2m3fn have neither infinities nor NaN, so that a conversion keeps all there is
		to, back := d.bits(d.b.Convert(v, hlo.F32))
		return to, func(v hlo.Value) hlo.Value { return d.b.Convert(back(v), s.Type()) }
	}
	return d.b.OpOf(op, s.WithType(t), nil, v), func(v hlo.Value) hlo.Value { return d.b.OpOf(op, s, nil, v) }
}

// binaryOp is the op that a computation of two scalars consists of.
func binaryOp(c hlo.Computation) (hlo.Opcode, bool) {
	root := c.Root()
	for root.NumOperands() == 1 && (root.Opcode() == hlo.OpCopy || isTarget(root, "Sharding")) {
		root = root.OperandInstr(0)
	}
	if c.NumParameters() != 2 || !combines(root, 0, 1) {
		return 0, false
	}
	return root.Opcode(), true
}

// combines reports whether an instruction combines two parameters of its type by an op that has an identity.
func combines(in hlo.Instruction, i, j int64) bool {
	if in.NumOperands() != 2 || !in.Shape().IsScalar() {
		return false
	}
	t := in.Shape().Type()
	a, ok := in.OperandInstr(0).ParameterNumber()
	b, ok2 := in.OperandInstr(1).ParameterNumber()
	if _, known := emit.Identity(in.Opcode(), t); !known {
		return false
	}
	return ok && ok2 && min(a, b) == i && max(a, b) == j && in.OperandInstr(0).Shape().Type() == t && in.OperandInstr(1).Shape().Type() == t
}

// neutrals are the values that a reducer of n arrays combines with any others to those others, if it reduces each array by itself.
func neutrals(c hlo.Computation, n int) (all []*hlo.Literal, ok bool) {
	if n == 1 {
		op, ok := binaryOp(c)
		if !ok {
			return nil, false
		}
		id, ok := emit.Identity(op, c.Root().Shape().Type())
		return []*hlo.Literal{id}, ok
	}
	root := c.Root()
	if root.Opcode() != hlo.OpTuple || root.NumOperands() != n || c.NumParameters() != 2*n {
		return nil, false
	}
	for i := range n {
		part := root.OperandInstr(i)
		if !combines(part, int64(i), int64(n+i)) {
			return nil, false
		}
		id, _ := emit.Identity(part.Opcode(), part.Shape().Type())
		all = append(all, id)
	}
	return all, true
}

// isTarget reports whether an instruction is a custom-call of some target.
func isTarget(in hlo.Instruction, target string) bool {
	a, ok := in.Attrs().(*hlo.CustomCallAttrs)
	return ok && a.Target == target
}
