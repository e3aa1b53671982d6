package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// The coefficients for f32 are minimax, in relative error of the function; those for f64 are the Taylor series of exp, and the
// series of log in s = f/(2+f) that is widely used, by Ng of Sun Microsystems.
var (
	// (e^r - 1 - r)/r² for |r| ≤ ln2/2: 3e-9 of e^r.
	exp32 = []float64{0.0013951719738543034, 0.008369598537683487, 0.0416661873459816, 0.16666512191295624, 0.5}
	// The same, for e^r - 1: those of XLA's CPU compiler.
	expm132 = []float64{0x1.a0d2cep-13, 0x1.6e879cp-10, 0x1.11121p-7, 0x1.555382p-5, 0x1.555554p-3, 0.5}
	// (log(1+f) - f + f²/2)/f³ for 1+f from √½ to √2: 7e-10 of log(1+f).
	log32 = []float64{0.06746640056371689, -0.11675652116537094, 0.11888162046670914, -0.1240558922290802, 0.14219552278518677,
		-0.1666799634695053, 0.2000211924314499, -0.25000008940696716, 0.3333331346511841}
	log64 = []float64{1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
		2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01}
	// (log((1+s)/(1-s))/s - 2)/s² in s², and (e^r - 1 - r)/r², in f64 for results in f32: 5e-12 of the logarithm, 5e-11 of e^r.
	logSingle = []float64{0.23582152455789793, 0.28537308484022555, 0.40000335191748515, 0.666666656454528}
	expSingle = []float64{0.00019790341651076, 0.0013944659745907448, 0.008333497075198615, 0.04166629494566979, 0.16666665868931224, 0.5000000067682554}
	// ((e^2r - 1)/2 - r)/r² for 2r/ln2 from tanhDown - ½ to tanhDown + ½: 1e-8 of (e^2r - 1)/2.
	tanh32 = []float64{0.054669907971782, 0.13084663839738098, 0.3335219308256609, 0.666670287089881, 0.9999994661617808}
	// (sin(x) - x)/x³ and (cos(x) - 1 + x²/2)/x⁴ in x², for |x| ≤ π/4: 5e-12 of sin, 1e-13.
	sin32 = []float64{2.7175644845556235e-06, -0.00019839256128761917, 0.008333329111337662, -0.1666666716337204}
	cos32 = []float64{-2.720330201100296e-07, 2.479943577782251e-05, -0.0013888883404433727, 0.0416666679084301}
	// The same for f64, as widely used: by Ng of Sun Microsystems.
	sin64 = []float64{1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04,
		8.33333333332248946124e-03, -1.66666666666666324348e-01}
	cos64 = []float64{-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05,
		-1.38888888888741095749e-03, 4.16666666666666019037e-02}
	// erf(x)/x - 1 in x², for |x| ≤ 0.93: 5e-10 of erf.
	erf32 = []float64{8.31677534733899e-05, -0.0008130013011395931, 0.005199906881898642, -0.026858940720558167, 0.11283687502145767,
		-0.37612631916999817, 0.12837916657980929}
	// log(1 - erf(x)) for x from 0.9 to 4: 6e-11 of erf.
	erfc32 = []float64{-2.082852370222099e-05, 0.0004313925455790013, -0.004156250040978193, 0.02508060447871685, -0.10822036862373352,
		-0.6334008574485779, -1.1294883489608765, 0.00016920386406127363}
)

// tanhDown is how much is taken off before rounding.
const tanhDown = 0.35

// shifted is so large a number of f32 that the last bit of a sum is the ones'.
const shifted = 3 << 22

// taylor is (e^r - 1 - r)/r² with n terms.
func taylor(n int) []float64 {
	c := make([]float64, n)
	f := 2.0
	for i := range c {
		c[n-1-i] = 1 / f
		f *= float64(i + 3)
	}
	return c
}

// between keeps x in a range; NaN stays.
func (m *machine) between(x vector, lo, hi float64) vector {
	return m.max(m.copyOf(m.constant(lo)), m.min(m.copyOf(m.constant(hi)), x))
}

// splitExp writes x of f64 as n·ln2 + r with |r| at most ln2/2 and n whole.
func (m *machine) splitExp(x vector) (n, r vector) {
	const high, low = 6.93147180369123816490e-01, 1.90821492927058770002e-10 // so few bits that n times the high part is exact
	n = m.round(m.mul(x, m.constant(math.Log2E)), toNearest)
	r = m.fnma(n, m.constant(high), x)
	return n, m.fnma(n, m.constant(low), r)
}

// splitExpDown is splitExp for f32, with a half rounded up.
func (m *machine) splitExpDown(x vector) (n, r vector) {
	n = m.round(m.fma(x, m.copyOf(m.constant(0x1.715476p+0)), m.copyOf(m.constant(0.5))), down)
	r = m.fnma(n, m.constant(0.693359375), x)
	return n, m.fnma(n, m.constant(-2.12194440e-4), r)
}

// exp is e^x. No step has a denormal result, nor rounds one to zero, which takes some processors a hundred cycles: the sums of attention, of optimal transport and of
// densities are full of powers that small.
func (m *machine) exp(x vector) vector {
	if m.lane == 4 {
		return m.expSingle(x)
	}
	return m.expSum(x, vector{})
}

// expSum is e^(x + low) of f64, for low that is far below x, or none.
func (m *machine) expSum(x, low vector) vector {
	const lo, hi = -746, 710
	clamped := m.min(m.copyOf(m.constant(hi)), x)
	if !m.wide { // where scale needs a number that is not too small, whatever it scales
		clamped = m.max(m.copyOf(m.constant(lo)), clamped)
	}
	n, r := m.splitExp(clamped)
	series, lost := m.polynomial, vector{}
	if low.VecVirtual != nil {
		series = m.horner // which needs the fewest registers
		first := m.fnma(n, m.constant(6.93147180369123816490e-01), clamped)
		rest := m.fnma(n, m.constant(1.90821492927058770002e-10), low)
		r = m.add(first, rest)
		lost = m.add(m.sub(first, r), rest)
	}
	near := m.add(r, m.constant(1))
	bySum := m.sub(r, m.sub(near, m.constant(1)))
	if low.VecVirtual != nil {
		bySum = m.fma(lost, near, bySum)
	}
	y := m.add(near, m.fma(m.mul(r, r), series(r, taylor(12)...), bySum))
	small := m.compare(isLess, x, m.constant(denormalPowers64))
	y = m.only(m.compare(isNotLess, x, m.constant(lo)), y)
	return m.denormal(small, m.scale(y, m.add(n, m.only(small, m.constant(1074)))))
}

// The powers of e below these are denormal in f32 and f64.
const denormalPowers32, denormalPowers64 = -87.3366, -708.3965

// denormal makes denormal numbers without arithmetic on them: where the mask is set, x counts the smallest one, of which there are at most as many as make a normal number, and
// the count, rounded to an integer, is the number's bits. In f64 a sum with the number whose last place is one rounds it.
func (m *machine) denormal(small, x vector) vector {
	counter := m.constant(1 << 52)
	switch {
	case m.lane == 4 && m.wide:
		d := m.copyOf(x)
		m.op("VCVTPS2DQ", x, small.k, d)
		return d
	case m.lane == 4:
		return m.choose(small, m.counted(x), x)
	case m.wide:
		d := m.copyOf(x)
		m.op("VADDPD", counter, x, small.k, d)
		m.op("VPSUBQ", counter, d, small.k, d)
		return d
	}
	counts := m.only(small, counter)
	return m.integer3("SUB", m.add(x, counts), counts)
}

// counted is x of f32 as an integer.
func (m *machine) counted(x vector) vector {
	d := m.vector()
	m.op("VCVTPS2DQ", x, d)
	return d
}

// only is x where the mask is set, else 0.
func (m *machine) only(mask vector, x operand.Op) vector {
	if !m.wide {
		return m.bits("AND", mask, x)
	}
	d := m.vector()
	m.float2("VMOVU", "_Z", x, mask.k, d)
	return d
}

// expSingle is exp of f32: p·(e^r - 1) + p, rounded once, for p = 2^n. Without an instruction that scales, p is half of that, so that it is finite; below 2^-125, where half of it
// may be denormal, p counts.
func (m *machine) expSingle(x vector) vector {
	const lo, hi = -104, 89
	limit, bias := denormalPowers32, 0.0
	a := m.max(m.copyOf(m.constant(lo)), m.min(m.copyOf(m.constant(hi)), x))
	if !m.wide {
		limit, bias = -125*math.Ln2, 127-1
	}
	sum := m.fma(a, m.copyOf(m.constant(math.Log2E)), m.copyOf(m.constant(shifted+bias)))
	n := m.sub(sum, m.constant(shifted+bias))
	high, low := m.fnma(n, m.constant(0x1.62e4p-1), a), m.mul(n, m.constant(-1.428606820309417232e-06)) // of ln2; the first is exact
	r := m.add(high, low)
	less1 := m.add(high, m.fma(m.mul(r, r), m.horner(r, exp32...), low))
	small := m.compare(isLess, a, m.constant(limit))
	if m.wide {
		m.VADDPS(m.constant(149), n, small.k, n)
		return m.denormal(small, m.scale(m.add(less1, m.constant(1)), n))
	}
	p := m.integer3("ADD", m.shift("SLL", sum, 23), m.only(small, m.pattern((149+1)<<23)))
	y := m.fma(less1, p, p)
	return m.choose(small, m.counted(y), m.add(y, y))
}

// expm1 is e^x - 1 = 2^n·(e^r - 1) + (2^n - 1). It works with half of 2^n, which does not overflow. In f32 beyond a half, it is
// what XLA's CPU compiler makes of e^x, minus 1, bit for bit (but for the last results before infinity, where that is off): sines of complex numbers multiply the error.
func (m *machine) expm1(x vector) vector {
	const lo = -40 // where it is -1 already
	hi, c, split := 88.8, expm132, m.splitExpDown
	if m.lane == 8 {
		hi, c, split = 709.9, taylor(13), m.splitExp
	}
	n, r := split(m.between(x, lo, hi))
	tiny := m.tiny(x)
	r = m.choose(tiny, m.zero(), r)
	p := m.fma(m.horner(r, c...), m.mul(r, r), r)
	half := m.scale(m.copyOf(m.constant(0.5)), n)
	y := m.fma(p, half, m.sub(half, m.constant(0.5)))
	y = m.add(y, y)
	if m.lane == 4 {
		far := m.mul(m.add(p, m.constant(1)), half)
		far = m.sub(m.add(far, far), m.constant(1))
		y = m.choose(m.compare(isLess, m.copyOf(m.constant(0.5)), m.abs(x)), far, y)
	}
	return m.choose(tiny, x, y)
}

// tiny is a mask of numbers so small that e^x - 1 and log(1 + x) round to x itself. Nothing is computed of them, as their powers would be denormal.
func (m *machine) tiny(x vector) vector {
	bound := m.constant(0x1p-26)
	if m.lane == 8 {
		bound = m.constant(0x1p-55)
	}
	return m.compare(isLess, m.abs(x), bound)
}

// scale is x·2^n for whole n, rounded once where the result is denormal.
func (m *machine) scale(x, n vector) vector {
	if m.wide {
		d := m.vector()
		m.float("VSCALEF", n, x, d)
		return d
	}
	// Two factors, each a power of two by its exponent field: the first product is exact.
	var whole vector
	bias, shift := uint64(127), 23
	if m.lane == 4 {
		whole = m.vector()
		m.op("VCVTPS2DQ", n, whole)
	} else {
		short := m.XMM()
		m.op("VCVTPD2DQY", n, short)
		whole = m.vector()
		m.op("VPMOVSXDQ", short, whole)
		bias, shift = 1023, 52
	}
	part := m.vector()
	m.op("VPSRAD", operand.U8(1), whole, part) // right for 64 bits too: the upper half is nothing but sign
	power := func(e vector) vector { return m.shift("SLL", m.integer3("ADD", e, m.pattern(bias)), shift) }
	return m.mul(m.mul(x, power(part)), power(m.integer3("SUB", whole, part)))
}

// splitLog writes a normal positive x as 2^e·t with t between √½ and √2.
func (m *machine) splitLog(x vector) (t, e vector) {
	one, root, fraction := uint64(0x3f800000), uint64(0x3f3504f3), uint64(1<<23-1)
	if m.lane == 8 {
		one, root, fraction = 0x3ff0000000000000, 0x3fe6a09e667f3bcd, 1<<52-1
	}
	bits := m.integer3("ADD", x, m.pattern(one-root))
	if m.lane == 4 {
		e = m.sub(m.toFloat(m.shift("SRL", bits, 23)), m.constant(127))
	} else {
		// A number below 2^52 becomes a double by the exponent of 2^52 in front of it.
		e = m.sub(m.bits("OR", m.shift("SRL", bits, 52), m.pattern(0x4330000000000000)), m.constant(1<<52+1023))
	}
	return m.integer3("ADD", m.bits("AND", bits, m.pattern(fraction)), m.pattern(root)), e
}

// splitLogOfAny is splitLog for denormals too, of which it makes normal numbers by converting their bits as integers.
func (m *machine) splitLogOfAny(x vector) (t, e vector) {
	smallest, exponent := 0x1p-126, 149.0
	if m.lane == 8 {
		smallest, exponent = 0x1p-1022, 1074
	}
	var counted vector
	if m.lane == 4 {
		counted = m.toFloat(x)
	} else {
		counted = m.sub(m.bits("OR", x, m.constant(1<<52)), m.constant(1<<52))
	}
	denormal := m.compare(isLess, x, m.constant(smallest))
	t, e = m.splitLog(m.choose(denormal, counted, x))
	return t, m.choose(denormal, m.sub(e, m.constant(exponent)), e)
}

// logOf is e·ln2 + log(1+f).
func (m *machine) logOf(f, e vector) vector {
	const high, low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	square := m.mul(f, f)
	half := m.mul(square, m.constant(0.5))
	if m.lane == 4 {
		y := m.mul(m.mul(square, f), m.horner(f, log32...))
		y = m.fma(e, m.constant(-2.12194440e-4), y)
		y = m.add(m.sub(y, half), f)
		return m.fma(e, m.constant(0.693359375), y)
	}
	s := m.div(f, m.add(f, m.constant(2)))
	z := m.mul(s, s)
	r := m.mul(m.polynomial(z, log64...), z)
	y := m.fma(s, m.add(half, r), m.mul(e, m.constant(low)))
	return m.fma(e, m.constant(high), m.sub(f, m.sub(half, y)))
}

// logEnds puts in what log gives where x is not a positive number.
func (m *machine) logEnds(x, y vector) vector {
	y = m.choose(m.compare(isLess, x, m.constant(math.Inf(1))), y, x) // infinity and NaN
	y = m.choose(m.compare(isLess, x, m.zero()), m.copyOf(m.constant(math.NaN())), y)
	return m.choose(m.compare(isEqual, x, m.zero()), m.copyOf(m.constant(math.Inf(-1))), y)
}
