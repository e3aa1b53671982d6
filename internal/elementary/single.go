package elementary

import "math"

// The functions below compute in single precision, step for step as XLA's CPU compiler and the C library that it calls do, so that
// their results are the same bits. They are off from the true value by up to an ulp or so; where a program compares with JAX's
// numbers by an absolute tolerance, and the numbers are large, it is these bits that count.

// fma32 is x·y + z, rounded once: the product is exact in double precision.
func fma32(x, y, z float32) float32 {
	return float32(float64(x)*float64(y) + float64(z))
}

// polynomial32 is the value at x of the polynomial of these coefficients, of the highest power first.
func polynomial32(x float32, coefficients ...float32) float32 {
	y := coefficients[0]
	for _, c := range coefficients[1:] {
		y = fma32(y, x, c)
	}
	return y
}

// ln 2 in two parts, the first of few digits, so that multiples of it are exact.
const (
	ln2High = 0x1.63p-1
	ln2Low  = -0x1.bd0106p-13
)

// Exp32 is e to the power x, a polynomial on half of ln 2 to either side of zero. Results below the smallest normal number are zero.
func Exp32(x float32) float32 {
	if x != x {
		return x
	}
	x = min(max(x, -87.8), 88.8)
	n := min(max(float32(math.Floor(float64(fma32(x, 0x1.715476p+0, 0.5)))), -127), 127)
	r := fma32(-ln2Low, n, fma32(-ln2High, n, x))
	y := polynomial32(r, 0x1.a0d2cep-13, 0x1.6e879cp-10, 0x1.11121p-7, 0x1.555382p-5, 0x1.555554p-3, 0.5)
	y = fma32(y, r*r, r)
	if y = (1 + y) * math.Float32frombits(uint32(int32(n)+127)<<23); y < 0x1p-126 {
		return 0
	}
	return y
}

// Expm1of32 is e^x - 1. Near zero, where the difference would lose digits, and near infinity, where Exp32 does, it is rounded from
// double precision.
func Expm1of32(x float32) float32 {
	if x > 0.5 && x < 88 || x < -0.5 {
		return Exp32(x) - 1
	}
	return float32(math.Expm1(float64(x)))
}

// Log32 is the logarithm of x: that of its exponent, and a polynomial for its mantissa in three interleaved parts.
func Log32(x float32) float32 {
	const smallest = 0x1p-126
	switch {
	case x == 0:
		return float32(math.Inf(-1))
	case !(x > 0):
		return float32(math.NaN())
	case math.IsInf(float64(x), 1):
		return x
	}
	bits := math.Float32bits(max(x, smallest))
	e := float32(int32(bits>>23) - 126)
	m := math.Float32frombits(bits&0x807fffff | 0x3f000000)
	f := m - 1
	if m < 0x1.6a09e6p-1 { // sqrt(1/2)
		e, f = e-1, f+m
	}
	f2 := f * f
	f3 := f2 * f
	y := polynomial32(f3,
		polynomial32(f, 0x1.204376p-4, -0x1.d7a37p-4, 0x1.de4a34p-4),
		polynomial32(f, -0x1.fcba9ep-4, 0x1.23d37ep-3, -0x1.555ca0p-3),
		polynomial32(f, 0x1.999d58p-3, -0x1.fffff8p-3, 0x1.555554p-2))
	y = fma32(y, f3, ln2Low*e)
	return fma32(ln2High, e, fma32(-0.5, f2, f)+y)
}

// Sincos32 is sine and cosine of x, of polynomials in double precision on an eighth of a turn to either side of zero.
func Sincos32(x float32) (sin, cos float32) {
	wide := float64(x)
	if !(math.Abs(wide) < 120) {
		s, c := math.Sincos(wide)
		return float32(s), float32(c)
	}
	quarter := 0
	if math.Abs(wide) >= math.Pi/4 {
		// The quotient by a quarter turn in fixed point: halves are rounded away from zero only where they are positive.
		quarter = (int(int32(wide*(0x1p25/math.Pi))) + 0x800000) >> 24
		wide = math.FMA(-float64(quarter), math.Pi/2, wide)
	}
	square := wide * wide
	s := math.FMA(square*wide, -0x1.555545995a603p-3, wide)
	s = math.FMA(square*wide*square, math.FMA(square, -0x1.994eb3774cf24p-13, 0x1.1107605230bc4p-7), s)
	fourth := square * square
	c := math.FMA(fourth, 0x1.55553e1068f19p-5, math.FMA(square, -0x1.ffffffd0c621cp-2, 1))
	c = math.FMA(fourth*square, math.FMA(square, 0x1.99343027bf8c3p-16, -0x1.6c087e89a359dp-10), c)
	switch quarter & 3 {
	case 1:
		s, c = c, -s
	case 2:
		s, c = -s, -c
	case 3:
		s, c = -c, s
	}
	return float32(s), float32(c)
}

// arcs are the ranges of atan32: below the bound, the argument is brought near zero by (x·num - sub)/(den + x·mul), and the angle
// high+low is added. In the last range, only the angle counts from 2^25 on.
var arcs = [...]struct{ bound, num, sub, den, mul, high, low float32 }{
	{0.6875, 2, 1, 2, 1, 0x1.dac67p-2, 0x1.586ed2p-28},
	{1.1875, 1, 1, 1, 1, 0x1.921fb4p-1, 0x1.4442dp-25},
	{2.4375, 1, 1.5, 1, 1.5, 0x1.f730bcp-1, 0x1.281f68p-25},
	{math.MaxFloat32, 0, 1, 0, 1, 0x1.921fb4p+0, 0x1.4442dp-24},
}

// step32 is x·y + z, rounded twice: what the C library was compiled to for the arc tangent, and other machines than amd64 need to be told.
func step32(x, y, z float32) float32 { return float32(x*y) + z }

// atan32 is the arc tangent of a finite x that is not negative.
func atan32(x float32) float32 {
	var high, low float32
	turned := x >= 0.4375
	if turned {
		k := 0
		for k < len(arcs)-1 && x >= arcs[k].bound {
			k++
		}
		a := &arcs[k]
		if x >= 0x1p25 {
			return a.high + a.low
		}
		x = step32(x, a.num, -a.sub) / step32(x, a.mul, a.den)
		high, low = a.high, a.low
	}
	z := x * x
	w := z * z
	even, odd := float32(0x1.0ad3aep-6), float32(-0x1.2b4442p-5)
	for _, c := range [...]float32{0x1.97b4b2p-5, 0x1.10d66ap-4, 0x1.745cdcp-4, 0x1.24924ap-3, 0x1.555556p-2} {
		even = step32(w, even, c)
	}
	for _, c := range [...]float32{-0x1.dde2d6p-5, -0x1.3b0f2ap-4, -0x1.c71c7p-4, -0x1.99999ap-3} {
		odd = step32(w, odd, c)
	}
	bend := x * step32(z, even, float32(w*odd))
	if !turned {
		return x - float32(bend)
	}
	return high - ((float32(bend) - low) - x)
}

// Atan2of32 is the angle of the point (x, y).
func Atan2of32(y, x float32) float32 {
	if x-x != 0 || y-y != 0 || x == 0 || y == 0 {
		return float32(math.Atan2(float64(y), float64(x)))
	}
	const pi, piLow = float32(math.Pi), -0x1.777a5cp-24
	var angle float32
	exponent := func(x float32) int { return int(math.Float32bits(x) >> 23 & 0xff) }
	switch apart := exponent(y) - exponent(x); {
	case apart > 60:
		return float32(math.Copysign(math.Pi/2, float64(y)))
	case x > 0 || apart >= -60:
		angle = atan32(float32(math.Abs(float64(y / x))))
	}
	if x < 0 {
		angle = pi - (angle - piLow)
	}
	return float32(math.Copysign(float64(angle), float64(y)))
}
