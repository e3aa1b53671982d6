package tile

import "math"

// exactQuotient bounds the whole quotients whose products with a number of 24 bits are exact in a float64.
const exactQuotient = 1 << 29

// remainder64 is math.Mod. The difference of the dividend and a multiple of the divisor is exact where it is below that.
func remainder64(x, y float64) float64 {
	ax, ay := math.Abs(x), math.Abs(y)
	if ax < ay {
		return x
	}
	q := ax / ay
	if !(q < 1<<53) {
		return math.Mod(x, y)
	}
	r := math.FMA(-float64(int64(q)), ay, ax)
	if r < 0 {
		r += ay
	}
	return math.Copysign(r, x)
}

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
