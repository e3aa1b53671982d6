package algsimp

import (
	"math"
	"math/bits"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
)

// bitsOf is the representation of a scalar literal of at most 64 bits.
func bitsOf(l *hlo.Literal) (v uint64, ok bool) {
	if len(l.Bytes()) > 8 || len(l.Bytes()) == 0 || l.Shape().Type().IsComplex() {
		return 0, false
	}
	for i, b := range l.Bytes() {
		v |= uint64(b) << (8 * i)
	}
	return v, true
}

// scalar is the literal of a representation.
func scalar(t hlo.PrimitiveType, v uint64) *hlo.Literal {
	data := make([]byte, t.ByteSize())
	for i := range data {
		data[i] = byte(v >> (8 * i))
	}
	l, err := hlo.NewLiteral(hlo.MakeArray(t, nil, nil, hlo.DefaultLayout(0)), data)
	if err != nil {
		panic(err) // the length is the type's own
	}
	return l
}

func boolean(v bool) *hlo.Literal {
	if v {
		return scalar(hlo.PRED, 1)
	}
	return scalar(hlo.PRED, 0)
}

// ones and infinities are representations, of the floating types whose constants rules look at.
var (
	ones       = map[hlo.PrimitiveType]uint64{hlo.F32: 0x3f800000, hlo.F64: math.Float64bits(1), hlo.F16: 0x3c00, hlo.BF16: 0x3f80}
	infinities = map[hlo.PrimitiveType]uint64{hlo.F32: 0x7f800000, hlo.F64: math.Float64bits(math.Inf(1)), hlo.F16: 0x7c00, hlo.BF16: 0x7f80}
)

// one is the representation of 1.
func one(t hlo.PrimitiveType) (uint64, bool) {
	if t.IsInteger() && t.Bits() > 1 {
		return 1, true
	}
	v, ok := ones[t]
	return v, ok
}

func isOne(l *hlo.Literal) bool {
	v, ok := bitsOf(l)
	want, known := one(l.Shape().Type())
	return ok && known && v == want
}

// isZero reports all bits zero: false for minus zero.
func isZero(l *hlo.Literal) bool {
	v, ok := bitsOf(l)
	return ok && v == 0
}

// isMinusZero is about IEEE types.
func isMinusZero(l *hlo.Literal) bool {
	v, ok := bitsOf(l)
	_, ieee := ones[l.Shape().Type()]
	return ok && ieee && v == 1<<(l.Shape().Type().Bits()-1)
}

// addsNothing reports whether x + l is x for every x, bit for bit.
func addsNothing(l *hlo.Literal) bool {
	return isMinusZero(l) || isZero(l) && l.Shape().Type().IsInteger()
}

// power returns k for an unsigned 2^k.
func power(l *hlo.Literal) (k uint64, ok bool) {
	v, ok := bitsOf(l)
	if !ok || !l.Shape().Type().IsUnsigned() || bits.OnesCount64(v) != 1 {
		return 0, false
	}
	return uint64(bits.TrailingZeros64(v)), true
}

// lowest and highest say whether a value bounds its type.
func lowest(l *hlo.Literal) bool  { return isBound(l, -1) }
func highest(l *hlo.Literal) bool { return isBound(l, 1) }

func isBound(l *hlo.Literal, sign int) bool {
	t := l.Shape().Type()
	v, ok := bitsOf(l)
	if !ok {
		return false
	}
	all := ^uint64(0) >> (64 - max(t.Bits(), 1))
	top := uint64(1) << (max(t.Bits(), 1) - 1)
	switch inf, float := infinities[t]; {
	case float:
		return sign > 0 && v == inf || sign < 0 && v == inf|top
	case t == hlo.PRED:
		return sign > 0 && v == 1 || sign < 0 && v == 0
	case t.IsUnsigned():
		return sign > 0 && v&all == all || sign < 0 && v == 0
	case t.IsSigned():
		return sign > 0 && v&all == top-1 || sign < 0 && v&all == top
	}
	return false
}

// splat is the value of an instruction whose elements are all the same constant.
func splat(in hlo.Instruction) (*hlo.Literal, bool) { return match.SplatValue(in) }

// beside returns the operand of a binary instruction that stands beside a constant for which want holds, in either order.
func beside(in hlo.Instruction, want func(*hlo.Literal) bool) (hlo.Instruction, bool) {
	for i := range 2 {
		if l, ok := splat(in.OperandInstr(1 - i)); ok && want(l) {
			return in.OperandInstr(i), true
		}
	}
	return hlo.Instruction{}, false
}

// second reports whether operand 1 is a constant for which want holds.
func second(in hlo.Instruction, want func(*hlo.Literal) bool) bool {
	l, ok := splat(in.OperandInstr(1))
	return ok && want(l)
}
