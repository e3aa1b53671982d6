package eval

import (
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func randomMatrix(r *rand.Rand, n int, isReal bool) []complex128 {
	a := make([]complex128, n)
	for i := range a {
		a[i] = complex(r.NormFloat64(), r.NormFloat64())
		if isReal {
			a[i] = complex(real(a[i]), 0)
		}
	}
	return a
}

// times is A[m,k]·B[k,n].
func times(a, b []complex128, m, k, n int) []complex128 {
	c := make([]complex128, m*n)
	for i := range m {
		for j := range n {
			for p := range k {
				c[i*n+j] += a[i*k+p] * b[p*n+j]
			}
		}
	}
	return c
}

func assertClose(t *testing.T, want, got []complex128, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	worst := 0.0
	for i := range want {
		worst = max(worst, cmplx.Abs(want[i]-got[i]))
	}
	assert.LessOrEqual(t, worst, 1e-11, what)
}

func TestFourierAgainstTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 4, 5, 8, 15, 16, 17, 30, 31, 64, 100, 127, 243} {
		v := randomMatrix(r, n, false)
		want := make([]complex128, n)
		for j := range n {
			for k, z := range v {
				want[j] += z * unitRoot(-float64(j*k%n), float64(n))
			}
		}
		got := append([]complex128(nil), v...)
		newFourier(n, false).transform(got)
		assertClose(t, want, got, "forward")
		newFourier(n, true).transform(got)
		for i := range got {
			got[i] /= complex(float64(n), 0)
		}
		assertClose(t, v, got, "back")
	}
}

func TestFactorisationsRebuildTheMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][2]int{{1, 1}, {3, 3}, {5, 2}, {2, 5}, {7, 7}, {12, 8}} {
		for _, isReal := range []bool{true, false} {
			m, n := size[0], size[1]
			a := randomMatrix(r, m*n, isReal)

			lu := append([]complex128(nil), a...)
			pivots, bad := factorLU(lu, m, n)
			assert.Zero(t, bad)
			k := min(m, n)
			l, u := make([]complex128, m*k), make([]complex128, k*n)
			for i := range m {
				for j := range n {
					switch {
					case j < i && j < k:
						l[i*k+j] = lu[i*n+j]
					case j >= i && i < k:
						u[i*n+j] = lu[i*n+j]
					}
				}
				if i < k {
					l[i*k+i] = 1
				}
			}
			pa := append([]complex128(nil), a...)
			for i, p := range pivots {
				for j := range n {
					pa[i*n+j], pa[(int(p)-1)*n+j] = pa[(int(p)-1)*n+j], pa[i*n+j]
				}
			}
			assertClose(t, pa, times(l, u, m, k, n), "L·U")

			if m >= n {
				qr := append([]complex128(nil), a...)
				taus := factorQR(qr, m, n, nil)
				upper := make([]complex128, n*n)
				for i := range n {
					copy(upper[i*n+i:(i+1)*n], qr[i*n+i:(i+1)*n])
				}
				expandQ(qr, m, n, taus)
				assertClose(t, a, times(qr, upper, m, n, n), "Q·R")
				assertClose(t, identity(n), times(adjoint(qr, m, n), qr, n, m, n), "Qᴴ·Q")
			}

			s, us, vh := singularValues(a, m, n, m, n)
			sigma := make([]complex128, m*n)
			for i, x := range s {
				sigma[i*n+i] = x
			}
			assertClose(t, a, times(times(us, sigma, m, m, n), vh, m, n, n), "U·S·Vᴴ")
			assertClose(t, identity(m), times(adjoint(us, m, m), us, m, m, m), "Uᴴ·U")
		}
	}
}

func TestEigenvectors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 3, 6, 15} {
		for _, isReal := range []bool{true, false} {
			a := randomMatrix(r, n*n, isReal)
			values, left, right, ok := eigenGeneral(a, n)
			require.True(t, ok)
			d := make([]complex128, n*n)
			for i, w := range values {
				d[i*n+i] = w
			}
			assertClose(t, times(a, right, n, n, n), times(right, d, n, n, n), "A·V = V·D")
			lh := adjoint(left, n, n)
			assertClose(t, times(lh, a, n, n, n), times(d, lh, n, n, n), "Wᴴ·A = D·Wᴴ")

			for i := range n {
				for j := range i {
					a[j*n+i] = conj(a[i*n+j])
				}
				a[i*n+i] = complex(real(a[i*n+i]), 0)
			}
			v := append([]complex128(nil), a...)
			w := eigenHermitian(v, n, true)
			clear(d)
			for i, x := range w {
				d[i*n+i] = x
				assert.True(t, i == 0 || real(w[i-1]) <= real(x))
			}
			assertClose(t, a, times(times(v, d, n, n, n), adjoint(v, n, n), n, n, n), "V·D·Vᴴ")
		}
	}
}

func TestTridiagonal(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, 3, 10} {
		dl, d, du := randomMatrix(r, n-1, false), randomMatrix(r, n, false), randomMatrix(r, n, false)
		x := randomMatrix(r, n*2, false)
		b := make([]complex128, n*2)
		for i := range n {
			for c := range 2 {
				b[i*2+c] = d[i] * x[i*2+c]
				if i > 0 {
					b[i*2+c] += dl[i-1] * x[(i-1)*2+c]
				}
				if i+1 < n {
					b[i*2+c] += du[i] * x[(i+1)*2+c]
				}
			}
		}
		assert.Zero(t, solveTridiagonal(dl, d, du, b, n, 2))
		assertClose(t, x, b, "solution")
	}
}

func TestGemmAgainstPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, size := range [][3]int{{1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}, {5, 7, 9}, {8, 4, 33}, {3, 40, 2000}} {
		m, n, k := size[0], size[1], size[2]
		a, b, c := make([]int64, m*k), make([]int64, n*k), make([]int64, m*n)
		for i := range a {
			a[i] = r.Int64N(100)
		}
		for i := range b {
			b[i] = r.Int64N(100)
		}
		gemm(c, a, b, m, n, k)
		for i := range m {
			for j := range n {
				want := int64(0)
				for p := range k {
					want += a[i*k+p] * b[j*k+p]
				}
				require.Equal(t, want, c[i*n+j])
			}
		}
	}
}

func TestComplexFunctionsUndoEachOther(t *testing.T) {
	for _, z := range []complex128{0.3 + 0.4i, -2 + 1e-8i, 1 + 1e-20i, 1e-12 - 3i, -0.999999 - 1e-9i, 5 - 7i} {
		for name, got := range map[string]complex128{
			"asin": cmplx.Sin(complexAsin(z)), "acos": cmplx.Cos(complexAcos(z)), "asinh": cmplx.Sinh(complexAsinh(z)),
			"acosh": cmplx.Cosh(complexAcosh(z)), "atanh": cmplx.Tanh(complexAtanh(z)), "log": complexExp(complexLog(z)),
			"sqrt": complexSqrt(z) * complexSqrt(z), "log1p": complexExpm1(complexLog1p(z)),
		} {
			assert.LessOrEqual(t, cmplx.Abs(got-z), 1e-13*cmplx.Abs(z)+1e-15, "%s of %v gives %v", name, z, got)
		}
	}
}

func TestSmallestIsTheBeginningOfAStableSort(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		n := r.IntN(200)
		keys, order := make([]int64, n), make([]int32, n)
		for i := range keys {
			keys[i] = r.Int64N(30)
		}
		sorted := append([]int32(nil), smallest(order, keys, n)...)
		k := 0
		if n > 0 {
			k = r.IntN(n)
		}
		require.True(t, slices.Equal(sorted[:k], smallest(make([]int32, n), keys, k)))
	}
}
