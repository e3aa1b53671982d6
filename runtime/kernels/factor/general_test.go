package factor

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// generals are matrices of several kinds: of random numbers, with values that come twice, of blocks, triangular, graded, whose eigenvectors are nearly parallel, and near the ends
// of the range.
func generals(rng *rand.Rand, n int) map[string][]float64 {
	of := func(f func(i, j int) float64) []float64 {
		a := make([]float64, n*n)
		for k := range a {
			a[k] = f(k/n, k%n)
		}
		return a
	}
	plain := func(int, int) float64 { return rng.NormFloat64() }
	scaled := func(exponent int) func(i, j int) float64 {
		return func(int, int) float64 { return rng.NormFloat64() * math.Ldexp(1, exponent) }
	}
	return map[string][]float64{
		"random": of(plain), "of rank one": of(func(int, int) float64 { return 1 }), "zero": of(func(int, int) float64 { return 0 }), "large": of(scaled(1000)), "small": of(scaled(-1000)),
		"permutation": of(func(i, j int) float64 {
			if (i+1)%n == j {
				return 1
			}
			return 0
		}),
		"triangular": of(func(i, j int) float64 {
			if i > j {
				return 0
			}
			return rng.NormFloat64()
		}),
		"blocks": of(func(i, j int) float64 {
			if (i < n/2) != (j < n/2) {
				return 0
			}
			return rng.NormFloat64()
		}),
		"graded":               of(func(i, j int) float64 { return rng.NormFloat64() * math.Ldexp(1, -(i+j)) }),
		"graded the other way": of(func(i, j int) float64 { return rng.NormFloat64() * math.Ldexp(1, i+j-2*n) }),
		"rotation and scale": of(func(i, j int) float64 {
			if abs(i-j) > 1 {
				return 0
			}
			return float64(i - j)
		}),
	}
}

// TestGeneral checks that A·V = V·W and Uᴴ·A = W·Uᴴ, that vectors have the length 1 and the largest element of each is real, that pairs follow each other, and that values without
// vectors are nearly the same.
func TestGeneral(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var f General
	for _, n := range []int{0, 1, 2, 3, 4, 7, 13, 30, 81, 150} {
		for name, a := range generals(rng, n) {
			what := fmt.Sprintf("%s of %d", name, n)
			copy(f.Start(n), a)
			require.True(t, f.Factor(true, true), what)
			re, im := f.Values()
			left, right := f.Vectors()
			size := 0.0
			for i := range n {
				row := 0.0
				for _, x := range a[i*n:][:n] {
					row = math.Hypot(row, x)
				}
				size = math.Hypot(size, row)
			}
			bound := 20 * float64(n) * 0x1p-52 * size
			column := func(v []float64, j int) []complex128 {
				z := make([]complex128, n)
				for i := range z {
					switch {
					case im[j] > 0:
						z[i] = complex(v[i*n+j], v[i*n+j+1])
					case im[j] < 0:
						z[i] = complex(v[i*n+j-1], -v[i*n+j])
					default:
						z[i] = complex(v[i*n+j], 0)
					}
				}
				return z
			}
			for j := range n {
				w := complex(re[j], im[j])
				if im[j] > 0 {
					require.True(t, j+1 < n && re[j+1] == re[j] && im[j+1] == -im[j], "%s: pair %d", what, j)
				}
				for side, v := range map[string][]complex128{"right": column(right, j), "left": column(left, j)} {
					sum, largest, largestReal := 0.0, 0.0, 0.0
					for i, z := range v {
						sum += real(z)*real(z) + imag(z)*imag(z)
						if largest = max(largest, cmplx.Abs(z)); imag(z) == 0 {
							largestReal = max(largestReal, math.Abs(real(z)))
						}
						product := -w * z
						for k, y := range v {
							if side == "right" {
								product += complex(a[i*n+k], 0) * y
							} else {
								product += complex(a[k*n+i], 0) * y
							}
						}
						if side == "left" { // Uᴴ·A = w·Uᴴ is Aᵀ·U = conj(w)·U
							product += w*z - cmplx.Conj(w)*z
						}
						within(t, cmplx.Abs(product), bound, "%s: element %d of %s vector %d", what, i, side, j)
					}
					within(t, math.Abs(sum-1), 1e-12, "%s: length of %s vector %d", what, side, j)
					within(t, largest-largestReal, 1e-12, "%s: largest element of %s vector %d", what, side, j)
				}
			}
			trace, sum := 0.0, 0.0
			for i := range n {
				trace += a[i*n+i]
				sum += re[i]
			}
			within(t, math.Abs(trace-sum), bound, "%s: trace", what)
			re, im = slices.Clone(re), slices.Clone(im)
			copy(f.Start(n), a)
			require.True(t, f.Factor(false, false), what)
			alone, _ := f.Values()
			if name == "random" {
				for i, x := range alone {
					within(t, math.Abs(x-re[i]), 1e-10*size, "%s: value %d without vectors", what, i)
				}
			}
		}
	}
}

// TestReflections: the loop of this processor computes the bits of that for any.
func TestReflections(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{8, 16, 72} {
		fast, plain := random[float64](rng, 3*n), make([]float64, 3*n)
		copy(plain, fast)
		c := reflection{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		bestReflect()(&c, n, fast, fast[n:], fast[2*n:])
		portableReflect(&c, n, plain, plain[n:], plain[2*n:])
		require.Equal(t, plain, fast)
	}
}

func BenchmarkGeneral(b *testing.B) {
	for _, n := range []int{4, 16, 64, 256} {
		for _, wanted := range []bool{false, true} {
			b.Run(fmt.Sprintf("f64[%d,%[1]d]/vectors=%v", n, wanted), func(b *testing.B) {
				b.ReportAllocs()
				a := random[float64](rand.New(rand.NewPCG(1, 2)), n*n)
				var f General
				for b.Loop() {
					copy(f.Start(n), a)
					f.Factor(wanted, wanted)
				}
			})
		}
	}
}
