package factor

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

var sizes = []int{1, 2, 3, 7, 13, 24, 25, 31, 48, 50, 97, 130}

func number[T Number](rng *rand.Rand) T {
	x, y := rng.NormFloat64(), rng.NormFloat64()
	var z T
	switch p := any(&z).(type) {
	case *float32:
		*p = float32(x)
	case *float64:
		*p = x
	case *complex64:
		*p = complex(float32(x), float32(y))
	case *complex128:
		*p = complex(x, y)
	}
	return z
}

func wide[T Number](x T) complex128 {
	switch z := any(x).(type) {
	case float32:
		return complex(float64(z), 0)
	case float64:
		return complex(z, 0)
	case complex64:
		return complex128(z)
	}
	return any(x).(complex128)
}

func epsilon[T Number]() float64 {
	var x T
	switch any(x).(type) {
	case float32, complex64:
		return 0x1p-23
	}
	return 0x1p-52
}

func random[T Number](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = number[T](rng)
	}
	return v
}

// near compares v[i] with what want gives, within n units in the last place of scale.
func near[T Number](t *testing.T, got T, want complex128, scale float64, format string, args ...any) {
	t.Helper()
	if d := cmplx.Abs(wide(got) - want); !(d <= scale*epsilon[T]()) {
		t.Fatalf("%s: %v, want %v", fmt.Sprintf(format, args...), got, want)
	}
}

func each(t *testing.T, f func(t *testing.T, of string)) {
	for _, of := range []string{"float32", "float64", "complex64", "complex128"} {
		t.Run(of, func(t *testing.T) { f(t, of) })
	}
}

func TestTriangle(t *testing.T) {
	each(t, func(t *testing.T, of string) {
		switch of {
		case "float32":
			testTriangle(t, packedSolver[float32])
			testTriangle(t, Substitute[float32])
		case "float64":
			testTriangle(t, packedSolver[float64])
			testTriangle(t, Substitute[float64])
		case "complex64":
			testTriangle(t, packedSolver[complex64])
		default:
			testTriangle(t, packedSolver[complex128])
		}
	})
}

// packedSolver solves for one right side.
func packedSolver[T Number](a Matrix[T], n int, unit bool, x Matrix[T]) {
	var tri Triangle[T]
	tri.Pack(a, n, unit)
	tri.SolveAll(x, 1, nil)
}

// testTriangle multiplies the solution by the matrix again. Several right sides are solved together, one alone also by another solver.
func testTriangle[T Number](t *testing.T, one func(a Matrix[T], n int, unit bool, x Matrix[T])) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes {
		a := random[T](rng, n*n)
		for i := range a {
			a[i] /= Real[T](float64(n))
		}
		for i := range n {
			a[i*n+i] += Real[T](2)
		}
		for _, cols := range []int{1, 5, 40} {
			b := random[T](rng, n*cols)
			for which := range 8 {
				m := Dense(a, n)
				m.Conjugate = which&4 != 0
				unit := which&1 != 0
				x := append([]T(nil), b...)
				view, right := m, Dense(x, cols)
				if which&2 != 0 { // the upper triangle
					view, right = m.Reversed(n), right.RowsReversed(n)
				}
				if cols == 1 {
					one(view, n, unit, right)
				} else {
					var tri Triangle[T]
					tri.Pack(view, n, unit)
					tri.SolveAll(right, cols, nil)
				}
				for i := range n {
					for j := range cols {
						sum := complex128(0)
						from, to := 0, i
						if which&2 != 0 {
							from, to = i+1, n
						}
						for k := from; k < to; k++ {
							sum += wide(m.get(i, k)) * wide(x[k*cols+j])
						}
						d := complex128(1)
						if !unit {
							d = wide(m.get(i, i))
						}
						near(t, b[i*cols+j], sum+d*wide(x[i*cols+j]), 40*float64(n), "n=%d cols=%d %b (%d,%d)", n, cols, which, i, j)
					}
				}
			}
		}
	}
}

func TestCholesky(t *testing.T) {
	each(t, func(t *testing.T, of string) {
		switch of {
		case "float32":
			testCholesky[float32](t)
		case "float64":
			testCholesky[float64](t)
		case "complex64":
			testCholesky[complex64](t)
		default:
			testCholesky[complex128](t)
		}
	})
}

func testCholesky[T Number](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var c Cholesky[T]
	for _, n := range sizes {
		l := random[T](rng, n*n)
		a := make([]T, n*n)
		for i := range n {
			for j := range n {
				sum := complex128(0)
				for k := range n {
					sum += wide(l[i*n+k]) * cmplx.Conj(wide(l[j*n+k]))
				}
				if i == j {
					sum += complex(float64(n), 0)
				}
				a[i*n+j] = Real[T](real(sum))
				if z, ok := any(&a[i*n+j]).(*complex64); ok {
					*z = complex64(sum)
				}
				if z, ok := any(&a[i*n+j]).(*complex128); ok {
					*z = sum
				}
			}
		}
		f := append([]T(nil), a...)
		require.True(t, c.Factor(Dense(f, n), n), "n=%d", n)
		for i := range n {
			for j := range i + 1 {
				sum := complex128(0)
				for k := range j + 1 {
					sum += wide(f[i*n+k]) * cmplx.Conj(wide(f[j*n+k]))
				}
				near(t, a[i*n+j], sum, 50*float64(n), "n=%d (%d,%d)", n, i, j)
			}
		}
		for _, at := range []int{0, n / 2, n - 1} {
			for _, x := range []float64{-1e6, math.NaN()} {
				f := append([]T(nil), a...)
				f[at*n+at] = Real[T](x)
				require.False(t, c.Factor(Dense(f, n), n), "n=%d with %v at %d", n, x, at)
			}
		}
	}
}

func TestLU(t *testing.T) {
	each(t, func(t *testing.T, of string) {
		switch of {
		case "float32":
			testLU[float32](t)
		case "float64":
			testLU[float64](t)
		case "complex64":
			testLU[complex64](t)
		default:
			testLU[complex128](t)
		}
	})
}

func testLU[T Number](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var f LU[T]
	for _, m := range sizes {
		for _, n := range []int{1, 5, 8, 9, 24, 60, m} {
			a := random[T](rng, m*n)
			lu := append([]T(nil), a...)
			pivots := make([]int32, min(m, n))
			require.Equal(t, -1, f.Factor(Dense(lu, n), m, n, pivots), "%d×%d", m, n)
			for i, p := range pivots {
				require.GreaterOrEqual(t, int(p), i)
				require.Less(t, int(p), m)
				for k := range n {
					a[i*n+k], a[int(p)*n+k] = a[int(p)*n+k], a[i*n+k]
				}
			}
			for i := range m {
				for j := range n {
					sum := complex128(0)
					for k := range min(i, j+1, n) {
						sum += wide(lu[i*n+k]) * wide(lu[k*n+j])
					}
					if i <= j {
						sum += wide(lu[i*n+j])
					} else {
						require.LessOrEqual(t, size(lu[i*n+j]), 2.01, "%d×%d: a multiplier", m, n)
					}
					near(t, a[i*n+j], sum, 100*float64(max(m, n)), "%d×%d (%d,%d)", m, n, i, j)
				}
			}
		}
	}
	// A column of zeros is found, wherever it is.
	for _, at := range []int{0, 3, 11, 29} {
		a := random[T](rng, 30*30)
		for i := range 30 {
			a[i*30+at] = 0
		}
		require.Equal(t, at, f.Factor(Dense(a, 30), 30, 30, make([]int32, 30)))
	}
}

func BenchmarkCholesky(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{64, 256, 1024} {
		b.Run(fmt.Sprintf("f32[%d,%[1]d]", n), func(b *testing.B) {
			a, l := random[float32](rng, n*n), make([]float32, n*n)
			for i := range n {
				a[i*n+i] += float32(n)
			}
			var f Cholesky[float32]
			b.ReportAllocs()
			for b.Loop() {
				copy(l, a)
				if !f.Factor(Dense(l, n), n) {
					b.Fatal("not positive definite")
				}
			}
		})
	}
}

func BenchmarkLU(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{64, 256, 1024} {
		b.Run(fmt.Sprintf("f32[%d,%[1]d]", n), func(b *testing.B) {
			a, lu, pivots := random[float32](rng, n*n), make([]float32, n*n), make([]int32, n)
			var f LU[float32]
			b.ReportAllocs()
			for b.Loop() {
				copy(lu, a)
				f.Factor(Dense(lu, n), n, n, pivots)
			}
		})
	}
}

func BenchmarkQR(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{64, 256, 1024} {
		b.Run(fmt.Sprintf("f32[%d,%[1]d]", n), func(b *testing.B) {
			a, qr, taus := random[float32](rng, n*n), make([]float32, n*n), make([]float32, n)
			var f QR[float32]
			b.ReportAllocs()
			for b.Loop() {
				copy(qr, a)
				f.Factor(Dense(qr, n), n, n, taus)
			}
		})
	}
}
