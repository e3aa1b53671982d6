package linalg_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/difftest"
)

// types are the types of elements, each with the distance from 1 to the number before it: rounding errors are at most that.
var types = map[string]float64{"f64": 0x1p-53, "f32": 0x1p-24, "f16": 0x1p-11, "bf16": 0x1p-8, "c64": 0x1p-24, "c128": 0x1p-53}

// gamma is k·u/(1 - k·u), which bounds the effect of k rounding errors; of complex products each has four.
func gamma(k int, t string) float64 {
	if strings.HasPrefix(t, "c") {
		k *= 4
	}
	x := float64(k) * types[t]
	return x / (1 - x)
}

// options are those to run a type with: blocks are of no matter to how numbers are computed, so two types do.
func options(typ string, all ...string) []string {
	if typ != "f32" && typ != "c64" {
		return all[:1]
	}
	return all
}

// matrix is a batch of matrices.
type matrix struct {
	b, rows, cols int
	v             []complex128
}

func (m matrix) at(b, i, j int) complex128 { return m.v[(b*m.rows+i)*m.cols+j] }

func newMatrix(b, rows, cols int, f func(b, i, j int) complex128) matrix {
	m := matrix{b: b, rows: rows, cols: cols}
	for k := range b * rows * cols {
		m.v = append(m.v, f(k/cols/rows, k/cols%rows, k%cols))
	}
	return m
}

func (m matrix) adjoint() matrix {
	return newMatrix(m.b, m.cols, m.rows, func(b, i, j int) complex128 { return cmplx.Conj(m.at(b, j, i)) })
}

func (m matrix) transpose() matrix {
	return newMatrix(m.b, m.cols, m.rows, func(b, i, j int) complex128 { return m.at(b, j, i) })
}

func (m matrix) abs() matrix {
	return newMatrix(m.b, m.rows, m.cols, func(b, i, j int) complex128 { return complex(cmplx.Abs(m.at(b, i, j)), 0) })
}

func (m matrix) times(o matrix) matrix {
	return newMatrix(m.b, m.rows, o.cols, func(b, i, j int) (sum complex128) {
		for k := range m.cols {
			sum += m.at(b, i, k) * o.at(b, k, j)
		}
		return sum
	})
}

// norm is the Frobenius norm of matrix b.
func (m matrix) norm(b int) float64 {
	sum := 0.0
	for i := range m.rows {
		for j := range m.cols {
			sum = math.Hypot(sum, cmplx.Abs(m.at(b, i, j)))
		}
	}
	return sum
}

// within holds got to want, element by element.
func within(t *testing.T, got, want, bound matrix, factor float64) {
	t.Helper()
	for k := range got.v {
		if d := cmplx.Abs(got.v[k] - want.v[k]); !(d <= factor*real(bound.v[k])) {
			t.Errorf("element %d: %v, want %v: off by %g, at most %g is right", k, got.v[k], want.v[k], d, factor*real(bound.v[k]))
			return
		}
	}
}

// random is matrices of one type, whose elements are exact in it.
func random(typ string, seed uint64, b, rows, cols int) matrix {
	r := rand.New(rand.NewPCG(seed, 0))
	draw := func() float64 { return float64(r.IntN(255)-127) / 64 }
	return newMatrix(b, rows, cols, func(int, int, int) complex128 {
		if strings.HasPrefix(typ, "c") {
			return complex(draw(), draw())
		}
		return complex(draw(), 0)
	})
}

// converted is what the evaluator makes of an array by one line of text.
func converted(t *testing.T, from, to, line string, l *hlo.Literal) *hlo.Literal {
	t.Helper()
	n := l.Shape().NumElements()
	m, err := parser.Parse("convert", fmt.Sprintf("HloModule m\n\nENTRY e {\n  x = %s[%d] parameter(0)\n  ROOT y = %s[%d] %s\n}\n", from, n, to, n, line))
	require.NoError(t, err)
	flat, err := hlo.NewLiteral(hlo.MakeShape(l.Shape().Type(), n).WithDefaultLayout(), l.Bytes())
	require.NoError(t, err)
	y, err := eval.Module(t.Context(), m, []*hlo.Literal{flat}, eval.Options{})
	require.NoError(t, err)
	return y
}

// literal is a matrix in a type in which its elements are exact.
func (m matrix) literal(t *testing.T, typ string, dims ...int64) *hlo.Literal {
	t.Helper()
	var data []byte
	for _, z := range m.v {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(real(z)))
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(imag(z)))
	}
	l, err := hlo.NewLiteral(hlo.MakeShape(hlo.C128, int64(len(m.v))).WithDefaultLayout(), data)
	require.NoError(t, err)
	if strings.HasPrefix(typ, "c") {
		l = converted(t, "c128", typ, "convert(x)", l)
	} else {
		l = converted(t, "f64", typ, "convert(x)", converted(t, "c128", "f64", "real(x)", l))
	}
	l, err = hlo.NewLiteral(hlo.MakeShape(l.Shape().Type(), dims...).WithDefaultLayout(), l.Bytes())
	require.NoError(t, err)
	return l
}

// read is an array as a batch of matrices.
func read(t *testing.T, l *hlo.Literal, rows, cols int) matrix {
	t.Helper()
	data := converted(t, l.Shape().Type().String(), "c128", "convert(x)", l).Bytes()
	m := matrix{b: len(data) / 16 / rows / cols, rows: rows, cols: cols}
	for ; len(data) > 0; data = data[16:] {
		m.v = append(m.v, complex(math.Float64frombits(binary.LittleEndian.Uint64(data)), math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))))
	}
	return m
}

// TestCholesky holds the factors to the bound of the pass's documentation, and so those of the op.
func TestCholesky(t *testing.T) {
	for typ := range types {
		for _, lower := range []bool{true, false} {
			for _, pipeline := range options(typ, "cholesky-expander", "cholesky-expander{block-size=3}", "cholesky-expander{block-size=4}") {
				const b, n = 2, 8
				x := random(typ, 1, b, n, n)
				a := x.times(x.adjoint())
				for k := range a.v { // few digits, so that narrow types have it, and definite
					a.v[k] = complex(math.Round(real(a.v[k])/4), math.Round(imag(a.v[k])/4))
					if k/n%n == k%n {
						a.v[k] = complex(real(a.v[k])+16, 0)
					}
				}
				text := fmt.Sprintf("HloModule m\n\nENTRY e {\n  a = %s[2,8,8] parameter(0)\n  ROOT l = %[1]s[2,8,8] cholesky(a), lower=%v\n}\n", typ, lower)
				for i, got := range difftest.Results(t, text, pipeline, a.literal(t, typ, b, n, n)) {
					l := read(t, got[0], n, n)
					if !lower {
						l = l.adjoint()
					}
					t.Run(fmt.Sprintf("%s/%v/%s/%d", typ, lower, pipeline, i), func(t *testing.T) {
						within(t, l.times(l.adjoint()), a, l.abs().times(l.adjoint().abs()), gamma(n+1, typ))
					})
				}
			}
		}
	}
}

// TestCholeskyFails: what is not positive definite is NaN, the other matrices of the batch are not, and what is above the diagonal is not read.
func TestCholeskyFails(t *testing.T) {
	a := matrix{b: 3, rows: 2, cols: 2, v: []complex128{4, complex(math.NaN(), 0), 2, 5, 1, 7, 2, 1, 9, complex(math.Inf(1), 0), 0, 16}}
	text := "HloModule m\n\nENTRY e {\n  a = f32[3,2,2] parameter(0)\n  ROOT l = f32[3,2,2] cholesky(a), lower=true\n}\n"
	for _, got := range difftest.Results(t, text, "cholesky-expander", a.literal(t, "f32", 3, 2, 2)) {
		assert.Equal(t, "f32[3,2,2]{2,1,0} { { { 2, 0 }, { 1, 2 } }, { { nan, nan }, { nan, nan } }, { { 3, 0 }, { 0, 4 } } }", strings.Join(strings.Fields(got[0].String()), " "))
	}
}

// TestTriangularSolve holds the solutions to the bound of the pass's documentation. Elements that are not of the triangle are NaN.
func TestTriangularSolve(t *testing.T) {
	const b, n, k = 2, 7, 3
	for typ := range types {
		for form := range 24 {
			left, lower, unit := form&1 != 0, form&2 != 0, form&4 != 0
			op := []string{"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}[form/8]
			a := random(typ, uint64(form), b, n, n)
			triangle, given := matrix{b: b, rows: n, cols: n}, matrix{b: b, rows: n, cols: n}
			for i, z := range a.v {
				row, col := i/n%n, i%n
				in := z
				switch {
				case row == col && unit:
					in, z = 1, cmplx.NaN()
				case row == col:
					in += 8
					z = in
				case lower != (row > col):
					in, z = 0, cmplx.NaN()
				}
				if !strings.HasPrefix(typ, "c") {
					z = complex(real(z), 0)
				}
				triangle.v, given.v = append(triangle.v, in), append(given.v, z)
			}
			rows, cols := n, k
			if !left {
				rows, cols = k, n
			}
			right := random(typ, 99, b, rows, cols)
			switch op {
			case "TRANSPOSE":
				triangle = triangle.transpose()
			case "ADJOINT":
				triangle = triangle.adjoint()
			}
			text := fmt.Sprintf("HloModule m\n\nENTRY e {\n  a = %s[2,7,7] parameter(0)\n  b = %[1]s[2,%d,%d] parameter(1)\n  ROOT x = %[1]s[2,%[2]d,%[3]d] triangular-solve(a, b), left_side=%[4]v, lower=%[5]v, unit_diagonal=%[6]v, transpose_a=%[7]s\n}\n",
				typ, rows, cols, left, lower, unit, op)
			for _, pipeline := range options(typ, "triangular-solve-expander", "triangular-solve-expander{block-size=3}") {
				for i, got := range difftest.Results(t, text, pipeline, given.literal(t, typ, b, n, n), right.literal(t, typ, b, int64(rows), int64(cols))) {
					x := read(t, got[0], rows, cols)
					t.Run(fmt.Sprintf("%s/%d/%s/%d", typ, form, pipeline, i), func(t *testing.T) {
						if left {
							within(t, triangle.times(x), right, triangle.abs().times(x.abs()), gamma(n+1, typ))
						} else {
							within(t, x.times(triangle), right, x.abs().times(triangle.abs()), gamma(n+1, typ))
						}
					})
				}
			}
		}
	}
}

// eye is the identity.
func eye(b, rows, cols int) matrix {
	return newMatrix(b, rows, cols, func(_, i, j int) complex128 {
		if i == j {
			return 1
		}
		return 0
	})
}

func (m matrix) minus(o matrix) matrix {
	return newMatrix(m.b, m.rows, m.cols, func(b, i, j int) complex128 { return m.at(b, i, j) - o.at(b, i, j) })
}

// TestQR holds Q·R to A and Q to unit columns, for tall and wide matrices with zeros in places where a reflector has nothing to do, and factors to those
// of the op.
func TestQR(t *testing.T) {
	const b = 2
	letters := map[string]string{"f32": "s", "f64": "d", "c64": "c", "c128": "z"}
	for typ, u := range types {
		for _, size := range [][2]int{{7, 5}, {5, 7}, {6, 6}, {1, 4}, {4, 1}} {
			rows, cols := size[0], size[1]
			k := min(rows, cols)
			a := random(typ, 5, b, rows, cols)
			for i := 1; i < rows; i++ {
				a.v[i*cols] = 0 // the first column of the first matrix
			}
			calls := [][2]string{{"Qr", "ProductOfElementaryHouseholderReflectors"}}
			if l := letters[typ]; l != "" {
				product := "lapack_" + l + "orgqr_ffi"
				if strings.HasPrefix(typ, "c") {
					product = "lapack_" + l + "ungqr_ffi"
				}
				calls = append(calls, [2]string{"lapack_" + l + "geqrf_ffi", product})
			}
			for _, call := range calls {
				text := fmt.Sprintf(`HloModule m

ENTRY e {
  a = %s[2,%d,%d] parameter(0)
  f = (%[1]s[2,%[2]d,%[3]d], %[1]s[2,%[4]d]) custom-call(a), custom_call_target="%[5]s"
  r = %[1]s[2,%[2]d,%[3]d] get-tuple-element(f), index=0
  v = %[1]s[2,%[2]d,%[4]d] slice(r), slice={[0:2], [0:%[2]d], [0:%[4]d]}
  tau = %[1]s[2,%[4]d] get-tuple-element(f), index=1
  q = %[1]s[2,%[2]d,%[4]d] custom-call(v, tau), custom_call_target="%[6]s"
  ROOT t = (%[1]s[2,%[2]d,%[3]d], %[1]s[2,%[2]d,%[4]d]) tuple(r, q)
}
`, typ, rows, cols, k, call[0], call[1])
				for _, option := range options(typ, "lapack", "lapack,block-size=2") {
					var first matrix
					for i, got := range difftest.Results(t, text, "qr-expander{"+option+"}", a.literal(t, typ, b, int64(rows), int64(cols))) {
						r, q := read(t, got[0], rows, cols), read(t, got[1], rows, k)
						if i == 0 {
							first = r
						}
						upper := newMatrix(b, k, cols, func(b, i, j int) complex128 {
							if i > j {
								return 0
							}
							return r.at(b, i, j)
						})
						t.Run(fmt.Sprintf("%s/%v/%s/%s/%d", typ, size, call[0], option, i), func(t *testing.T) {
							bound := gamma(2*rows*k, typ)
							if bound < 0 {
								bound = 2 * float64(rows*k) * u
							}
							rest, turned := q.times(upper).minus(a), q.adjoint().times(q).minus(eye(b, k, k))
							for m := range b {
								assert.LessOrEqual(t, rest.norm(m), bound*a.norm(m), "Q·R - A of matrix %d", m)
								assert.LessOrEqual(t, turned.norm(m), bound*math.Sqrt(float64(k)), "Qᴴ·Q - I of matrix %d", m)
								assert.LessOrEqual(t, r.minus(first).norm(m), 20*bound*a.norm(m), "the factors of the op, matrix %d", m)
							}
						})
					}
				}
			}
		}
	}
}

// TestEigh holds A·V to V·w, V to unit columns, and eigenvalues to those of the op. The triangle that is not read is NaN.
func TestEigh(t *testing.T) {
	letters := map[string]string{"f32": "ssyevd", "f64": "dsyevd", "c64": "cheevd", "c128": "zheevd"}
	parts := map[string]string{"c64": "f32", "c128": "f64"}
	const b = 2
	for typ := range types {
		for _, n := range []int{1, 2, 5, 8} {
			for form := range 4 {
				lower, lapack := form&1 != 0, form&2 != 0
				a := random(typ, 11, b, n, n)
				a = newMatrix(b, n, n, func(b, i, j int) complex128 {
					switch {
					case i == j:
						return complex(math.Round(16*cmplx.Abs(a.at(b, i, i)))/16, 0)
					case i > j:
						return cmplx.Conj(a.at(b, j, i))
					}
					return a.at(b, i, j)
				})
				given := newMatrix(b, n, n, func(b, i, j int) complex128 {
					if i != j && (i > j) != lower {
						return complex(math.NaN(), 0)
					}
					return a.at(b, i, j)
				})
				values := typ
				if r, ok := parts[typ]; ok {
					values = r
				}
				target, config, info := "Eigh", `"`+map[bool]string{true: "1", false: "0"}[lower]+`,1,100,1e-20"`, ""
				if lapack {
					if letters[typ] == "" {
						continue
					}
					target, config, info = "lapack_"+letters[typ]+"_ffi", map[bool]string{true: "{mode = 86 : ui8, uplo = 76 : ui8}", false: "{mode = 86 : ui8, uplo = 85 : ui8}"}[lower], ", s32[2]"
				}
				text := fmt.Sprintf("HloModule m\n\nENTRY e {\n  a = %s[2,%d,%[2]d] parameter(0)\n  ROOT e = (%[1]s[2,%[2]d,%[2]d], %[3]s[2,%[2]d]%[4]s) custom-call(a), custom_call_target=\"%[5]s\", backend_config=%[6]s\n}\n", typ, n, values, info, target, config)
				var first matrix
				for i, got := range difftest.Results(t, text, "eigh-expander{lapack}", given.literal(t, typ, b, int64(n), int64(n))) {
					v, w := read(t, got[0], n, n), read(t, got[1], 1, n)
					if i == 0 {
						first = w
					}
					t.Run(fmt.Sprintf("%s/%d/%s/%v/%d", typ, n, target, lower, i), func(t *testing.T) {
						scaled := newMatrix(b, n, n, func(b, i, j int) complex128 { return v.at(b, i, j) * w.at(b, 0, j) })
						rest, turned := a.times(v).minus(scaled), v.adjoint().times(v).minus(eye(b, n, n))
						for m := range b {
							bound := gamma(10*n, typ)
							assert.LessOrEqual(t, rest.norm(m), bound*a.norm(m), "A·V - V·w of matrix %d", m)
							assert.LessOrEqual(t, turned.norm(m), bound*math.Sqrt(float64(n)), "Vᴴ·V - I of matrix %d", m)
							assert.LessOrEqual(t, w.minus(first).norm(m), bound*a.norm(m), "the eigenvalues of the op, matrix %d", m)
							ascending := slices.IsSortedFunc(w.v[m*n:(m+1)*n], func(x, y complex128) int { return cmp.Compare(real(x), real(y)) })
							assert.True(t, ascending, "eigenvalues of matrix %d: %v", m, w.v[m*n:(m+1)*n])
						}
					})
				}
			}
		}
	}
}
