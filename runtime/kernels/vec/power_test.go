package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exactPrecision is that of numbers in which powers are computed anew.
const exactPrecision = 160

func exact(x float64) *big.Float { return new(big.Float).SetPrec(exactPrecision).SetFloat64(x) }

// exactPower is x to the power y, for a positive x, by series.
func exactPower(x, y float64) *big.Float {
	fraction, e := math.Frexp(x)
	ln2 := exactLog(exact(2))
	log := exactLog(exact(fraction))
	log.Add(log, new(big.Float).Mul(ln2, exact(float64(e))))
	log.Mul(log, exact(y))
	n, _ := new(big.Float).Quo(log, ln2).Int64()
	log.Sub(log, new(big.Float).Mul(ln2, exact(float64(n))))
	sum, term := exact(1), exact(1)
	for k := 1.0; k < 60; k++ {
		term.Mul(term, log)
		term.Quo(term, exact(k))
		sum.Add(sum, term)
	}
	return sum.SetMantExp(sum, int(n))
}

// exactLog is the logarithm by the series of the area tangent.
func exactLog(x *big.Float) *big.Float {
	s := new(big.Float).Quo(new(big.Float).Sub(x, exact(1)), new(big.Float).Add(x, exact(1)))
	z := new(big.Float).Mul(s, s)
	sum, power := exact(0), new(big.Float).Copy(s)
	for k := 1.0; k < 120; k += 2 {
		sum.Add(sum, new(big.Float).Quo(power, exact(k)))
		power.Mul(power, z)
	}
	return sum.Mul(sum, exact(2))
}

// TestPower64 holds powers of f64 to the exact ones, and to math.Pow at the ends of the range.
func TestPower64(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		power := Find(named("power.f64"), nil)
		rng := rand.New(rand.NewPCG(5, 6))
		var a, b []float64
		add := func(x, y float64) { a, b = append(a, x), append(b, y) }
		list := append(edges(), -3, -2, 3, 0.5, 1<<53-1, 1<<53, -(1<<52 + 1), math.MaxFloat64, 5e-324)
		for _, x := range list {
			for _, y := range list {
				add(x, y)
			}
		}
		const tried = 4000
		for i := range tried {
			switch i % 4 {
			case 0: // all exponents that give numbers
				x := math.Exp(rng.Float64()*1400 - 700)
				add(x, (rng.Float64()*2-1)*700/max(1, math.Abs(math.Log(x))))
			case 1: // next to 1
				x := 1 + (rng.Float64()-0.5)*math.Exp(-rng.Float64()*30)
				add(x, (rng.Float64()*2-1)*700/math.Max(1e-300, math.Abs(math.Log(x))))
			case 2:
				add(rng.Float64()*10, rng.Float64()*6-3)
			default: // where the logarithm is taken in another way
				add(math.Ldexp(math.Sqrt2*(1+(rng.Float64()-0.5)*1e-3), rng.IntN(20)-10), (rng.Float64()*2-1)*40)
			}
		}
		got := make([]float64, len(a))
		power(len(a), pointer(got), pointer(a), pointer(b), nil)
		worst, at := 0.0, 0
		for i, y := range got {
			want := math.Pow(a[i], b[i]) // for its sign, and where nothing is left to round
			if x := math.Abs(a[i]); want == 0 || want-want != 0 || x == 1 || b[i] == 0 {
				require.True(t, sameBits(want, y), "%v to the power %v is %v, not %v", a[i], b[i], y, want)
				continue
			}
			e := exactPower(math.Abs(a[i]), b[i])
			if want < 0 {
				e.Neg(e)
			}
			nearest, _ := e.Float64()
			if nearest == y {
				continue
			}
			_, exp := math.Frexp(nearest)
			d, _ := new(big.Float).Sub(e, exact(y)).Float64()
			if d = math.Abs(d) / math.Ldexp(1, max(exp, -1021)-53); !(d <= worst) {
				worst, at = d, i
			}
		}
		t.Logf("%v units at %v to the power %v: %v", worst, a[at], b[at], got[at])
		assert.LessOrEqual(t, worst, 0.6)
	})
}

// TestAngles64 holds angles to those of package math, which are wrong by a unit of the last place themselves.
func TestAngles64(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		var a, b []float64
		list := append(edges(), -3, 3, 0.5, -0.4142135623730951, 2.414213562373095, math.MaxFloat64, 5e-324, -5e-324, 0x1p-1022)
		for _, x := range list {
			for _, y := range list {
				a, b = append(a, x), append(b, y)
			}
		}
		for i := range 100000 {
			a, b = append(a, rng.NormFloat64()), append(b, rng.NormFloat64()*math.Exp(rng.Float64()*40-20))
			if i%4 == 0 {
				b[len(b)-1] = 1
			}
		}
		got := make([]float64, len(a))
		Find(named("atan2.f64"), nil)(len(a), pointer(got), pointer(a), pointer(b), nil)
		worst, at := 0.0, 0
		for i, y := range got {
			want := math.Copysign(math.Atan2(math.Abs(a[i]), b[i]), a[i]) // quotients that are too small for f64 have lost their sign
			if sameBits(want, y) || want != want && y != y {
				continue
			}
			_, e := math.Frexp(want)
			if d := math.Abs(want-y) / math.Ldexp(1, max(e, -1021)-53); !(d <= worst) {
				worst, at = d, i
			}
		}
		t.Logf("%v units at %v, %v", worst, a[at], b[at])
		require.LessOrEqual(t, worst, 2.0, "%v, %v", a[at], b[at])
	})
}
