package tile

import "math"

// exactQuotient bounds the whole quotients whose products with a number of 24 bits are exact in a float64.
const exactQuotient = 1 << 29

// remainder32 is math.Mod of numbers of 24 bits, bit for bit. A whole quotient in float64 is the exact one, or one more where the division was
// rounded up to it; product and difference are exact.
func remainder32(x, y float32) float32 {
	ax, ay := math.Abs(float64(x)), math.Abs(float64(y))
	if ax < ay {
		return x
	}
	q := ax / ay
	if !(q < exactQuotient) { // a NaN, an infinity or a zero, too
		return float32(math.Mod(float64(x), float64(y)))
	}
	r := ax - float64(float64(int64(q))*ay)
	if r < 0 {
		r += ay
	}
	return float32(math.Copysign(r, float64(x)))
}
