package factor

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTall multiplies Q and R of matrices of many rows and few columns, and Q with itself.
func TestTall(t *testing.T) {
	t.Run("f32", func(t *testing.T) { testTall[float32](t, 0x1p-23) })
	t.Run("f64", func(t *testing.T) { testTall[float64](t, 0x1p-52) })
	t.Run("c64", func(t *testing.T) { testTall[complex64](t, 0x1p-23) })
	t.Run("c128", func(t *testing.T) { testTall[complex128](t, 0x1p-52) })
}

func testTall[T Number](t *testing.T, epsilon float64) {
	rng := rand.New(rand.NewPCG(7, 11))
	var qr QR[T]
	for _, s := range [][2]int{{33, 8}, {64, 16}, {101, 17}, {500, 20}, {200, 50}, {300, 64}} {
		m, n := s[0], s[1]
		require.True(t, isTall[T](m, n), "%v", s)
		a := make([]T, m*n)
		for i := range a {
			a[i] = complexOf[T](rng.NormFloat64(), rng.NormFloat64())
			if i%n == 5 { // a column is zero
				a[i] = 0
			}
		}
		r, taus, q := append([]T(nil), a...), make([]T, n), make([]T, m*n)
		qr.Factor(Dense(r, n), m, n, taus)
		qr.Expand(Dense(q, n), Dense(r, n), m, n, taus)
		at := func(v []T, i, j int) complex128 { return complex(realPart(v[i*n+j]), imaginaryPart(v[i*n+j])) }
		worst := 0.0
		for i := range m {
			for j := range n {
				sum := -at(a, i, j)
				for k := range j + 1 {
					sum += at(q, i, k) * at(r, k, j)
				}
				worst = max(worst, cmplx.Abs(sum))
			}
		}
		require.Less(t, worst, 30*epsilon*math.Sqrt(float64(m)), "Q·R of %v", s)
		worst = 0
		for i := range n {
			for j := range n {
				sum := complex128(0)
				if i == j {
					sum = -1
				}
				for k := range m {
					sum += cmplx.Conj(at(q, k, i)) * at(q, k, j)
				}
				worst = max(worst, cmplx.Abs(sum))
			}
		}
		require.Less(t, worst, 30*epsilon, "Qᴴ·Q of %v", s)
		few := make([]T, m*n)
		qr.Expand(Dense(few, n), Dense(r, n), m, n, taus[:n/2]) // what fewer reflectors leave of the unit vectors
		for i := range m {
			for j := range n / 2 {
				require.InDelta(t, 0, cmplx.Abs(at(few, i, j)-at(q, i, j)), 30*epsilon, "%v", s)
			}
		}
	}
}
