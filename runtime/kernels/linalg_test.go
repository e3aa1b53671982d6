package kernels

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
)

// matrixCase runs an op on matrices of moderate condition, and compares it with the evaluator, which computes in f64.
func matrixCase(t *testing.T, text string, change func(arg int, v []float64, n int)) {
	t.Helper()
	s := siteOf(t, text)
	bound, ok := chooseFast(s)
	require.True(t, ok, "no fast kernel for %s", text)
	rng := rand.New(rand.NewPCG(1, uint64(len(text))))
	var args []*hlo.Literal
	for i := range s.in.NumOperands() {
		shape := s.shape(i)
		n := int(shape.Dim(shape.Rank() - 1))
		v := make([]float64, shape.NumElements())
		for k := range v {
			v[k] = rng.Float64()*2 - 1
			if row, col := k/n%n, k%n; i == 0 && row == col {
				v[k] = 2*float64(n) + rng.Float64()
			}
		}
		if change != nil {
			change(i, v, n)
		}
		b := runtime.AlignedBytes(shape.ByteSize())
		encode(b, shape.Type(), v)
		if i == 0 && shape.Type().IsComplex() { // the diagonal of a Hermitian matrix is taken as real
			makeDiagonalReal(b, shape.Type(), n)
		}
		l, err := hlo.NewLiteral(shape, b)
		require.NoError(t, err)
		args = append(args, l)
	}
	want, err := eval.Instruction(t.Context(), s.m, s.in, args)
	require.NoError(t, err)
	tol := 1e-5
	if typ := s.shape(0).Type(); typ == hlo.F64 || typ == hlo.C128 {
		tol = 1e-13
	}
	for _, workers := range []int{1, 2} {
		got := run(t, s, bound, args, workers)
		for i, l := range want.Leaves() {
			compareLeaf(t, kernelCase{text: text, tol: tol}, hlo.PrimitiveType(got[i].Type), l.Bytes(), got[i].Data)
		}
	}
}

func makeDiagonalReal(b []byte, t hlo.PrimitiveType, n int) {
	if t == hlo.C64 {
		for i := 0; i < len(b)/8; i++ {
			if i/n%n == i%n {
				elems[float32](b)[2*i+1] = 0
			}
		}
		return
	}
	for i := 0; i < len(b)/16; i++ {
		if i/n%n == i%n {
			elems[float64](b)[2*i+1] = 0
		}
	}
}

var matrixTypes = []string{"f32", "f64", "c64"}

func TestTriangularSolve(t *testing.T) {
	for _, typ := range matrixTypes {
		for _, c := range []struct{ a, b, side string }{
			{"16,16", "16,5", "true"}, {"3,20,20", "3,20,33", "true"}, {"70,70", "70,130", "true"}, {"2,40,40", "2,7,40", "false"}, {"33,33", "1,33", "false"}, {"30,30", "30,1", "true"}, {"2,7,7", "2,7,3", "true"}, {"9,9", "2,9", "false"},
			{"70,3,3", "70,3,1", "true"}, {"300,5,5", "300,5,4", "true"}, {"33,4,4", "33,6,4", "false"}, {"16,1,1", "16,1,2", "true"}, {"20,20,20", "20,20,2", "true"},
		} {
			for _, trans := range []string{"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"} {
				for which := range 4 {
					matrixCase(t, fmt.Sprintf("%[1]s[%[3]s] triangular-solve(%[1]s[%[2]s], %[1]s[%[3]s]), left_side=%[4]s, lower=%[5]v, unit_diagonal=%[6]v, transpose_a=%[7]s",
						typ, c.a, c.b, c.side, which&1 != 0, which&2 != 0, trans), func(arg int, v []float64, n int) {
						for i := range v {
							if arg == 0 && i/n%n != i%n {
								v[i] /= float64(n)
							}
						}
					})
				}
			}
		}
	}
}

// TestSingularSystem has a zero on the diagonal: the evaluator says what is infinite.
func TestSingularSystem(t *testing.T) {
	matrixCase(t, "f32[30,4] triangular-solve(f32[30,30], f32[30,4]), left_side=true, lower=true, transpose_a=NO_TRANSPOSE", func(arg int, v []float64, n int) {
		if arg == 0 {
			v[20*n+20] = 0
		}
	})
}

func TestCholesky(t *testing.T) {
	for _, typ := range matrixTypes {
		for _, dims := range []string{"13,13", "3,25,25", "130,130", "70,3,3", "300,4,4", "33,16,16", "16,1,1", "17,30,30"} {
			for _, lower := range []bool{true, false} {
				matrixCase(t, fmt.Sprintf("%[1]s[%[2]s] cholesky(%[1]s[%[2]s]), lower=%[3]v", typ, dims, lower), nil)
				matrixCase(t, fmt.Sprintf("%[1]s[%[2]s] cholesky(%[1]s[%[2]s]), lower=%[3]v", typ, dims, lower), func(_ int, v []float64, n int) {
					v[len(v)-n*n+(n+1)*(n/2)] = -1 // the last of the batch has no factor
				})
			}
		}
	}
	matrixCase(t, "f32[20,20] cholesky(f32[20,20]), lower=true", func(_ int, v []float64, _ int) { v[20] = math.NaN() })
}

func TestLapackCalls(t *testing.T) {
	letters := map[string]string{"f32": "s", "f64": "d", "c64": "c"}
	for _, typ := range matrixTypes {
		for _, c := range []string{
			`(%[1]s[2,30,30], s32[2]) custom-call(%[1]s[2,30,30]), custom_call_target="lapack_%[2]spotrf_ffi", backend_config="{uplo = 76 : ui8}", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[2,30,30], s32[2]) custom-call(%[1]s[2,30,30]), custom_call_target="lapack_%[2]spotrf_ffi", backend_config="{uplo = 85 : ui8}", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[40,5,5], s32[40]) custom-call(%[1]s[40,5,5]), custom_call_target="lapack_%[2]spotrf_ffi", backend_config="{uplo = 76 : ui8}", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[40,5,5], s32[40]) custom-call(%[1]s[40,5,5]), custom_call_target="lapack_%[2]spotrf_ffi", backend_config="{uplo = 85 : ui8}", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[2,30,30], s32[2,30], s32[2]) custom-call(%[1]s[2,30,30]), custom_call_target="lapack_%[2]sgetrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[40,20], s32[20], s32[]) custom-call(%[1]s[40,20]), custom_call_target="lapack_%[2]sgetrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[20,40], s32[20], s32[]) custom-call(%[1]s[20,40]), custom_call_target="lapack_%[2]sgetrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`%[1]s[30,7] custom-call(%[1]s[30,30], %[1]s[30,7]), custom_call_target="lapack_%[2]strsm_ffi", ` +
				`backend_config="{diag = 78 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 76 : ui8}", api_version=API_VERSION_TYPED_FFI`,
		} {
			text := fmt.Sprintf(c, typ, letters[typ])
			matrixCase(t, text, nil)
			matrixCase(t, text, func(arg int, v []float64, n int) { // rows are exchanged, pivots vanish
				if arg == 0 && len(v) != 900 {
					clear(v[:n])
					v[n+3] = 9 * float64(n)
				}
			})
		}
	}
}

// TestSmallFactors factorises batches side by side; of some matrices rows are exchanged, columns vanish, or elements are NaN.
func TestSmallFactors(t *testing.T) {
	letters := map[string]string{"f32": "s", "f64": "d"}
	for typ, letter := range letters {
		for _, dims := range [][3]int{{70, 3, 3}, {300, 4, 4}, {40, 8, 8}, {20, 22, 22}, {33, 5, 3}, {33, 3, 5}, {16, 1, 1}} {
			b, m, n := dims[0], dims[1], dims[2]
			text := fmt.Sprintf(`(%[1]s[%[2]d,%[3]d,%[4]d], s32[%[2]d,%[5]d], s32[%[2]d]) custom-call(%[1]s[%[2]d,%[3]d,%[4]d]), custom_call_target="lapack_%[6]sgetrf_ffi", api_version=API_VERSION_TYPED_FFI`,
				typ, b, m, n, min(m, n), letter)
			matrixCase(t, text, nil)
			matrixCase(t, text, func(_ int, v []float64, _ int) {
				for k := range b {
					switch a := v[k*m*n:][:m*n]; k % 5 {
					case 1:
						for i := range m { // a column
							a[i*n+n/2] = 0
						}
					case 2:
						a[0] = 0
					case 3:
						a[(m-1)*n] = -50
					case 4:
						if k%15 == 4 {
							a[m*n/2] = math.NaN()
						}
					}
				}
			})
		}
	}
}

// TestTridiagonal has systems whose pivots are exchanged and others.
func TestTridiagonal(t *testing.T) {
	for typ, letter := range map[string]string{"f32": "s", "f64": "d"} {
		for _, sizes := range [][4]string{
			{"3,50", "3,50", "3,50,2", "3"}, {"2,49", "2,50", "2,50,1", "2"}, {"7", "7", "7,3", ""}, {"1", "1", "1,2", ""}, {"1", "2", "2,2", ""},
		} {
			text := fmt.Sprintf(`(%[1]s[%[3]s], %[1]s[%[4]s], %[1]s[%[3]s], %[1]s[%[5]s], s32[%[6]s]) custom-call(%[1]s[%[3]s], %[1]s[%[4]s], %[1]s[%[3]s], %[1]s[%[5]s]), custom_call_target="lapack_%[2]sgtsv_ffi", api_version=API_VERSION_TYPED_FFI`,
				typ, letter, sizes[0], sizes[1], sizes[2], sizes[3])
			for _, dominant := range []float64{0, 3} {
				matrixCase(t, text, func(arg int, v []float64, _ int) {
					for k := range v {
						if arg == 1 {
							v[k] += dominant
						}
					}
				})
			}
		}
	}
}

func TestReflectors(t *testing.T) {
	letters := map[string]string{"f32": "s", "f64": "d", "c64": "c"}
	expand := map[string]string{"f32": "orgqr", "f64": "orgqr", "c64": "ungqr"}
	apply := map[string]string{"f32": "ormqr", "f64": "ormqr", "c64": "unmqr"}
	for _, typ := range matrixTypes {
		for _, c := range []string{
			`(%[1]s[2,30,30], %[1]s[2,30]) custom-call(%[1]s[2,30,30]), custom_call_target="lapack_%[2]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[70,40], %[1]s[40], s32[]) custom-call(%[1]s[70,40]), custom_call_target="lapack_%[2]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[17,40], %[1]s[17]) custom-call(%[1]s[17,40]), custom_call_target="lapack_%[2]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`%[1]s[2,30,30] custom-call(%[1]s[2,30,30], %[1]s[2,30]), custom_call_target="lapack_%[2]s%[3]s_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[50,40], s32[]) custom-call(%[1]s[50,40], %[1]s[19]), custom_call_target="lapack_%[2]s%[3]s_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[3,7,5], %[1]s[3,5]) custom-call(%[1]s[3,7,5]), custom_call_target="lapack_%[2]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[70,7,5], %[1]s[70,5]) custom-call(%[1]s[70,7,5]), custom_call_target="lapack_%[2]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[20,3,9], %[1]s[20,3], s32[20]) custom-call(%[1]s[20,3,9]), custom_call_target="lapack_%[2]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[16,22,22], %[1]s[16,22]) custom-call(%[1]s[16,22,22]), custom_call_target="lapack_%[2]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[16,1,1], %[1]s[16,1]) custom-call(%[1]s[16,1,1]), custom_call_target="lapack_%[2]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`%[1]s[70,9,6] custom-call(%[1]s[70,9,6], %[1]s[70,4]), custom_call_target="lapack_%[2]s%[3]s_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[33,20,20], s32[33]) custom-call(%[1]s[33,20,20], %[1]s[33,20]), custom_call_target="lapack_%[2]s%[3]s_ffi", api_version=API_VERSION_TYPED_FFI`,
			`(%[1]s[5,16], %[1]s[5]) custom-call(%[1]s[5,16]), custom_call_target="lapack_%[2]sgeqrf_ffi", api_version=API_VERSION_TYPED_FFI`,
			`%[1]s[3,9,6] custom-call(%[1]s[3,9,6], %[1]s[3,4]), custom_call_target="lapack_%[2]s%[3]s_ffi", api_version=API_VERSION_TYPED_FFI`,
			`%[1]s[2,9,3] custom-call(%[1]s[2,9,5], %[1]s[2,5], %[1]s[2,9,3]), custom_call_target="lapack_%[2]s%[4]s_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={left = true, transpose = true}`,
			`%[1]s[9,3] custom-call(%[1]s[9,5], %[1]s[5], %[1]s[9,3]), custom_call_target="lapack_%[2]s%[4]s_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={left = true, transpose = false}`,
			`%[1]s[2,50,3] custom-call(%[1]s[2,50,40], %[1]s[2,40], %[1]s[2,50,3]), custom_call_target="lapack_%[2]s%[4]s_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={left = true, transpose = true}`,
			`(%[1]s[70,9], s32[]) custom-call(%[1]s[70,60], %[1]s[45], %[1]s[70,9]), custom_call_target="lapack_%[2]s%[4]s_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={left = true, transpose = false}`,
		} {
			text := fmt.Sprintf(c, typ, letters[typ], expand[typ], apply[typ])
			matrixCase(t, text, func(arg int, v []float64, n int) {
				// Reflectors are as long as those of a factorisation: two over the square of the length of v.
				for k := range v {
					if row, col := k/n%n, k%n; arg == 0 && row == col {
						v[k] /= float64(n)
					}
				}
				if arg == 1 {
					for k := range v {
						v[k] *= 0.05
					}
				}
			})
		}
	}
}

// TestSpectralCalls compares values, and products of vectors that do not depend on their signs, with the evaluator.
func TestSpectralCalls(t *testing.T) {
	letters := map[string]string{"f32": "s", "f64": "d", "c64": "c"}
	parts := map[string]string{"f32": "f32", "f64": "f64", "c64": "f32"}
	for _, typ := range matrixTypes {
		name := map[bool]string{true: "heevd", false: "syevd"}[typ == "c64"]
		for _, c := range []string{
			`(%[1]s[2,20,20], %[3]s[2,20], s32[2]) custom-call(%[1]s[2,20,20]), custom_call_target="lapack_%[2]s%[4]s_ffi", backend_config="{mode = 78 : ui8, uplo = 76 : ui8}"`,
			`(%[1]s[30,30], %[3]s[30], s32[]) custom-call(%[1]s[30,30]), custom_call_target="lapack_%[2]s%[4]s_ffi", backend_config="{mode = 78 : ui8, uplo = 85 : ui8}"`,
			`(%[1]s[2,20,30], %[3]s[2,20], %[1]s[2,20,20], %[1]s[2,30,30], s32[2]) custom-call(%[1]s[2,20,30]), custom_call_target="lapack_%[2]sgesdd_ffi", backend_config="{mode = 78 : ui8}"`,
			`(%[1]s[50,20], %[3]s[20], %[1]s[50,50], %[1]s[20,20], s32[]) custom-call(%[1]s[50,20]), custom_call_target="lapack_%[2]sgesdd_ffi", backend_config="{mode = 78 : ui8}"`,
			`(%[1]s[5,3,3], %[3]s[5,3], s32[5]) custom-call(%[1]s[5,3,3]), custom_call_target="lapack_%[2]s%[4]s_ffi", backend_config="{mode = 78 : ui8}"`,
			`(%[1]s[1,4], %[3]s[1], %[1]s[1,1], %[1]s[1,4], s32[]) custom-call(%[1]s[1,4]), custom_call_target="lapack_%[2]sgesdd_ffi", backend_config="{mode = 78 : ui8}"`,
		} {
			matrixCase(t, fmt.Sprintf(c, typ, letters[typ], parts[typ], name)+", api_version=API_VERSION_TYPED_FFI", nil)
		}
	}
}

// TestGeneralEigenvalues compares eigenvalues and eigenvectors of real matrices with the evaluator, which computes them in the same way.
func TestGeneralEigenvalues(t *testing.T) {
	for _, typ := range [][3]string{{"f32", "s", "c64"}, {"f64", "d", "c128"}} {
		for _, dims := range [][3]string{{"1,1", "1", ""}, {"2,2", "2", ""}, {"5,7,7", "5,7", "5"}, {"2,20,20", "2,20", "2"}} {
			for _, wanted := range []string{"", `, backend_config="{compute_left = 78 : ui8, compute_right = 78 : ui8}"`, `, backend_config="{compute_left = 78 : ui8, compute_right = 86 : ui8}"`} {
				text := fmt.Sprintf(`(%[1]s[%[5]s], %[1]s[%[5]s], %[3]s[%[4]s], %[3]s[%[4]s], s32[%[6]s]) custom-call(%[1]s[%[4]s]), custom_call_target="lapack_%[2]sgeev_ffi", api_version=API_VERSION_TYPED_FFI`,
					typ[0], typ[1], typ[2], dims[0], dims[1], dims[2]) + wanted
				matrixCase(t, text, nil)
				matrixCase(t, text, func(_ int, v []float64, n int) { // of one matrix the first row is not finite
					v[0] = math.Inf(1)
				})
			}
		}
	}
}

// TestSpectralVectors multiplies what the calls give, for all shapes of results.
func TestSpectralVectors(t *testing.T) {
	for _, c := range []string{"20,30;20,20;20,30", "20,30;20,20;30,30", "30,20;30,20;20,20", "30,20;30,30;20,20", "60,20;60,20;20,20", "60,20;60,60;20,20", "25,25;25,25;25,25", "3,2;3,3;2,2", "1,5;1,1;5,5"} {
		var m, n, columns, rows int
		_, err := fmt.Sscanf(c, "%d,%d;%d,%d;%d,%d", &m, &n, &m, &columns, &rows, &n)
		require.NoError(t, err)
		k := min(m, n)
		s := siteOf(t, fmt.Sprintf(`(c128[%d,%d], f64[%d], c128[%[1]d,%[4]d], c128[%[5]d,%[2]d], s32[]) custom-call(c128[%[1]d,%[2]d]), custom_call_target="lapack_zgesdd_ffi", `+
			`backend_config="{mode = 65 : ui8}", api_version=API_VERSION_TYPED_FFI`, m, n, k, columns, rows))
		bound, ok := chooseFast(s)
		require.True(t, ok, c)
		b := runtime.AlignedBytes(s.shape(0).ByteSize())
		a := elems[complex128](b)
		rng := rand.New(rand.NewPCG(7, 8))
		for i := range a {
			a[i] = complex(rng.NormFloat64(), rng.NormFloat64())
		}
		l, err := hlo.NewLiteral(s.shape(0), b)
		require.NoError(t, err)
		got := run(t, s, bound, []*hlo.Literal{l}, 1)
		values, u, vh := elems[float64](got[1].Data), elems[complex128](got[2].Data), elems[complex128](got[3].Data)
		for i := range m {
			for j := range n {
				sum := -a[i*n+j]
				for x, w := range values {
					sum += u[i*columns+x] * complex(w, 0) * vh[x*n+j]
				}
				require.Less(t, cmplx.Abs(sum), 1e-12, "%s: (%d, %d)", c, i, j)
			}
		}
	}
}
