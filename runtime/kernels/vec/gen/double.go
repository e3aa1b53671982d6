package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// doubles are functions of f32 that are computed in f64 and rounded once: there simple formulas leave no error that is seen.
func doubles() (all []kernel) {
	function := func(name, doc string, arity int, body func(m *machine, in []vector) vector) {
		k := kernel{key: name + ".f32", doc: doc, lane: 8, out: widened, heavy: true, body: body}
		for range arity {
			k.in = append(k.in, widened)
		}
		all = append(all, k, inHalves(k))
	}
	unary := func(name, doc string, body func(m *machine, x vector) vector) {
		function(name, doc, 1, func(m *machine, in []vector) vector { return body(m, in[0]) })
	}
	unary("tan", "sets d to the tangent, for magnitudes below 2^16.", func(m *machine, x vector) vector {
		s, c := m.sineCosine(x)
		return m.choose(m.compare(isEqual, x, m.constant(0)), x, m.div(s, c)) // -0
	})
	unary("cbrt", "sets d to the cube root.", func(m *machine, x vector) vector {
		root := m.exp(m.mul(m.log(m.abs(x)), m.constant(1.0/3)))
		return m.choose(m.compare(isUnordered, x, x), x, m.withSign(root, x))
	})
	unary("cosh", "sets d to the hyperbolic cosine.", func(m *machine, x vector) vector {
		e := m.exp(m.abs(x))
		return m.mul(m.add(e, m.div(m.copyOf(m.constant(1)), e)), m.constant(0.5))
	})
	unary("sinh", "sets d to the hyperbolic sine.", func(m *machine, x vector) vector {
		a := m.min(m.copyOf(m.constant(200)), m.abs(x)) // NaN stays
		t := m.expm1(a)
		return m.withNaNOf(x, m.withSign(m.mul(m.add(t, m.div(t, m.add(t, m.constant(1)))), m.constant(0.5)), x))
	})
	unary("asinh", "sets d to the inverse of the hyperbolic sine.", func(m *machine, x vector) vector {
		a := m.abs(x)
		square := m.mul(a, a)
		more := m.div(square, m.add(m.sqrt(m.add(square, m.constant(1))), m.constant(1)))
		y := m.log1p(m.add(a, more))
		y = m.choose(m.compare(isLess, a, m.constant(math.Inf(1))), y, a)
		return m.withNaNOf(x, m.withSign(y, x))
	})
	unary("acosh", "sets d to the inverse of the hyperbolic cosine.", func(m *machine, x vector) vector {
		t := m.sub(x, m.constant(1))
		y := m.log1p(m.add(t, m.sqrt(m.mul(t, m.add(t, m.constant(2))))))
		return m.choose(m.compare(isLess, x, m.constant(1)), m.copyOf(m.constant(math.NaN())), y)
	})
	unary("atanh", "sets d to the inverse of the hyperbolic tangent.", func(m *machine, x vector) vector {
		a := m.abs(x)
		y := m.log1p(m.div(m.add(a, a), m.sub(m.copyOf(m.constant(1)), a)))
		y = m.choose(m.compare(isLess, m.copyOf(m.constant(1)), a), m.copyOf(m.constant(math.NaN())), m.mul(y, m.constant(0.5)))
		return m.withNaNOf(x, m.withSign(y, x))
	})
	unary("asin", "sets d to the inverse of the sine.", func(m *machine, x vector) vector { return m.atan2(x, m.otherLeg(x), shortArc) })
	unary("acos", "sets d to the inverse of the cosine.", func(m *machine, x vector) vector { return m.atan2(m.otherLeg(x), x, shortArc) })
	function("atan2", "sets d to the angle of the point (b, a).", 2, func(m *machine, in []vector) vector { return m.atan2(in[0], in[1], shortArc) })
	function("power", "sets d to a to the power b.", 2, func(m *machine, in []vector) vector { return m.floatPower(in[0], in[1]) })
	return all
}

// inHalves is such a function for programs made at run time, where lanes are those of f32: the lower half of them as f64, and then the upper one.
func inHalves(k kernel) kernel {
	r := kernel{key: k.key, doc: k.doc, lane: 4, out: elements(4), recipe: true, body: func(m *machine, in []vector) vector {
		var low, high []vector
		for _, x := range in {
			halves := m.doubles(x, "PS")
			low, high = append(low, halves[0]), append(high, halves[1])
		}
		double := m.as(8)
		return m.joined(k.body(double, low), k.body(double, high), "VCVTPD2PS")
	}}
	for range k.in {
		r.in = append(r.in, elements(4))
	}
	return r
}

// widenedName is by what recipes leave them out.
const widenedName = "f32 in f64"

// widened are f32, as f64 in lanes, whose tails are masked with 256 bits too.
var widened = form{size: 4, name: widenedName, masked: true,
	load: func(m *machine, from operand.Mem, tail operand.Op) vector {
		if m.wide || tail == nil {
			return singles.load(m, from, tail)
		}
		x, d := m.XMM(), m.vector()
		m.VMASKMOVPS(from, m.halfMask(tail), x)
		m.op("VCVTPS2PD", x, d)
		return d
	},
	store: func(m *machine, x vector, to operand.Mem, tail operand.Op) {
		if m.wide || tail == nil {
			singles.store(m, x, to, tail)
			return
		}
		half := m.XMM()
		m.op("VCVTPD2PSY", x, half)
		m.VMASKMOVPS(half, m.halfMask(tail), to)
	},
}

// halfMask is a mask of 64-bit lanes for 32-bit ones.
func (m *machine) halfMask(mask operand.Op) operand.Op {
	high, d := m.XMM(), m.XMM()
	low := mask.(reg.VecVirtual).AsX()
	m.VEXTRACTI128(operand.U8(1), mask, high)
	m.VSHUFPS(operand.U8(0x88), high, low, d)
	return d
}

// withNaNOf is x where that is NaN, else y.
func (m *machine) withNaNOf(x, y vector) vector { return m.choose(m.compare(isUnordered, x, x), x, y) }

// otherLeg is √(1-x²).
func (m *machine) otherLeg(x vector) vector {
	one := m.copyOf(m.constant(1))
	return m.sqrt(m.mul(m.sub(one, x), m.add(one, x)))
}

// sineCosine subtracts the nearest multiple of π/2, of which the first difference is exact, and takes Taylor series of the rest.
func (m *machine) sineCosine(x vector) (sine, cosine vector) {
	const high, low = 1.5707963267948966, 6.123233995736766e-17 // of π/2
	n := m.round(m.mul(x, m.constant(2/math.Pi)), toNearest)
	r := m.fnma(n, m.constant(low), m.fnma(n, m.constant(high), x))
	z := m.mul(r, r)
	var odd, even []float64 // coefficients of r³, r⁵, … and of 1, r², …
	f := 1.0
	for k := range 14 {
		sign := [...]float64{1, -1}[k/2%2]
		if k%2 == 0 {
			even = append([]float64{sign / f}, even...)
		} else {
			odd = append([]float64{sign / f}, odd...)
		}
		f *= float64(k + 1)
	}
	s := m.fma(m.mul(z, r), m.polynomial(z, odd[:len(odd)-1]...), r)
	c := m.polynomial(z, even...)
	// In quadrants 1 and 3 they change places, in 2 and 3 the sine, in 1 and 2 the cosine is negative. The quadrant is the lowest bits of
	// n + 1.5·2^52.
	bits := m.add(n, m.constant(0x1.8p52))
	swap := m.compareIntegers(4, false, m.bits("AND", bits, m.pattern(1)), m.zero())
	signed := func(x, quadrant vector) vector {
		return m.bits("XOR", x, m.shift("SLL", m.bits("AND", quadrant, m.pattern(2)), 62))
	}
	return signed(m.choose(swap, c, s), bits), signed(m.choose(swap, s, c), m.integer3("ADD", bits, m.pattern(1)))
}

// atan2 is the arc tangent of the smaller leg over the larger, which for steep ones is π/4 and that of a smaller angle, and then
// whatever octant it is. The arc of numbers below √2-1, given with their squares, is found by a function.
func (m *machine) atan2(y, x vector, arc func(m *machine, u, z vector) vector) vector {
	ay, ax := m.abs(y), m.abs(x)
	steep := m.compare(isLess, ax, ay)
	small, large := m.choose(steep, ax, ay), m.choose(steep, ay, ax)
	t := m.div(small, large)
	t = m.choose(m.compare(isEqual, small, large), m.constant(1), t) // of infinities too
	t = m.choose(m.compare(isEqual, small, m.constant(0)), m.constant(0), t)
	upper := m.compare(isLess, m.copyOf(m.constant(math.Sqrt2-1)), t)
	u := m.choose(upper, m.div(m.sub(t, m.constant(1)), m.add(t, m.constant(1))), t)
	r := arc(m, u, m.mul(u, u))
	r = m.choose(upper, m.add(r, m.constant(math.Pi/4)), r)
	r = m.choose(steep, m.sub(m.copyOf(m.constant(math.Pi/2)), r), r)
	negative := m.compareIntegers(1, false, x, m.zero())
	r = m.choose(negative, m.sub(m.copyOf(m.constant(math.Pi)), r), r)
	r = m.withSign(r, y)
	return m.withNaNOf(x, m.withNaNOf(y, r))
}

// shortArc is the series, for functions of f32.
func shortArc(m *machine, u, z vector) vector {
	var c []float64
	for k := 14; k > 0; k-- {
		c = append(c, [...]float64{1, -1}[k%2]/float64(2*k+1))
	}
	return m.fma(m.mul(z, u), m.polynomial(z, c...), u)
}

// longArc is the quotient of polynomials by which Cephes, and package math, find the arc of numbers below 0.66.
func longArc(m *machine, u, z vector) vector {
	p := m.horner(z, -8.750608600031904122785e-01, -1.615753718733365076637e+01, -7.500855792314704667340e+01, -1.228866684490136173410e+02, -6.485021904942025371773e+01)
	q := m.horner(z, 1, 2.485846490142306297962e+01, 1.650270098316988542046e+02, 4.328810604912902668951e+02, 4.853903996359136964868e+02, 1.945506571482613964425e+02)
	return m.fma(m.mul(z, u), m.div(p, q), u)
}

// doubleAngles is the angle of points in f64.
func doubleAngles() kernel {
	k := elementwise("atan2.f64", "sets d to the angle of the point (b, a).", 8, 2, func(m *machine, in []vector) vector { return m.atan2(in[0], in[1], longArc) })
	k.unroll, k.heavy = 1, true
	return k
}

// powerEnds makes x to the power y of r, which is that of |x|.
func (m *machine) powerEnds(x, y, r vector) vector {
	half := m.mul(y, m.constant(0.5))
	odd := m.compare(isNotEqual, m.round(half, toZero), half)
	// Negative numbers: the sign of odd powers; no other powers than whole ones, but of zero and infinity.
	signed := m.choose(odd, m.bits("OR", r, m.bits("AND", x, m.pattern(1<<63))), r)
	finite := m.choose(m.compare(isLess, m.abs(x), m.constant(math.Inf(1))), m.constant(math.NaN()), r)
	other := m.choose(m.compare(isLess, x, m.constant(0)), finite, r)
	r = m.choose(m.compare(isEqual, m.round(y, toZero), y), signed, other)
	r = m.choose(m.compare(isEqual, x, m.constant(1)), m.constant(1), r)
	return m.choose(m.compare(isEqual, y, m.constant(0)), m.constant(1), r)
}
