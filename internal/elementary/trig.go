package elementary

import (
	"math"
	"math/big"
	"sync"
)

// Sine, cosine and tangent with a reduction that keeps relative accuracy next to multiples of pi/2, where math.Sin loses some of it.

// pi/2 in three pieces of 53 bits each.
const (
	halfPi1 = 0x1.921fb54442d18p+0
	halfPi2 = 0x1.1a62633145c07p-54
	halfPi3 = -0x1.f1976b7ed8fbcp-110
)

// quarterTurns reduces x to quadrant·pi/2 + (r + rest) with r within pi/4. It reports false when x needs no reduction.
func quarterTurns(x float64) (quadrant int, r, rest float64, ok bool) {
	switch a := math.Abs(x); {
	case !(a > math.Pi/4) || math.IsInf(x, 0):
		return 0, x, 0, false
	case a >= 1<<28:
		quadrant, r, rest = manyQuarterTurns(x)
		return quadrant, r, rest, true
	}
	k := math.RoundToEven(x * (2 / math.Pi))
	p := k * halfPi1
	low := math.FMA(k, halfPi1, -p) // k·halfPi1 is p + low exactly
	t := x - p                      // exact, they are close
	q := k * halfPi2
	lower := math.FMA(k, halfPi2, -q)
	// r + rest = t - low - q - lower - k·halfPi3
	r, e1 := twoSum(t, -low)
	r, e2 := twoSum(r, -q)
	rest = e1 + e2 - lower - k*halfPi3
	r, rest = twoSum(r, rest)
	return int(int64(k) & 3), r, rest, true
}

// manyQuarterTurns is the same for numbers so large that pi/2 has to be known to more than a thousand bits.
func manyQuarterTurns(x float64) (quadrant int, r, rest float64) {
	half := longHalfPi()
	turns := new(big.Float).SetPrec(longBits).SetFloat64(x)
	turns.Quo(turns, half)
	whole, _ := new(big.Float).Copy(turns).Int(nil)
	fraction := new(big.Float).SetPrec(longBits).Sub(turns, new(big.Float).SetPrec(longBits).SetInt(whole))
	if f, _ := fraction.Float64(); math.Abs(f) > 0.5 {
		one := int64(math.Copysign(1, f))
		whole.Add(whole, big.NewInt(one))
		fraction.Sub(fraction, new(big.Float).SetInt64(one))
	}
	fraction.Mul(fraction, half)
	r, _ = fraction.Float64()
	rest, _ = fraction.Sub(fraction, new(big.Float).SetFloat64(r)).Float64()
	return int(new(big.Int).And(whole, big.NewInt(3)).Int64()), r, rest
}

// longBits is enough for the largest float64, whose integer part has 1024 bits, next to a multiple of pi/2.
const longBits = 1300

// longHalfPi is pi/2 by Machin's formula, pi/4 = 4·arctan(1/5) - arctan(1/239).
var longHalfPi = sync.OnceValue(func() *big.Float {
	const guard = 64
	arctan := func(inverse int64) *big.Int { // scaled by 2^(longBits+guard)
		term := new(big.Int).Lsh(big.NewInt(1), longBits+guard)
		term.Quo(term, big.NewInt(inverse))
		sum, square := new(big.Int), big.NewInt(inverse*inverse)
		for n := int64(1); term.Sign() != 0; n += 2 {
			part := new(big.Int).Quo(term, big.NewInt(n))
			if n%4 == 1 {
				sum.Add(sum, part)
			} else {
				sum.Sub(sum, part)
			}
			term.Quo(term, square)
		}
		return sum
	}
	quarter := new(big.Int).Mul(arctan(5), big.NewInt(4))
	quarter.Sub(quarter, arctan(239))
	f := new(big.Float).SetPrec(longBits).SetInt(quarter)
	return f.SetMantExp(f, 1-longBits-guard)
})

// twoSum is a+b and its rounding error.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	v := s - a
	return s, (a - (s - v)) + (b - v)
}

// Sin is the sine.
func Sin(x float64) float64 {
	k, r, rest, ok := quarterTurns(x)
	if !ok {
		return math.Sin(x)
	}
	return sinCosAt(k, r, rest)
}

// Cos is the cosine.
func Cos(x float64) float64 {
	k, r, rest, ok := quarterTurns(x)
	if !ok {
		return math.Cos(x)
	}
	return sinCosAt(k+1, r, rest)
}

// sinCosAt is the sine of quadrant·pi/2 + r + rest.
func sinCosAt(quadrant int, r, rest float64) float64 {
	var y float64
	s, c := math.Sincos(r)
	if quadrant&1 == 0 {
		y = s + rest*c
	} else {
		y = c - rest*s
	}
	if quadrant&2 != 0 {
		return -y
	}
	return y
}

// Tan is the tangent.
func Tan(x float64) float64 {
	k, r, rest, ok := quarterTurns(x)
	if !ok {
		return math.Tan(x)
	}
	t := math.Tan(r)
	t += rest * (1 + t*t)
	if k&1 != 0 {
		return -1 / t
	}
	return t
}

// Atan2 is the angle of the point (x, y). math.Atan2 loses its sign where the quotient of the coordinates is too small for a float64.
func Atan2(y, x float64) float64 { return math.Copysign(math.Atan2(math.Abs(y), x), y) }
