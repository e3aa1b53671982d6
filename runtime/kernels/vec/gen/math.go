package main

import "math"

// functions are approximated. Their errors, in units of the last place, are measured by the tests of package vec.
func functions() (all []kernel) {
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		unary := func(name, doc string, body func(m *machine, x vector) vector) {
			k := elementwise(name+"."+typ, doc, lane, 1, func(m *machine, in []vector) vector { return body(m, in[0]) })
			k.unroll = 1
			all = append(all, k)
		}
		unary("exponential", "sets d to e^a.", (*machine).exp)
		unary("exponential-minus-one", "sets d to e^a - 1.", (*machine).expm1)
		unary("log", "sets d to the natural logarithm.", (*machine).log)
		unary("log-plus-one", "sets d to log(1 + a).", (*machine).log1p)
		unary("tanh", "sets d to the hyperbolic tangent.", (*machine).tanh)
		unary("logistic", "sets d to 1/(1 + e^-a).", (*machine).logistic)
		if lane == 4 {
			unary("increased-tanh", "sets d to 1 and the hyperbolic tangent, below -43.8 to 0.", (*machine).increasedTanh)
			unary("erf", "sets d to the error function.", (*machine).erf)
		} else {
			unary("erf", "sets d to the error function.", (*machine).erfDouble)
			all[len(all)-1].heavy = true
		}
		unary("sine", "sets d to the sine, for magnitudes below 2^16.", func(m *machine, x vector) vector {
			sign := m.bits("AND", x, m.pattern(1<<(8*lane-1))) // -0 has to stay
			return m.bits("XOR", m.sine(m.abs(x), 0), sign)
		})
		unary("cosine", "sets d to the cosine, for magnitudes below 2^16.", func(m *machine, x vector) vector { return m.sine(m.abs(x), 1) })
	}
	return all
}

func (m *machine) log(x vector) vector {
	t, e := m.splitLogOfAny(x)
	return m.logEnds(x, m.logOf(m.sub(t, m.constant(1)), e))
}

// log1p takes the logarithm of u = 1 + x, and adds to the fraction what the sum has lost.
func (m *machine) log1p(x vector) vector {
	one := m.copyOf(m.constant(1))
	u := m.add(x, one)
	back := m.sub(u, one)
	tiny := m.tiny(x)
	lost := m.choose(tiny, m.zero(), m.add(m.sub(one, m.sub(u, back)), m.sub(x, back)))
	t, e := m.splitLog(u)
	f := m.add(m.sub(t, one), m.scale(lost, m.sub(m.zero(), e)))
	y := m.logEnds(u, m.logOf(f, e))
	return m.choose(tiny, x, y)
}

// tanh is u/(u+1) for u = (e^2|x| - 1)/2, which is p·2^n + (2^n - 1)/2 for |x| = n·ln2/2 + r and p = (e^2r - 1)/2. Where n is zero, p is r + s, and r + (s - r·u)/(u+1)
// loses less; 1/(u+1) is 1 - u/(u+1). Numbers are rounded to n a little downwards, so that this is so up to 0.3, where u is in the same binade as the result.
func (m *machine) tanh(x vector) vector {
	a := m.abs(x)
	if m.lane == 8 {
		t := m.expm1(m.min(m.copyOf(m.constant(44)), m.add(a, a)))
		return m.withSign(m.div(t, m.add(t, m.constant(2))), x)
	}
	a = m.min(m.copyOf(m.constant(9.1)), a)
	sum := m.add(m.fma(a, m.constant(2*math.Log2E), m.constant(-tanhDown)), m.constant(shifted))
	n := m.sub(sum, m.constant(shifted))
	power := m.integer3("ADD", m.shift("SLL", sum, 23), m.pattern(127<<23))
	r := m.fnma(n, m.constant(math.Ln2/2), a)
	s := m.mul(m.mul(r, r), m.horner(r, tanh32...))
	half := m.copyOf(m.constant(0.5))
	u := m.fma(m.add(r, s), power, m.fma(power, half, m.constant(-0.5)))
	y := m.div(u, m.add(u, m.constant(1)))
	near := m.fma(m.fnma(r, u, s), m.sub(m.copyOf(m.constant(1)), y), r)
	return m.withSign(m.choose(m.compare(isLess, n, half), near, y), x)
}

// increasedTanh is 2e/(e+1) for e = e^2x, which is 2^n·(1 + 2q) for x = n·ln2/2 + r and q = (e^2r - 1)/2. It needs no series near zero, and loses nothing below it. Where n
// is -127, so that 2^n is no normal number, its bits are those of 0.
func (m *machine) increasedTanh(x vector) vector {
	a := m.max(m.copyOf(m.constant(-44)), m.min(m.copyOf(m.constant(9.1)), x))
	sum := m.fma(a, m.copyOf(m.constant(2*math.Log2E)), m.copyOf(m.constant(shifted)))
	n := m.sub(sum, m.constant(shifted))
	power := m.integer3("ADD", m.shift("SLL", sum, 23), m.pattern(127<<23))
	r := m.fnma(n, m.constant(math.Ln2/2), a)
	square := m.mul(r, r)
	high := m.fma(r, m.constant(32*exp32[0]), m.constant(16*exp32[1]))
	low := m.fma(r, m.constant(8*exp32[2]), m.constant(4*exp32[3]))
	p := m.fma(r, m.fma(high, square, low), m.constant(2*exp32[4]))
	q := m.fma(p, square, r)
	e := m.fma(q, m.add(power, power), power)
	return m.div(m.add(e, e), m.add(e, m.constant(1)))
}

// logistic is e/s below zero and 1/s above, for e = e^-|x|, which does not overflow, and s = 1 + e. In f32, e is 2^64 times as large until the
// end, so that it is no denormal, and what the sum gains by rounding is made up for beside the quotient, with 1.75 - 0.75·s in place of 1/s². Where e itself would be a denormal, the
// sum gains nothing.
func (m *machine) logistic(x vector) vector {
	one := m.copyOf(m.constant(1))
	a := m.bits("OR", x, m.pattern(1<<(8*m.lane-1)))
	if m.lane == 8 {
		e := m.exp(a)
		return m.div(m.choose(m.compare(isLess, x, m.zero()), e, one), m.add(e, one))
	}
	const up = 0x1p64
	a = m.max(m.copyOf(m.constant(-104)), a)
	sum := m.fma(a, m.copyOf(m.constant(math.Log2E)), m.copyOf(m.constant(shifted)))
	n := m.sub(sum, m.constant(shifted))
	r := m.fnma(n, m.constant(-2.12194440e-4), m.fnma(n, m.constant(0.693359375), a))
	y := m.add(m.expLess1(r), one)
	large := m.mul(y, m.integer3("ADD", m.shift("SLL", sum, 23), m.pattern((127+64)<<23)))
	down := m.choose(m.compare(isLess, a, m.constant(denormalPowers32)), m.zero(), m.copyOf(m.constant(1/up)))
	s := m.fma(large, down, one)
	gained := m.fnma(large, down, m.sub(s, one))
	dividend := m.choose(m.negative(x), large, m.copyOf(m.constant(up)))
	counts := m.mul(gained, m.fnma(s, m.copyOf(m.constant(0.75)), m.copyOf(m.constant(1.75))))
	small := m.compare(isLess, x, m.constant(denormalPowers32))
	last := m.choose(small, m.copyOf(m.constant(0x1p149/up)), m.copyOf(m.constant(1/up)))
	return m.denormal(small, m.mul(m.fma(dividend, counts, m.div(dividend, s)), last))
}

// expLess1 is e^r - 1 of f32 for |r| ≤ ln2/2, in the shortest chain of steps.
func (m *machine) expLess1(r vector) vector {
	square := m.mul(r, r)
	high := m.fma(r, m.constant(exp32[0]), m.constant(exp32[1]))
	low := m.fma(r, m.constant(exp32[2]), m.constant(exp32[3]))
	p := m.fma(r, m.fma(high, square, low), m.constant(exp32[4]))
	return m.fma(p, square, r)
}

// erf is a polynomial near zero and 1 - e^q(|x|) beyond. That power counts for a fifth of the result at most, so few steps are enough for it.
func (m *machine) erf(x vector) vector {
	near := m.fma(x, m.horner(m.mul(x, x), erf32...), x)
	a := m.abs(x)
	q := m.horner(m.min(m.copyOf(m.constant(4)), a), erfc32...)
	const counted = shifted + 127 // the lowest bits of a sum with it are an exponent
	sum := m.fma(q, m.copyOf(m.constant(math.Log2E)), m.copyOf(m.constant(counted)))
	r := m.fnma(m.sub(sum, m.constant(counted)), m.constant(math.Ln2), q)
	power := m.shift("SLL", sum, 23)
	far := m.fnma(power, m.expLess1(r), m.sub(m.copyOf(m.constant(1)), power))
	return m.choose(m.compare(isLess, a, m.constant(0.93)), near, m.withSign(far, x))
}

// sine is that of x plus quarters of a turn, for x from 0 to 2^16. The multiple of a quarter next to x is subtracted in three parts, whose
// products are exact; an odd multiple exchanges sine and cosine, and every other pair of them the sign.
func (m *machine) sine(x vector, quarters uint64) vector {
	if m.lane == 8 {
		return m.sineDouble(x, quarters)
	}
	n := m.round(m.mul(x, m.constant(2/math.Pi)), toNearest)
	r := m.fnma(n, m.constant(1.57079637), x)
	r = m.fnma(n, m.constant(-4.37113883e-08), r)
	r = m.fnma(n, m.constant(-1.71512489e-15), r)
	whole := m.vector()
	m.op("VCVTPS2DQ", n, whole)
	if quarters > 0 {
		whole = m.integer3("ADD", whole, m.pattern(quarters))
	}
	square := m.mul(r, r)
	sin := m.fma(m.mul(square, r), m.horner(square, sin32...), r)
	cos := m.fma(square, m.fma(square, m.horner(square, cos32...), m.constant(-0.5)), m.constant(1))
	odd := m.compareIntegers(4, false, m.bits("AND", whole, m.pattern(1)), m.zero())
	sign := m.shift("SLL", m.bits("AND", whole, m.pattern(2)), 30)
	return m.bits("XOR", m.choose(odd, cos, sin), sign)
}

// sineDouble is sine in f64. What is subtracted of x leaves r and a rest far below it: the first difference is exact, and what the second product and difference
// lose is computed. The quadrant is the lowest bits of n + 1.5·2^52.
func (m *machine) sineDouble(x vector, quarters uint64) vector {
	const high, middle, low = 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110 // of π/2
	n := m.round(m.mul(x, m.constant(2/math.Pi)), toNearest)
	first := m.fnma(n, m.constant(high), x)
	second := m.mul(n, m.constant(middle))
	r := m.sub(first, second)
	back := m.sub(r, first)
	lost := m.sub(m.sub(first, m.sub(r, back)), m.add(second, back)) // by the difference
	rest := m.fnma(n, m.constant(low), m.sub(lost, m.fms(n, m.constant(middle), second)))
	square := m.mul(r, r)
	half := m.mul(square, m.constant(0.5))
	sin := m.fma(m.mul(square, r), m.horner(square, sin64...), m.fnma(rest, half, rest))
	sin = m.add(r, sin)
	one := m.copyOf(m.constant(1))
	near := m.sub(one, half)
	cos := m.fma(m.mul(square, square), m.horner(square, cos64...), m.fnma(r, rest, m.sub(m.sub(one, near), half)))
	cos = m.add(near, cos)
	turns := m.add(n, m.constant(0x1.8p52))
	if quarters > 0 {
		turns = m.integer3("ADD", turns, m.pattern(quarters))
	}
	odd := m.compareIntegers(4, false, m.bits("AND", turns, m.pattern(1)), m.zero())
	sign := m.shift("SLL", m.bits("AND", turns, m.pattern(2)), 62)
	return m.bits("XOR", m.choose(odd, cos, sin), sign)
}
