package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/workqueue"
)

// TestSmallQR multiplies Q and R of batches of matrices that are random, of lower rank, graded, zero, and near both ends of the range, and multiplies Q with itself.
func TestSmallQR(t *testing.T) {
	t.Run("f32", func(t *testing.T) { testSmallQR[float32](t, "f32", "s", 122, 0x1p-23) })
	t.Run("f64", func(t *testing.T) { testSmallQR[float64](t, "f64", "d", 980, 0x1p-52) })
}

func testSmallQR[T float32 | float64](t *testing.T, typ, letter string, exponent int, epsilon float64) {
	for _, dims := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {7, 4}, {11, 11}, {22, 22}, {25, 3}} {
		const batch = 67
		m, n := dims[0], dims[1]
		rng := rand.New(rand.NewPCG(5, uint64(m)))
		b := runtime.AlignedBytes(int64(batch * m * n * sizeOf(T(0))))
		a := elems[T](b)
		for k := range a {
			x, i, j := rng.NormFloat64(), k/n%m, k%n
			switch k / (m * n) % 8 {
			case 1:
				x = 1
			case 2:
				x = 0
			case 3:
				x = math.Ldexp(x, exponent)
			case 4:
				x = math.Ldexp(x, -exponent)
			case 5:
				x = math.Ldexp(x, -2*(i+j))
			case 6:
				if i > j {
					x = 0
				}
			case 7:
				if j == n/2 {
					x = 0
				}
			}
			a[k] = T(x)
		}
		input, err := hlo.NewLiteral(siteOf(t, fmt.Sprintf("%s[%d,%d,%d] copy(%[1]s[%[2]d,%[3]d,%[4]d])", typ, batch, m, n)).shape(0), b)
		require.NoError(t, err)
		s := siteOf(t, fmt.Sprintf(`(%[1]s[%[2]d,%[3]d,%[4]d], %[1]s[%[2]d,%[4]d]) custom-call(%[1]s[%[2]d,%[3]d,%[4]d]), custom_call_target="lapack_%[5]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			typ, batch, m, n, letter))
		bound, ok := chooseFast(s)
		require.True(t, ok)
		r := run(t, s, bound, []*hlo.Literal{input}, 1)
		again := run(t, s, bound, []*hlo.Literal{input}, 2)
		require.Equal(t, r[0].Data, again[0].Data, "one thread and two")

		s = siteOf(t, fmt.Sprintf(`%[1]s[%[2]d,%[3]d,%[4]d] custom-call(%[1]s[%[2]d,%[3]d,%[4]d], %[1]s[%[2]d,%[4]d]), custom_call_target="lapack_%[5]sorgqr_ffi", api_version=API_VERSION_TYPED_FFI`,
			typ, batch, m, n, letter))
		bound, ok = chooseFast(s)
		require.True(t, ok)
		var args []*hlo.Literal
		for i, v := range r {
			l, err := hlo.NewLiteral(s.shape(i), v.Data)
			require.NoError(t, err)
			args = append(args, l)
		}
		q := run(t, s, bound, args, 1)
		for k := range batch {
			a, q, r := a[k*m*n:][:m*n], elems[T](q[0].Data)[k*m*n:][:m*n], elems[T](r[0].Data)[k*m*n:][:m*n]
			norm := 0.0
			for _, x := range a {
				norm = max(norm, math.Abs(float64(x)))
			}
			bound := 10 * float64(m) * epsilon
			for i := range m {
				for j := range n {
					sum := 0.0
					for l := range j + 1 {
						sum += float64(q[i*n+l]) * float64(r[l*n+j])
					}
					require.LessOrEqual(t, math.Abs(sum-float64(a[i*n+j])), bound*norm, "%d by %d, matrix %d: (%d, %d)", m, n, k, i, j)
				}
			}
			for i := range n {
				for j := range n {
					sum := 0.0
					if i == j {
						sum = -1
					}
					for l := range m {
						sum += float64(q[l*n+i]) * float64(q[l*n+j])
					}
					require.LessOrEqual(t, math.Abs(sum), bound, "%d by %d, matrix %d: columns %d and %d", m, n, k, i, j)
				}
			}
		}
	}
}

// TestSteadyFactors: calls that have run before allocate nothing.
func TestSteadyFactors(t *testing.T) {
	queue := workqueue.NewMulti(workqueue.Config{Workers: 1})
	defer queue.Close()
	for _, text := range []string{
		`(f32[40,5,5], s32[40]) custom-call(f32[40,5,5]), custom_call_target="lapack_spotrf_ffi"`,
		`(f32[40,5,5], s32[40,5], s32[40]) custom-call(f32[40,5,5]), custom_call_target="lapack_sgetrf_ffi"`,
		`(f32[40,5,5], f32[40,5]) custom-call(f32[40,5,5]), custom_call_target="lapack_sgeqrf_ffi"`,
		`f64[40,5,5] custom-call(f64[40,5,5], f64[40,5]), custom_call_target="lapack_dorgqr_ffi"`,
		`(c64[3,5,5], c64[3,5]) custom-call(c64[3,5,5]), custom_call_target="lapack_cgeqrf_ffi"`,
		`(f32[3,9,9], f32[3,9], s32[3]) custom-call(f32[3,9,9]), custom_call_target="lapack_ssyevd_ffi"`,
		`(f32[3,9,9], f32[3,9], f32[3,9,9], f32[3,9,9], s32[3]) custom-call(f32[3,9,9]), custom_call_target="lapack_sgesdd_ffi"`,
	} {
		s := siteOf(t, text+", api_version=API_VERSION_TYPED_FFI")
		bound, ok := chooseFast(s)
		require.True(t, ok)
		var ins, outs []*runtime.Buffer
		for i := range s.b.In {
			b := s.b.In[i].NewBuffer()
			v := make([]float64, s.shape(i).NumElements())
			for k := range v {
				v[k] = 1 / float64(1+k%7)
				if n := int(s.shape(i).Dim(s.shape(i).Rank() - 1)); i == 0 && k/n%n == k%n {
					v[k] += float64(n)
				}
			}
			encode(b.Data, s.shape(i).Type(), v)
			ins = append(ins, &b)
		}
		for i := range s.b.Out {
			b := s.b.Out[i].NewBuffer()
			outs = append(outs, &b)
		}
		f := runtime.NewTensorFrame(&runtime.ExecContext{Queue: queue}, ins, outs, runtime.AlignedBytes(bound.Scratch))
		require.Zero(t, testing.AllocsPerRun(20, func() { _ = bound.Run(f) }), text)
	}
}
