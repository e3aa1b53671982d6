package tile

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// Quotients and remainders by constants are made of cheaper ops, which fuse: of integers of 8 and 16 bits of products with a reciprocal, in lanes as wide as they
// are, and of floats by powers of two of what is exact then.

// byConstant is a quotient or a remainder by a constant. It reports false for any other op, for what has a loop of its own only, and where vectors do not pay.
func (b *Builder) byConstant(op hlo.Opcode, t hlo.PrimitiveType, args []Value) (Value, bool) {
	if op != hlo.OpDivide && op != hlo.OpRemainder || b.space.Len() <= shortSpace {
		return 0, false
	}
	x, y := args[0], args[1]
	s := b.values[y].splat
	if s == nil || b.values[x].splat != nil || b.values[x].typ != t || b.values[y].typ != t {
		return 0, false
	}
	switch {
	case t.IsFloat() && op == hlo.OpRemainder:
		return b.remainderByPower(t, x, s)
	case t.IsInteger() && (t.Bits() == 8 || t.Bits() == 16) && vectors.Has(vectors.Of(hlo.OpMulhi, t)):
		return b.integerByConstant(op, t, x, y)
	}
	return 0, false
}

// remainderByPower is what is left of x divided by a power of two, whose sign does not matter. From 1 on, no quotient overflows, and one that is rounded is less than 1.
func (b *Builder) remainderByPower(t hlo.PrimitiveType, x Value, s *splat) (Value, bool) {
	const greatest = 1 << 100 // whose reciprocal is a normal number
	if t.Bits() < 16 {        // among which are types without -0
		return 0, false
	}
	wide := lane(t)
	number := func(x float64) []byte {
		if wide == hlo.F64 {
			return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
		}
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x)))
	}
	var y float64
	if wide == hlo.F64 {
		y = math.Float64frombits(binary.LittleEndian.Uint64(s.value))
	} else {
		y = float64(math.Float32frombits(binary.LittleEndian.Uint32(s.value)))
	}
	y = math.Abs(y)
	name := vectors.Of(hlo.OpRemainder, wide).In(vectors.ByPower)
	if fraction, _ := math.Frexp(y); fraction != 0.5 || y < 1 || y > greatest || !vectors.Has(name) {
		return 0, false
	}
	var o operation
	o.fn, o.weight = binaryLoop(hlo.OpRemainder, wide)
	o.vectorize(name)
	// What is left has no bit that x has not, and needs no rounding.
	v := b.step(t, o.fn, nil, o.weight, x, b.Constant(wide, number(y)), b.Constant(wide, number(1/y)))
	b.steps[len(b.steps)-1].vector = o.vector
	return v, true
}

// integerByConstant makes a remainder of the quotient, which is there once if both are wanted.
func (b *Builder) integerByConstant(op hlo.Opcode, t hlo.PrimitiveType, x, y Value) (Value, bool) {
	q, ok := b.quotients[[2]Value{x, y}]
	if !ok {
		if q, ok = b.quotientByConstant(t, x, b.values[y].splat); !ok {
			return 0, false
		}
		if b.quotients == nil {
			b.quotients = make(map[[2]Value]Value)
		}
		b.quotients[[2]Value{x, y}] = q
	}
	if op == hlo.OpDivide {
		return q, true
	}
	return b.binary(hlo.OpSubtract, t, x, b.binary(hlo.OpMultiply, t, q, y)), true
}

func (b *Builder) quotientByConstant(t hlo.PrimitiveType, x Value, s *splat) (Value, bool) {
	var code [8]byte
	copy(code[:], s.value[:t.ByteSize()])
	y := int64(binary.LittleEndian.Uint64(code[:]))
	if t.IsSigned() {
		y = y << (64 - t.Bits()) >> (64 - t.Bits())
	}
	magnitude := uint64(max(y, -y))
	if magnitude < 2 {
		return 0, false
	}
	if t.IsSigned() {
		return b.signedQuotient(t, x, magnitude, y < 0), true
	}
	return b.unsignedQuotient(t, x, magnitude), true
}

// reciprocal is the smallest shift, and 2^(width+shift)/y rounded up beyond it, for which the product with any x up to most, shifted by width+shift, is x/y without its fraction. The
// product is too large by x/y·excess/2^(width+shift), which has to be less than what the fraction lacks: that is least, 1/y, where the rest is y-1.
func reciprocal(width int, most, y uint64) (factor uint64, shift int) {
	worst := (most+1)/y*y - 1 // the greatest number with that rest
	for ; ; shift++ {
		one := uint64(1) << (width + shift)
		factor = one/y + 1
		if excess := factor*y - one; (most < y || worst*excess < one) && most*excess < 2*one {
			return factor, shift
		}
	}
}

// unsignedQuotient multiplies by a reciprocal of one bit more than numbers have where it must: by the others, and by that one in adding.
func (b *Builder) unsignedQuotient(t hlo.PrimitiveType, x Value, y uint64) Value {
	width := t.Bits()
	if y&(y-1) == 0 {
		return b.shifted(t, x, bits.TrailingZeros64(y))
	}
	factor, shift := reciprocal(width, 1<<width-1, y)
	if factor < 1<<width {
		return b.shifted(t, b.binary(hlo.OpMulhi, t, x, b.whole(t, factor)), shift)
	}
	rest := b.binary(hlo.OpMulhi, t, x, b.whole(t, factor-1<<width))
	half := b.shifted(t, b.binary(hlo.OpSubtract, t, x, rest), 1) // (x + rest)/2 without overflow
	return b.shifted(t, b.binary(hlo.OpAdd, t, half, rest), shift-1)
}

// signedQuotient rounds down, and takes back the sign, as quotients are rounded towards zero.
func (b *Builder) signedQuotient(t hlo.PrimitiveType, x Value, y uint64, negative bool) Value {
	width := t.Bits()
	factor, shift := reciprocal(width, 1<<(width-1), y)
	q := b.binary(hlo.OpMulhi, t, x, b.whole(t, factor))
	if factor >= 1<<(width-1) { // which counts as negative: 2^width less
		q = b.binary(hlo.OpAdd, t, q, x)
	}
	q = b.shifted(t, q, shift)
	sign := b.binary(hlo.OpMinimum, t, b.binary(hlo.OpMaximum, t, x, b.whole(t, math.MaxUint64)), b.whole(t, 0))
	if negative {
		return b.binary(hlo.OpSubtract, t, sign, q)
	}
	return b.binary(hlo.OpSubtract, t, q, sign)
}

// shifted shifts x to the right by less than its width, as the upper half of a product: processors without AVX-512 have no instruction for narrow lanes.
func (b *Builder) shifted(t hlo.PrimitiveType, x Value, by int) Value {
	switch {
	case by == 0:
		return x
	case by == 1 && t.IsSigned(): // the factor is the lowest number
		x = b.binary(hlo.OpSubtract, t, b.whole(t, 0), x)
	}
	return b.binary(hlo.OpMulhi, t, x, b.whole(t, 1<<(t.Bits()-by)))
}

// whole is the constant whose lowest bits are those of x.
func (b *Builder) whole(t hlo.PrimitiveType, x uint64) Value {
	return b.Constant(t, binary.LittleEndian.AppendUint64(nil, x))
}

// binary applies an op on integers.
func (b *Builder) binary(op hlo.Opcode, t hlo.PrimitiveType, x, y Value) Value {
	var o operation
	o.fn, o.weight = binaryLoop(op, t)
	o.vectorize(vectorName(op, t))
	v := b.step(t, o.fn, nil, o.weight, x, y)
	b.steps[len(b.steps)-1].vector = o.vector
	return v
}
