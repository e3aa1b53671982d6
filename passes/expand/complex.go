package expand

import (
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// complexFunctions are what functions of complex numbers are in terms of the parts (a, b).
var complexFunctions = map[hlo.Opcode]func(p parts, a, b hlo.InstrID) (re, im hlo.InstrID){
	hlo.OpSign:                parts.sign,
	hlo.OpTanh:                parts.tanh,
	hlo.OpTan:                 parts.tan,
	hlo.OpExponentialMinusOne: parts.expm1,
}

// ComplexFunctions lets loops compute what else would be left to the evaluator.
var ComplexFunctions = expander("complex-function-expander", `sign, tanh, tan and exponential-minus-one of complex numbers, power of c128 → functions of their parts

Nothing overflows, and nothing cancels that does not in the function itself: the modulus of sign is taken of scaled parts, if they are f32, and both parts of tanh are quotients by a sum of
squares, of which e^(2|a|) is a factor. Powers of c64 stay: their roundings are those of XLA's compiler, which large powers magnify.`,
	func(in hlo.Instruction) bool {
		s := in.Shape()
		known := complexFunctions[in.Opcode()] != nil || in.Opcode() == hlo.OpPower && s.Type() == hlo.C128
		return known && s.IsArray() && s.Type().IsComplex() && s.IsStatic()
	},
	func(at emit.At, in hlo.Instruction) hlo.InstrID {
		z := in.Operand(0)
		p := parts{at, at.Shape(z).Type().ComponentType(), at.Shape(z).Dimensions()}
		a, b := at.Unary(hlo.OpReal, z), at.Unary(hlo.OpImag, z)
		var re, im hlo.InstrID
		if in.Opcode() == hlo.OpPower {
			w := in.Operand(1)
			re, im = p.power(at.Unary(hlo.OpAbs, z), a, b, at.Unary(hlo.OpReal, w), at.Unary(hlo.OpImag, w))
		} else {
			re, im = complexFunctions[in.Opcode()](p, a, b)
		}
		return at.Binary(hlo.OpComplex, re, im)
	})

// parts writes functions of arrays of floats with these dimensions.
type parts struct {
	emit.At
	typ  hlo.PrimitiveType
	dims []int64
}

func (p parts) fill(v float64) hlo.InstrID { return p.Fill(p.Float(p.typ, v), p.dims...) }

func (p parts) mul(x, y hlo.InstrID) hlo.InstrID { return p.Binary(hlo.OpMultiply, x, y) }

func (p parts) add(x, y hlo.InstrID) hlo.InstrID { return p.Binary(hlo.OpAdd, x, y) }

// sign is z / |z|, and 0 of 0. The scale keeps the modulus of the largest numbers of f32 finite, and that of the smallest precise; that of the
// largest of f64 overflows, as it does in XLA and in the evaluator, whose f32 are computed in f64.
func (p parts) sign(a, b hlo.InstrID) (re, im hlo.InstrID) {
	zero := p.fill(0)
	if p.typ == hlo.F32 {
		const large = 0x1p64
		limit := p.fill(large)
		most := p.Binary(hlo.OpMaximum, p.Unary(hlo.OpAbs, a), p.Unary(hlo.OpAbs, b))
		scale := p.Select(p.Compare(hlo.LT, most, p.fill(1/large)), limit, p.Select(p.Compare(hlo.GT, most, limit), p.fill(1/large), p.fill(1)))
		a, b = p.mul(a, scale), p.mul(b, scale)
	}
	modulus := p.Unary(hlo.OpAbs, p.Binary(hlo.OpComplex, a, b))
	none := p.Compare(hlo.EQ, modulus, zero)
	return p.Select(none, zero, p.Binary(hlo.OpDivide, a, modulus)), p.Select(none, zero, p.Binary(hlo.OpDivide, b, modulus))
}

// tanh is (sinh a cosh a + i sin b cos b) / (sinh² a + cos² b), of which numerators and denominator are multiplied by 4q, q = e^(-2|a|).
func (p parts) tanh(a, b hlo.InstrID) (re, im hlo.InstrID) {
	zero, four := p.fill(0), p.fill(4)
	twice := p.mul(p.Unary(hlo.OpAbs, a), p.fill(-2))
	q, rest := p.Unary(hlo.OpExponential, twice), p.Unary(hlo.OpNegate, p.Unary(hlo.OpExponentialMinusOne, twice)) // rest is 1 - q
	s, c := p.Unary(hlo.OpSine, b), p.Unary(hlo.OpCosine, b)
	part := p.mul(p.mul(four, q), c)
	under := p.add(p.mul(rest, rest), p.mul(part, c))
	sign, far := p.Unary(hlo.OpSign, a), p.Compare(hlo.EQ, p.Unary(hlo.OpAbs, a), p.fill(math.Inf(1)))
	re = p.mul(sign, p.Binary(hlo.OpDivide, p.mul(rest, p.add(p.fill(1), q)), under))
	im = p.Binary(hlo.OpDivide, p.mul(part, s), under)
	flat := p.Binary(hlo.OpOr, far, p.Compare(hlo.EQ, b, zero))
	return p.Select(far, sign, re), p.Select(flat, zero, im)
}

// tan z is -i tanh iz.
func (p parts) tan(a, b hlo.InstrID) (re, im hlo.InstrID) {
	re, im = p.tanh(p.Unary(hlo.OpNegate, b), a)
	return im, p.Unary(hlo.OpNegate, re)
}

// expm1 is (e^a - 1) cos b - 2 sin² b/2 + i e^a sin b. Where e^a overflows, the product with a sine or cosine may not; of f32 it is what
// the evaluator says, which computes in f64.
func (p parts) expm1(a, b hlo.InstrID) (re, im hlo.InstrID) {
	zero, half := p.fill(0), p.fill(0.5)
	e, less := p.Unary(hlo.OpExponential, a), p.Unary(hlo.OpExponentialMinusOne, a)
	s, c, h := p.Unary(hlo.OpSine, b), p.Unary(hlo.OpCosine, b), p.Unary(hlo.OpSine, p.mul(b, half))
	re, im = p.Binary(hlo.OpSubtract, p.mul(less, c), p.mul(p.fill(2), p.mul(h, h))), p.mul(e, s)
	if p.typ == hlo.F32 {
		root := p.Unary(hlo.OpExponential, p.mul(a, half))
		over := p.Compare(hlo.EQ, e, p.fill(math.Inf(1)))
		re, im = p.Select(over, p.mul(p.mul(root, c), root), re), p.Select(over, p.mul(p.mul(root, s), root), im)
	}
	flat := p.Compare(hlo.EQ, b, zero)
	return p.Select(flat, less, re), p.Select(flat, zero, im)
}

// power is (a + bi)^(c + di) in polar form, r^c e^(-dt) at the angle ct + d log r, with r the modulus of the base and t its angle, but for what needs no logarithm.
func (p parts) power(r, a, b, c, d hlo.InstrID) (re, im hlo.InstrID) {
	zero, one, infinity := p.fill(0), p.fill(1), p.fill(math.Inf(1))
	is := func(x hlo.InstrID, d hlo.Direction, y hlo.InstrID) hlo.InstrID { return p.Compare(d, x, y) }
	and := func(x hlo.InstrID, more ...hlo.InstrID) hlo.InstrID {
		for _, y := range more {
			x = p.Binary(hlo.OpAnd, x, y)
		}
		return x
	}
	t := p.Binary(hlo.OpAtan2, b, a)
	isReal, angle := is(d, hlo.EQ, zero), p.mul(c, t)
	angle = p.Select(isReal, angle, p.add(angle, p.mul(d, p.Unary(hlo.OpLog, r))))
	size := p.mul(p.Binary(hlo.OpPower, r, c), p.Unary(hlo.OpExponential, p.Unary(hlo.OpNegate, p.mul(d, t))))
	re, im = p.mul(size, p.Unary(hlo.OpCosine, angle)), p.mul(size, p.Unary(hlo.OpSine, angle))

	positive, flat := is(c, hlo.GT, zero), and(is(b, hlo.EQ, zero), isReal)
	ofZero, ofInfinity := and(is(a, hlo.EQ, zero), flat), and(is(a, hlo.EQ, infinity), flat)
	isZero := p.Binary(hlo.OpOr, and(ofZero, positive), and(ofInfinity, is(c, hlo.LT, zero)))
	isInfinity := and(ofInfinity, positive)
	isOne := p.Binary(hlo.OpOr, and(is(a, hlo.EQ, one), is(b, hlo.EQ, zero)), and(is(c, hlo.EQ, zero), isReal))
	known := p.Binary(hlo.OpOr, isOne, p.Binary(hlo.OpOr, isZero, isInfinity))
	re = p.Select(isOne, one, p.Select(isInfinity, infinity, p.Select(isZero, zero, re)))
	return re, p.Select(known, zero, im)
}
