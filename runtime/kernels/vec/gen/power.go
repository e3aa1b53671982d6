package main

import "math"

// doublePowers is the power of f64. Its exponent is y·log|x|, of which an error of 2^-53 would be one of the last place for each unit: so the logarithm, and the
// product, are sums of two numbers, the second of which is about what the first one rounds off.
func doublePowers() kernel {
	k := elementwise("power.f64", "sets d to a to the power b.", 8, 2, func(m *machine, in []vector) vector {
		high, low := m.logSum(in[0])
		x, y := in[0], m.between(in[1], -1e300, 1e300) // as good as infinity
		p := m.mul(y, high)
		rest := m.fma(y, low, m.fms(y, high, p))
		rest = m.choose(m.compare(isLess, m.abs(p), m.constant(1000)), rest, m.zero()) // where p is infinite, it is no number
		return m.powerEnds(x, in[1], m.expSum(p, rest))
	})
	k.unroll, k.heavy = 1, true
	return k
}

// logSum is the logarithm of the magnitude of number as a sum: 2s + s³·(2/3 + 2/5·s² + …) for s = f/(2+f), and multiples of ln2.
func (m *machine) logSum(number vector) (high, low vector) {
	x := m.abs(number)
	t, e := m.splitLogOfAny(x)
	f := m.sub(t, m.constant(1))
	// s, and what rounding it has lost.
	u := m.add(f, m.constant(2))
	uLow := m.sub(f, m.sub(u, m.constant(2)))
	inverse := m.div(m.copyOf(m.constant(1)), u)
	s := m.mul(f, inverse)
	sLow := m.mul(m.fnma(s, uLow, m.fnma(s, u, f)), inverse)
	// Its square and third power.
	z := m.mul(s, s)
	zLow := m.fma(m.add(s, s), sLow, m.fms(s, s, z))
	cube := m.mul(s, z)
	cubeLow := m.fma(sLow, z, m.fma(s, zLow, m.fms(s, z, cube)))
	// The series, the first term of which is rounded too: only its last bits count below that.
	var c []float64
	for k := 25; k >= 5; k -= 2 {
		c = append(c, 2/float64(k))
	}
	const twoThirds, twoThirdsLow = 2.0 / 3, 0x1.5555555555555p-55 // 2/3 is more than it by so much
	first := m.copyOf(m.constant(twoThirds))
	tail := m.mul(z, m.horner(z, c...))
	series := m.add(first, tail)
	seriesLow := m.add(m.add(m.sub(first, series), tail), m.constant(twoThirdsLow))
	third := m.mul(cube, series)
	thirdLow := m.fma(cubeLow, series, m.fma(cube, seriesLow, m.fms(cube, series, third)))
	// All together, from the largest on.
	double := m.add(s, s)
	log := m.add(double, third)
	logLow := m.add(m.add(m.sub(double, log), third), m.fma(sLow, m.copyOf(m.constant(2)), thirdLow))
	const ln2, ln2Low = 6.93147180369123816490e-01, 1.90821492927058770002e-10 // so few bits that multiples of the first are exact
	whole := m.mul(e, m.constant(ln2))
	sum := m.add(whole, log)
	rest := m.add(m.add(m.sub(whole, sum), log), m.fma(e, m.constant(ln2Low), logLow))
	high = m.add(sum, rest)
	low = m.add(m.sub(sum, high), rest)
	x = m.abs(number) // once more: it is not worth a register
	isNumber := m.compare(isLess, x, m.constant(math.Inf(1)))
	low = m.choose(isNumber, m.choose(m.compare(isEqual, x, m.zero()), m.zero(), low), m.zero())
	return m.logEnds(x, high), low
}

// floatPower is the power of f32, as f64: e^(y·log|x|). The product is at most about 100, so that errors of 2^-37 of the logarithm and 2^-34 of the exponential add a hundredth to half
// of the last place. No number of f32 is denormal here.
func (m *machine) floatPower(x, y vector) vector {
	const (
		counted = 0x1.8p52 + 1023 // the lowest bits of a sum with it are an exponent
		most    = 150             // and more: e to that is infinite in f32, and e to minus that is 0
	)
	a := m.abs(x)
	t, e := m.splitLog(a)
	f := m.sub(t, m.constant(1))
	s := m.div(f, m.add(f, m.constant(2)))
	z := m.mul(s, s)
	log := m.fma(m.mul(z, m.horner(z, logSingle...)), s, m.add(s, s))
	log = m.fma(e, m.constant(math.Ln2), log)
	log = m.choose(m.compare(isLess, a, m.constant(math.Inf(1))), log, a)
	log = m.choose(m.compare(isEqual, a, m.zero()), m.copyOf(m.constant(math.Inf(-1))), log)
	// So much of y is as good as infinity, but its product with 0 is a number.
	p := m.between(m.mul(m.between(y, -1e300, 1e300), log), -most, most)
	sum := m.fma(p, m.copyOf(m.constant(math.Log2E)), m.copyOf(m.constant(counted)))
	r := m.fnma(m.sub(sum, m.constant(counted)), m.constant(math.Ln2), p)
	power := m.fma(m.mul(r, r), m.horner(r, expSingle...), m.add(r, m.constant(1)))
	return m.powerEnds(x, y, m.mul(power, m.shift("SLL", sum, 52)))
}
