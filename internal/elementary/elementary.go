// Package elementary has the functions of package math that do not serve their whole range there, or lose digits in parts of it.
package elementary

import "math"

// The assembly behind [math.Exp] for amd64 gives infinity from 709.5 on, where the largest finite results are still to come. So large
// powers are taken of a smaller number: expShift is 512·ln 2 to so few digits that the difference is exact, expRest what makes up for it.
const (
	largeExp = 709
	expShift = 354.89135644654743373394012451171875
	expRest  = -1.445646876722722e-10
)

// expLarge is e to the power x for large x, times scale and 2 to the power -512.
func expLarge(x, scale float64) float64 {
	y := math.Exp(min(x, 1000) - expShift) // finite, so that the sum is no NaN
	return (y + y*expRest) * scale
}

// Exp is [math.Exp] up to the greatest number.
func Exp(x float64) float64 {
	if x > largeExp {
		return expLarge(x, 0x1p512)
	}
	return math.Exp(x)
}

// Log is [math.Log], whose assembly for amd64 takes the exponent of a subnormal number from its bits.
func Log(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// Cosh is [math.Cosh] up to the greatest number.
func Cosh(x float64) float64 {
	if a := math.Abs(x); a > largeExp {
		return expLarge(a, 0x1p511)
	}
	return math.Cosh(x)
}

// Sinh is [math.Sinh] up to the greatest number.
func Sinh(x float64) float64 {
	if a := math.Abs(x); a > largeExp {
		return math.Copysign(expLarge(a, 0x1p511), x)
	}
	return math.Sinh(x)
}
