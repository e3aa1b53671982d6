package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// onParts are ops on complex numbers whose parts are operands of their own: all real parts of one operand, then all imaginary ones. They
// compute what the loops over complex numbers do (see [complexes]), those of f32 in f64, by the same instructions.
func onParts() []kernel { return append(onSingleParts(), onDoubleParts()...) }

// onDoubleParts are those of f64.
func onDoubleParts() []kernel {
	part := elements(8)
	recipe := func(key string, arity int, body func(m *machine, x []vector) vector) kernel {
		k := kernel{key: key, lane: 8, out: part, recipe: true, body: body}
		for range arity {
			k.in = append(k.in, part)
		}
		return k
	}
	return []kernel{
		recipe("real-multiply.c128", 4, func(m *machine, x []vector) vector { return m.sub(m.mul(x[0], x[2]), m.mul(x[1], x[3])) }),
		recipe("imaginary-multiply.c128", 4, func(m *machine, x []vector) vector { return m.add(m.mul(x[0], x[3]), m.mul(x[1], x[2])) }),
		recipe("real-abs.c128", 2, func(m *machine, x []vector) vector { return m.magnitude128(x[0], x[1]) }),
		recipe("real-divide.c128", 4, func(m *machine, x []vector) vector { return m.quotientPart128(x, false) }),
		recipe("imaginary-divide.c128", 4, func(m *machine, x []vector) vector { return m.quotientPart128(x, true) }),
	}
}

// magnitude128 is the larger part times √(1 + q²), q being the quotient of the smaller and the larger one. Where that is no number, as of two zeros or two infinities, it is
// the larger part, NaN if either is.
func (m *machine) magnitude128(re, im vector) vector {
	x, y := m.abs(re), m.abs(im)
	larger := m.maximum(x, y)
	q := m.div(m.minimum(x, y), larger)
	r := m.mul(larger, m.sqrt(m.add(m.mul(q, q), m.constant(1))))
	return m.choose(m.compare(isUnordered, r, r), larger, r)
}

// quotientPart128 is one part of (a + bi) / (c + di) by Smith's method: where |c| < |d|, both sides are divided by d, else by c. With r the quotient of the other
// part and this one, the factors of a and b are r and 1. Where both parts come out as no number, infinities and zeros are recovered.
func (m *machine) quotientPart128(in []vector, imaginary bool) vector {
	a, b, c, d := in[0], in[1], in[2], in[3]
	below, one := m.compare(isLess, m.abs(c), m.abs(d)), m.copyOf(m.constant(1))
	larger := m.choose(below, d, c)
	r := m.div(m.choose(below, c, d), larger)
	t := m.add(larger, m.mul(m.choose(below, c, d), r))
	ofA, ofB := m.choose(below, r, one), m.choose(below, one, r)
	re := m.div(m.add(m.mul(a, ofA), m.mul(b, ofB)), t)
	im := m.div(m.sub(m.mul(b, ofA), m.mul(a, ofB)), t)
	is := re
	if imaginary {
		is = im
	}
	recovered := m.recoveredQuotient(in, is, 1, imaginary)
	return m.choose(m.compare(isUnordered, re, re), m.choose(m.compare(isUnordered, im, im), recovered, is), is)
}

// onSingleParts are those of f32.
func onSingleParts() []kernel {
	part := elements(4)
	recipe := func(key string, arity int, body func(m *machine, x [][2]vector, half int) vector) kernel {
		k := kernel{key: key, lane: 4, out: part, recipe: true, body: func(m *machine, in []vector) vector {
			double, wide := m.as(8), make([][2]vector, len(in))
			for i := range in {
				wide[i] = m.doubles(in[i], "PS")
			}
			return m.joined(body(double, wide, 0), body(double, wide, 1), "VCVTPD2PS")
		}}
		for range arity {
			k.in = append(k.in, part)
		}
		return k
	}
	return []kernel{
		quotientPart(false), quotientPart(true),
		recipe("real-multiply.c64", 4, func(m *machine, x [][2]vector, half int) vector {
			a, b, c, d := x[0][half], x[1][half], x[2][half], x[3][half]
			return m.fms(a, c, m.mul(b, d))
		}),
		recipe("imaginary-multiply.c64", 4, func(m *machine, x [][2]vector, half int) vector {
			a, b, c, d := x[0][half], x[1][half], x[2][half], x[3][half]
			return m.fma(a, d, m.mul(b, c))
		}),
		recipe("real-abs.c64", 2, func(m *machine, x [][2]vector, half int) vector { return m.magnitude(x[0][half], x[1][half]) }),
	}
}

// quotientPart is one part of (a + bi) / (c + di): what they have in common, code made at run time computes once. In f64 the products are exact. Where both parts are no
// numbers, infinities and zeros are recovered, as the loop in Go does.
func quotientPart(imaginary bool) kernel {
	part := elements(4)
	k := kernel{key: "real-divide.c64", lane: 4, in: []form{part, part, part, part}, out: part, recipe: true}
	if imaginary {
		k.key = "imaginary-divide.c64"
	}
	k.body = func(m *machine, in []vector) vector {
		var wide [4][2]vector
		for i, x := range in {
			wide[i] = m.doubles(x, "PS")
		}
		var re, im [2]vector
		double := m.as(8)
		for half := range re {
			a, b, c, d := wide[0][half], wide[1][half], wide[2][half], wide[3][half]
			inverse := double.div(double.copyOf(double.constant(1)), double.add(double.mul(c, c), double.mul(d, d)))
			re[half] = double.mul(double.add(double.mul(a, c), double.mul(b, d)), inverse)
			im[half] = double.mul(double.sub(double.mul(b, c), double.mul(a, d)), inverse)
		}
		x, y := m.joined(re[0], re[1], "VCVTPD2PS"), m.joined(im[0], im[1], "VCVTPD2PS")
		r := x
		if imaginary {
			r = y
		}
		recovered := m.recoveredQuotient(in, r, 0.25, imaginary)
		return m.choose(m.compare(isUnordered, x, x), m.choose(m.compare(isUnordered, y, y), recovered, r), r)
	}
	return k
}

// recoveredQuotient is what a part of a quotient is instead of r. Infinities count as unit: with a quarter of each summand, no sum overflows.
func (m *machine) recoveredQuotient(in []vector, r vector, unit float64, imaginary bool) vector {
	a, b, c, d := in[0], in[1], in[2], in[3]
	infinity, units := m.constant(math.Inf(1)), m.constant(unit)
	top := func(x, y vector, one operand.Op) (u, v, some vector) { // infinities become ones, other numbers zeros
		u = m.choose(m.compare(isEqual, m.abs(x), infinity), one, m.zero())
		v = m.choose(m.compare(isEqual, m.abs(y), infinity), one, m.zero())
		return m.withSign(u, x), m.withSign(v, y), m.compare(isLess, m.zero(), m.add(u, v))
	}
	isFinite := func(x, y vector) vector {
		return m.compare(isEqual, m.add(m.sub(x, x), m.sub(y, y)), m.zero())
	}
	numerator := func(a, b, c, d vector) vector {
		if imaginary {
			return m.sub(m.mul(b, c), m.mul(a, d))
		}
		return m.add(m.mul(a, c), m.mul(b, d))
	}
	ua, ub, isAbove := top(a, b, units)
	uc, ud, isBelow := top(c, d, units)
	above := m.mul(numerator(ua, ub, c, d), infinity)
	below := m.mul(numerator(a, b, uc, ud), m.zero())
	zero := m.mul(m.withSign(m.copyOf(infinity), c), a)
	if imaginary {
		zero = m.mul(m.withSign(m.copyOf(infinity), c), b)
	}
	s := m.choose(isBelow, m.choose(isFinite(a, b), below, r), r)
	s = m.choose(isAbove, m.choose(isFinite(c, d), above, s), s)
	isZero := m.compare(isEqual, m.bits("OR", m.abs(c), m.abs(d)), m.zero())
	return m.choose(isZero, zero, s)
}

// doubles are lanes of 32 bits as f64: those of the lower half, and of the upper. They are of type PS, DQ or UDQ, as instructions say.
func (m *machine) doubles(x vector, typ string) [2]vector {
	low, high, convert := m.vector(), m.vector(), "VCVT"+typ+"2PD"
	if m.wide {
		half := m.YMM()
		m.VEXTRACTF64X4(operand.U8(1), x, half)
		m.op(convert, x.AsY(), low)
		m.op(convert, half, high)
	} else {
		half := m.XMM()
		m.VEXTRACTI128(operand.U8(1), x, half)
		m.op(convert, x.AsX(), low)
		m.op(convert, half, high)
	}
	return [2]vector{low, high}
}

// joined are lanes of f64 as 32 bits, by the instruction convert: those of low, and behind them those of high.
func (m *machine) joined(low, high vector, convert string) vector {
	d := m.vector()
	if m.wide {
		x, y := m.YMM(), m.YMM()
		m.op(convert, low, x)
		m.op(convert, high, y)
		m.VINSERTF64X4(operand.U8(1), y, x.AsZ(), d)
	} else {
		x, y := m.XMM(), m.XMM()
		m.op(convert+"Y", low, x)
		m.op(convert+"Y", high, y)
		m.VINSERTI128(operand.U8(1), y, x.AsY(), d)
	}
	return d
}
