package rules

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/scalar"
)

// nonNegative reports whether no element of x is below zero, nor minus zero; NaN may be there. It looks at depth levels of operands. √-0 is -0, so
// a root counts only of what is not negative itself.
func nonNegative(x hlo.Instruction, depth int) bool {
	t := x.Shape().Type()
	if depth == 0 || t.IsComplex() || !x.Shape().IsArray() {
		return false
	}
	if t.IsUnsigned() || t == hlo.PRED {
		return true
	}
	below := func(i int) bool { return nonNegative(x.OperandInstr(i), depth-1) }
	switch x.Opcode() {
	case hlo.OpAbs: // |least| of signed integers is itself
		return t.IsFloat() || below(0)
	case hlo.OpExponential, hlo.OpLogistic:
		return t.IsFloat()
	case hlo.OpMultiply: // x·x of a NaN or of zeros is neither
		return t.IsFloat() && x.Operand(0) == x.Operand(1)
	case hlo.OpIota:
		dim := x.Shape().Dim(int(hlo.AttrsOf[hlo.IotaAttrs](x).Dimension))
		return t.IsFloat() || dim-1 <= int64(1)<<(t.Bits()-1)-1
	case hlo.OpConstant:
		return nonNegativeLiteral(x.Literal())
	case hlo.OpBroadcast, hlo.OpReshape, hlo.OpTranspose, hlo.OpSlice, hlo.OpReverse, hlo.OpCopy, hlo.OpSqrt, hlo.OpRsqrt:
		return below(0)
	case hlo.OpSelect:
		return below(1) && below(2)
	case hlo.OpMinimum:
		return below(0) && below(1)
	case hlo.OpMaximum:
		return below(0) || below(1)
	case hlo.OpPower:
		return t.IsFloat() && below(0)
	}
	return false
}

// nonNegativeLiteral reports whether no element has its sign bit set, NaN counting as negative.
func nonNegativeLiteral(l *hlo.Literal) bool {
	if l == nil || l.IsElided() || !l.Shape().IsArray() || l.Shape().Type().IsComplex() {
		return false
	}
	t := l.Shape().Type()
	w := t.ByteSize()
	for i := 0; i < len(l.Bytes()); i += w {
		var v uint64
		for k, b := range l.Bytes()[i : i+w] {
			v |= uint64(b) << (8 * k)
		}
		if t.Bits() == 0 || v>>(t.Bits()-1)&1 != 0 {
			return false
		}
		if x, ok := scalar.Float(scalar.FromBits(t, v)); ok && x != x {
			return false
		}
	}
	return true
}

// precision is how many bits a floating type keeps of an integer.
var precision = map[hlo.PrimitiveType]int{hlo.BF16: 8, hlo.F16: 11, hlo.F32: 24, hlo.F64: 53}

// Keeps reports whether every value of a is a value of b.
func Keeps(a, b hlo.PrimitiveType) bool {
	switch {
	case a == b || a == hlo.PRED && b.IsInteger() && b.Bits() >= 8:
		return true
	case a.IsSigned() && b.IsSigned(), a.IsUnsigned() && b.IsUnsigned():
		return a.Bits() <= b.Bits()
	case a.IsUnsigned() && b.IsSigned():
		return a.Bits() < b.Bits()
	case a.IsInteger() && precision[b] > 0 && b != hlo.F16 && b != hlo.BF16:
		return a.Bits() <= precision[b]
	case a.IsFloat() && a.Bits() <= 8 && a != hlo.F8E8M0FNU:
		return b == hlo.BF16 || b == hlo.F32 || b == hlo.F64 // with more bits and exponents than any of them has
	case a.IsFloat() && b.IsFloat():
		return precision[a] > 0 && precision[a] < precision[b] && (a != hlo.BF16 || b != hlo.F16)
	}
	return false
}
