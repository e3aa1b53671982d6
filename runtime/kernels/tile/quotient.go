package tile

import (
	"math"
	"unsafe"
)

// quotient divides complex numbers of two f32, in f64: by Smith's method, which where both parts come out as no number recovers infinities and zeros.
func quotient(n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[[2]float32](d, n), vec[[2]float32](a, n), vec[[2]float32](b, n)
	for i := range z {
		a, b, c, d := float64(x[i][0]), float64(x[i][1]), float64(y[i][0]), float64(y[i][1])
		var re, im float64
		if math.Abs(c) < math.Abs(d) {
			r := c / d
			t := d + c*r
			re, im = (a*r+b)/t, (b*r-a)/t
		} else {
			r := d / c
			t := c + d*r
			re, im = (a+b*r)/t, (b-a*r)/t
		}
		if re != re && im != im {
			re, im = recoverQuotient(re, im, a, b, c, d)
		}
		z[i] = [2]float32{float32(re), float32(im)}
	}
}

// recoverQuotient is what (a + bi) / (c + di) is where Smith's method has come to (re, im), neither of which is a number.
func recoverQuotient(re, im, a, b, c, d float64) (float64, float64) {
	isInf := func(x, y float64) bool { return math.IsInf(x, 0) || math.IsInf(y, 0) }
	isFinite := func(x, y float64) bool { return x-x == 0 && y-y == 0 }
	unit := func(x float64) float64 { // infinities become ones, other numbers zeros
		if math.IsInf(x, 0) {
			return math.Copysign(1, x)
		}
		return math.Copysign(0, x)
	}
	switch inf := math.Inf(1); {
	case c == 0 && d == 0 && (a == a || b == b):
		inf = math.Copysign(inf, c)
		return inf * a, inf * b
	case isInf(a, b) && isFinite(c, d):
		a, b = unit(a), unit(b)
		return inf * (a*c + b*d), inf * (b*c - a*d)
	case isInf(c, d) && isFinite(a, b):
		c, d = unit(c), unit(d)
		return 0 * (a*c + b*d), 0 * (b*c - a*d)
	}
	return re, im
}
