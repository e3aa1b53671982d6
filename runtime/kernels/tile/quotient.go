package tile

import (
	"math"
	"unsafe"
)

// quotient divides complex numbers of two f32. In f64 products are exact, and no square overflows; where both parts come out as no number, infinities and zeros are
// recovered.
func quotient(n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[[2]float32](d, n), vec[[2]float32](a, n), vec[[2]float32](b, n)
	for i := range z {
		a, b, c, d := float64(x[i][0]), float64(x[i][1]), float64(y[i][0]), float64(y[i][1])
		inverse := 1 / (float64(c*c) + float64(d*d))
		re, im := float32((float64(a*c)+float64(b*d))*inverse), float32((float64(b*c)-float64(a*d))*inverse)
		if re != re && im != im {
			re, im = recoverQuotient(re, im, x[i], y[i])
		}
		z[i] = [2]float32{re, im}
	}
}

// recoverQuotient is what x/y is where it has come to (re, im), neither of which is a number.
func recoverQuotient(re, im float32, x, y [2]float32) (float32, float32) {
	a, b, c, d := x[0], x[1], y[0], y[1]
	magnitude := func(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
	copySign := func(x, sign float32) float32 {
		return math.Float32frombits(math.Float32bits(x) | math.Float32bits(sign)&(1<<31))
	}
	infinity := float32(math.Inf(1))
	isInf := func(x, y float32) bool { return magnitude(x) == infinity || magnitude(y) == infinity }
	isFinite := func(x, y float32) bool { return x-x == 0 && y-y == 0 }
	unit := func(x float32) float32 { // infinities become a quarter, so that no sum overflows, other numbers zeros
		if magnitude(x) == infinity {
			return copySign(0.25, x)
		}
		return copySign(0, x)
	}
	switch {
	case c == 0 && d == 0:
		infinity = copySign(infinity, c)
		return infinity * a, infinity * b
	case isInf(a, b) && isFinite(c, d):
		a, b = unit(a), unit(b)
		return infinity * (float32(a*c) + float32(b*d)), infinity * (float32(b*c) - float32(a*d))
	case isInf(c, d) && isFinite(a, b):
		c, d = unit(c), unit(d)
		return 0 * (float32(a*c) + float32(b*d)), 0 * (float32(b*c) - float32(a*d))
	}
	return re, im
}
