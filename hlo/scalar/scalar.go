// Package scalar looks at literals of one element, and makes them: the constants that algebra is about.
//
//	l, ok := scalar.Of(hlo.BF16, 0.5)  // bf16[] constant(0.5)
//	scalar.Is(l, 0.5)                  // true
//	scalar.IsZero(l)                   // all bits zero: not minus zero
//
// Types without a representation of the number have no such literal: there is no -1 of u8 and no 0.5 of s32.
package scalar

import (
	"math"
	"math/bits"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// formats are the floating types narrower than 32 bits, by what HLO calls them.
var formats = func() map[hlo.PrimitiveType]minifloat.Format {
	m := map[hlo.PrimitiveType]minifloat.Format{}
	for _, f := range minifloat.Formats() {
		if t, ok := hlo.PrimitiveTypeByName(f.String()); ok {
			m[t] = f
		}
	}
	return m
}()

// Of is the literal of a number, if the type has it exactly; NaN and infinities count as numbers.
func Of(t hlo.PrimitiveType, x float64) (*hlo.Literal, bool) {
	if t.IsComplex() {
		re, ok := Of(t.ComponentType(), x)
		if !ok {
			return nil, false
		}
		l, err := hlo.NewLiteral(shape(t), append(append([]byte(nil), re.Bytes()...), make([]byte, len(re.Bytes()))...))
		return l, err == nil
	}
	v, ok := encode(t, x)
	if !ok {
		return nil, false
	}
	return FromBits(t, v), true
}

// Nearest is Of for floating types, rounded to nearest even where the type lacks the number.
func Nearest(t hlo.PrimitiveType, x float64) (*hlo.Literal, bool) {
	if !t.IsFloat() {
		return Of(t, x)
	}
	return FromBits(t, round(t, x)), true
}

func encode(t hlo.PrimitiveType, x float64) (uint64, bool) {
	switch {
	case t == hlo.PRED:
		return uint64(x), x == 0 || x == 1
	case t.IsInteger():
		if x != math.Trunc(x) || x == 0 && math.Signbit(x) {
			return 0, false
		}
		low, high := 0.0, math.Ldexp(1, t.Bits())
		if t.IsSigned() {
			low, high = -high/2, high/2
		}
		if x < low || x >= high {
			return 0, false
		}
		if x >= 0 {
			return uint64(x), true
		}
		return uint64(int64(x)), true
	case t.IsFloat():
		v := round(t, x)
		back := decode(t, v)
		return v, back == x && math.Signbit(back) == math.Signbit(x) || back != back && x != x
	}
	return 0, false
}

func round(t hlo.PrimitiveType, x float64) uint64 {
	switch t {
	case hlo.F64:
		return math.Float64bits(x)
	case hlo.F32:
		return uint64(math.Float32bits(float32(x)))
	}
	return uint64(formats[t].FromFloat64(x))
}

func decode(t hlo.PrimitiveType, v uint64) float64 {
	switch t {
	case hlo.F64:
		return math.Float64frombits(v)
	case hlo.F32:
		return float64(math.Float32frombits(uint32(v)))
	}
	return formats[t].Float64(uint16(v))
}

func shape(t hlo.PrimitiveType) hlo.Shape { return hlo.MakeArray(t, nil, nil, hlo.DefaultLayout(0)) }

// FromBits is the literal of a representation.
func FromBits(t hlo.PrimitiveType, v uint64) *hlo.Literal {
	data := make([]byte, t.ByteSize())
	for i := range data {
		data[i] = byte(v >> (8 * i))
	}
	l, err := hlo.NewLiteral(shape(t), data)
	if err != nil {
		panic(err) // the length is the type's own
	}
	return l
}

// Bits is the representation of a literal of at most 64 bits that is not complex.
func Bits(l *hlo.Literal) (v uint64, ok bool) {
	if len(l.Bytes()) > 8 || len(l.Bytes()) == 0 || l.Shape().Type().IsComplex() {
		return 0, false
	}
	for i, b := range l.Bytes() {
		v |= uint64(b) << (8 * i)
	}
	return v, true
}

// Float is the value of a floating literal of one element.
func Float(l *hlo.Literal) (float64, bool) {
	v, ok := Bits(l)
	if !ok || !l.Shape().Type().IsFloat() {
		return 0, false
	}
	return decode(l.Shape().Type(), v), true
}

// Is reports whether a literal of one element is the number x; zeros differ by sign, and every NaN is NaN.
func Is(l *hlo.Literal, x float64) bool {
	t := l.Shape().Type()
	v, ok := Bits(l)
	if !ok {
		if t.IsComplex() {
			want, exact := Of(t, x)
			return exact && want.Equal(l)
		}
		return false
	}
	if x != x {
		f, float := Float(l)
		return float && f != f
	}
	want, exact := encode(t, x)
	return exact && (v^want)&mask(t) == 0
}

// mask has the bits of a representation that count: elements narrower than a byte leave the others free.
func mask(t hlo.PrimitiveType) uint64 {
	if t == hlo.PRED {
		return ^uint64(0)
	}
	return ^uint64(0) >> (64 - max(t.Bits(), 1))
}

// IsZero reports all bits zero: false for minus zero.
func IsZero(l *hlo.Literal) bool {
	v, ok := Bits(l)
	return ok && v == 0
}

// IsOne reports one.
func IsOne(l *hlo.Literal) bool { return Is(l, 1) }

// IsMinusZero reports minus zero.
func IsMinusZero(l *hlo.Literal) bool {
	x, ok := Float(l)
	return ok && x == 0 && math.Signbit(x)
}

// Power returns k for an integer 2^k that is positive.
func Power(l *hlo.Literal) (k uint64, ok bool) {
	v, ok := Bits(l)
	t := l.Shape().Type()
	if !ok || !t.IsInteger() {
		return 0, false
	}
	if v &= mask(t); bits.OnesCount64(v) != 1 || t.IsSigned() && v>>(t.Bits()-1) != 0 {
		return 0, false
	}
	return uint64(bits.TrailingZeros64(v)), true
}

// AllOnes reports true of a predicate, and all bits of an integer.
func AllOnes(l *hlo.Literal) bool {
	v, ok := Bits(l)
	t := l.Shape().Type()
	switch {
	case !ok:
		return false
	case t == hlo.PRED:
		return v != 0
	}
	return t.IsInteger() && v&mask(t) == mask(t)
}

// IsLowest and IsHighest report the value that no other of the type is below, or above: an infinity where the type has infinities.
func IsLowest(l *hlo.Literal) bool { return isBound(l, -1) }

// IsHighest is the contrary of IsLowest.
func IsHighest(l *hlo.Literal) bool { return isBound(l, 1) }

func isBound(l *hlo.Literal, sign int) bool {
	t := l.Shape().Type()
	v, ok := Bits(l)
	if !ok {
		return false
	}
	top := uint64(1) << (max(t.Bits(), 1) - 1)
	switch {
	case t.IsFloat():
		x, _ := Float(l)
		return math.IsInf(x, sign)
	case t == hlo.PRED:
		return (v != 0) == (sign > 0)
	case t.IsUnsigned():
		return v&mask(t) == map[int]uint64{1: mask(t), -1: 0}[sign]
	case t.IsSigned():
		return v&mask(t) == map[int]uint64{1: top - 1, -1: top}[sign]
	}
	return false
}

// Compare orders two real literals of one type; it fails on complex numbers and on NaN.
func Compare(a, b *hlo.Literal) (order int, ok bool) {
	t := a.Shape().Type()
	if t != b.Shape().Type() {
		return 0, false
	}
	x, okX := Bits(a)
	y, okY := Bits(b)
	if !okX || !okY {
		return 0, false
	}
	if t.IsFloat() {
		f, g := decode(t, x), decode(t, y)
		switch {
		case f < g:
			return -1, true
		case f > g:
			return 1, true
		}
		return 0, f == g
	}
	x, y = x&mask(t), y&mask(t)
	if t.IsSigned() {
		top := uint64(1) << (t.Bits() - 1)
		x, y = x^top, y^top
	}
	switch {
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, true
}
