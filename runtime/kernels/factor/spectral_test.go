package factor

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/lapack/gonum"
)

func TestEigen(t *testing.T) {
	each(t, func(t *testing.T, of string) {
		switch of {
		case "float32":
			testEigen[float32, float32](t)
		case "float64":
			testEigen[float64, float64](t)
		case "complex64":
			testEigen[complex64, float32](t)
		default:
			testEigen[complex128, float64](t)
		}
	})
}

// hermitians are matrices of several kinds: of random numbers, with values that come twice, of two separate blocks, graded, diagonal, zero, and near the end of
// the range.
func hermitians[T Number](rng *rand.Rand, n int) map[string][]T {
	of := func(f func(i, j int) T) []T {
		a := make([]T, n*n)
		for i := range n {
			for j := range i + 1 {
				x := f(i, j)
				if i == j {
					x = Real[T](realPart(x))
				}
				a[i*n+j], a[j*n+i] = x, conjugate(x)
			}
		}
		return a
	}
	plain := func(int, int) T { return number[T](rng) }
	ones := func(int, int) T { return 1 }
	scaled := func(exponent int) func(i, j int) T {
		return func(i, j int) T { return number[T](rng) * Real[T](math.Ldexp(1, exponent)) }
	}
	return map[string][]T{
		"random": of(plain), "of rank one": of(ones), "zero": of(func(int, int) T { return 0 }), "large": of(scaled(100)), "small": of(scaled(-100)),
		"diagonal": of(func(i, j int) T {
			if i != j {
				return 0
			}
			return number[T](rng)
		}),
		"blocks": of(func(i, j int) T {
			if (i < n/2) != (j < n/2) {
				return 0
			}
			return number[T](rng)
		}),
		"graded":               of(func(i, j int) T { return number[T](rng) * Real[T](math.Ldexp(1, -(i+j))) }),
		"graded the other way": of(func(i, j int) T { return number[T](rng) * Real[T](math.Ldexp(1, i+j-2*n)) }),
	}
}

// testEigen checks that A·V = V·W, that V is unitary, and that values ascend and are the same without vectors.
func testEigen[T Number, R Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var f Eigen[T, R]
	for _, n := range []int{1, 2, 3, 7, 13, 17, 33, 50, 97} {
		for name, a := range hermitians[T](rng, n) {
			values, vectors, alone := make([]R, n), make([]T, n*n), make([]R, n)
			require.True(t, f.Factor(Dense(a, n), n, values, vectors), "%s of %d", name, n)
			require.True(t, f.Factor(Dense(a, n), n, alone, nil), "%s of %d", name, n)
			require.Equal(t, alone, values)
			largest := 0.0
			for i, w := range values {
				require.True(t, i == 0 || values[i-1] <= w, "%s of %d: values %d and before", name, n, i)
				largest = max(largest, math.Abs(float64(w)))
			}
			bound := 10 * float64(n) * epsilon[T]()
			for i := range n {
				for j := range n {
					var product, inner complex128
					for k := range n {
						product += wide(a[i*n+k]) * wide(vectors[k*n+j])
						inner += cmplx.Conj(wide(vectors[k*n+i])) * wide(vectors[k*n+j])
					}
					product -= wide(vectors[i*n+j]) * complex(float64(values[j]), 0)
					if i == j {
						inner--
					}
					within(t, cmplx.Abs(product), bound*largest, "%s of %d: (%d, %d)", name, n, i, j)
					within(t, cmplx.Abs(inner), bound, "%s of %d: vectors %d and %d", name, n, i, j)
				}
			}
		}
	}
	a := []T{1, 0, Real[T](math.NaN()), 1}
	require.False(t, f.Factor(Dense(a, 2), 2, make([]R, 2), make([]T, 4)))
}

func TestSingular(t *testing.T) {
	each(t, func(t *testing.T, of string) {
		switch of {
		case "float32":
			testSingular[float32, float32](t)
		case "float64":
			testSingular[float64, float64](t)
		case "complex64":
			testSingular[complex64, float32](t)
		default:
			testSingular[complex128, float64](t)
		}
	})
}

// testSingular checks that U·S·Vᴴ = A, that U and V are unitary, and that values descend and are nearly the same without vectors.
func testSingular[T Number, R Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var f Singular[T, R]
	for _, n := range []int{1, 2, 3, 7, 13, 17, 33, 50} {
		for name, square := range hermitians[T](rng, n) {
			for _, m := range []int{n, n + 3, 2*n + 30} {
				if n > 17 && m != n && name != "random" {
					continue
				}
				a := random[T](rng, m*n)
				for i := range square {
					if name != "random" {
						a[i] = square[i]
					}
				}
				if name != "random" {
					clear(a[n*n:])
				}
				for _, columns := range []int{n, m} {
					what := fmt.Sprintf("%s of %d by %d, %d columns", name, m, n, columns)
					values, alone, u, vh := make([]R, n), make([]R, n), make([]T, m*columns), make([]T, n*n)
					require.True(t, f.Factor(Dense(a, n), m, n, values, u, columns, vh), what)
					require.True(t, f.Factor(Dense(a, n), m, n, alone, nil, 0, nil), what)
					bound := 10 * float64(m) * epsilon[T]()
					for i, s := range values {
						require.True(t, s >= 0 && (i == 0 || values[i-1] >= s), "%s: values %d and before", what, i)
						require.InDelta(t, float64(s), float64(alone[i]), bound*float64(values[0]), "%s: value %d", what, i)
					}
					isUnitary(t, u, m, columns, bound, what)
					isUnitary(t, vh, n, n, bound, what)
					for i := range m {
						for j := range n {
							sum := -wide(a[i*n+j])
							for k, s := range values {
								sum += wide(u[i*columns+k]) * complex(float64(s), 0) * wide(vh[k*n+j])
							}
							within(t, cmplx.Abs(sum), bound*float64(values[0]), "%s: (%d, %d)", what, i, j)
						}
					}
				}
			}
		}
	}
	a := []T{1, 0, Real[T](math.NaN()), 1}
	require.False(t, f.Factor(Dense(a, 2), 2, 2, make([]R, 2), make([]T, 4), 2, make([]T, 4)))
}

func within(t *testing.T, got, bound float64, format string, args ...any) {
	if !(got <= bound) {
		t.Helper()
		t.Fatalf("%g is above %g: %s", got, bound, fmt.Sprintf(format, args...))
	}
}

// isUnitary checks that the columns of u[m,n] are orthogonal and of length 1.
func isUnitary[T Number](t *testing.T, u []T, m, n int, bound float64, what string) {
	t.Helper()
	for i := range n {
		for j := range i + 1 {
			var sum complex128
			for k := range m {
				sum += cmplx.Conj(wide(u[k*n+i])) * wide(u[k*n+j])
			}
			if i == j {
				sum--
			}
			within(t, cmplx.Abs(sum), bound, "%s: columns %d and %d", what, i, j)
		}
	}
}

func TestRotations(t *testing.T) {
	testRotations[float32](t)
	testRotations[float64](t)
}

// testRotations compares the loops of this processor with those for any.
func testRotations[R Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{2, 9, 16, 17, 70, 200} {
		var fast, plain rotator[R]
		plain.loops = portableLoops[R]()
		fast.reset(n)
		plain.reset(n)
		for range 9 {
			from, step, count := 0, 1, 1+rng.IntN(n-1)
			if rng.IntN(2) == 0 {
				from, step = n-1, -1
			}
			fast.begin(from, step)
			plain.begin(from, step)
			for range count {
				s, c := math.Sincos(rng.Float64() * 7)
				fast.add(c, s)
				plain.add(c, s)
			}
		}
		fast.flush()
		plain.flush()
		for i := range n {
			for j, x := range fast.row(i) {
				require.InDelta(t, float64(plain.row(i)[j]), float64(x), 40*epsilon[R](), "element (%d, %d) of %d", i, j, n)
			}
		}
	}
}

func BenchmarkEigen(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 128
	a := hermitians[float32](rng, n)["random"]
	var f Eigen[float32, float32]
	values, vectors := make([]float32, n), make([]float32, n*n)
	for b.Loop() {
		f.Factor(Dense(a, n), n, values, vectors)
	}
}

func BenchmarkSingular(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 128
	a := random[float32](rng, n*n)
	for _, columns := range []int{0, n} {
		b.Run(fmt.Sprint(columns), func(b *testing.B) {
			var f Singular[float32, float32]
			values, u, vh := make([]float32, n), make([]float32, n*n), make([]float32, n*n)
			for b.Loop() {
				f.Factor(Dense(a, n), n, n, values, u, columns, vh)
			}
		})
	}
}

// TestSmallSingularValues: the smaller value of a bidiagonal matrix is as exact as its elements, however small it is. The values are roots of the
// eigenvalues of a matrix of two rows.
func TestSmallSingularValues(t *testing.T) {
	for _, small := range []float64{1, 0x1p-10, 0x1p-13, 0x1p-20, 0x1p-30, 0x1p-40, 0x1p-100} {
		a, b := 1.0, 0.5
		squares := a*a + b*b + small*small
		large := math.Sqrt((squares + math.Sqrt(squares*squares-4*a*a*small*small)) / 2)
		var f Singular[float32, float32]
		values := make([]float32, 2)
		require.True(t, f.Factor(Dense([]float32{float32(a), float32(b), 0, float32(small)}, 2), 2, 2, values, nil, 0, nil))
		require.InEpsilon(t, large, float64(values[0]), 0x1p-22, "%g", small)
		require.InEpsilon(t, a*small/large, float64(values[1]), 0x1p-22, "%g", small)
	}
}

// TestQuotients compares the singular values of bidiagonal matrices with those of gonum's translation of LAPACK, to which the smallest are as exact as the largest.
func TestQuotients(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	kinds := map[string]func(i, n int) float64{
		"random":       func(int, int) float64 { return rng.Float64() },
		"falling":      func(i, _ int) float64 { return rng.Float64() * math.Ldexp(1, -2*i) },
		"rising":       func(i, n int) float64 { return rng.Float64() * math.Ldexp(1, 2*(i-n)) },
		"peaked":       func(i, n int) float64 { return rng.Float64() * math.Ldexp(1, -abs(i-n/2)) },
		"hollow":       func(i, n int) float64 { return rng.Float64() * math.Ldexp(1, abs(i-n/2)-n) },
		"equal":        func(int, int) float64 { return 1 },
		"now and then": func(i, _ int) float64 { return float64(i%5) / 4 },
	}
	var q quotients
	for name, of := range kinds {
		for _, n := range []int{1, 2, 3, 4, 5, 9, 20, 61, 130} {
			for _, beside := range []float64{1, 1e-9, 0} {
				d, e := make([]float64, n), make([]float64, n-1)
				for i := range d {
					if d[i] = of(i, n); i < n-1 {
						e[i] = of(i, n) * beside
					}
				}
				want, room := slices.Clone(d), slices.Clone(e)
				var l gonum.Implementation
				require.Zero(t, l.Dlasq1(n, want, room, make([]float64, 4*n)))
				require.True(t, q.singular(d, e), "%s of %d", name, n)
				for i, x := range want {
					within(t, math.Abs(d[i]-x), 1e-14*float64(n)*x, "%s of %d, %g beside: value %d of %d is %g, want %g", name, n, beside, i, n, d[i], x)
				}
			}
		}
	}
}

func abs(i int) int { return max(i, -i) }
