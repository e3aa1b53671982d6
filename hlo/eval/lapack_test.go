package eval_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
)

// square is an n by n matrix in row-major order.
type square []complex128

func (a square) times(b square, n int) square {
	c := make(square, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				c[i*n+j] += a[i*n+k] * b[k*n+j]
			}
		}
	}
	return c
}

func (a square) adjoint(n int) square {
	c := make(square, n*n)
	for i := range n {
		for j := range n {
			c[i*n+j] = cmplx.Conj(a[j*n+i])
		}
	}
	return c
}

func near(t *testing.T, want, got square, what string) {
	t.Helper()
	for i := range want {
		require.Less(t, cmplx.Abs(want[i]-got[i]), 1e-12, "%s, element %d: %v and %v", what, i, want[i], got[i])
	}
}

// lapack calls a routine on literals.
func lapack(t *testing.T, name, result, config string, args ...*hlo.Literal) *hlo.Literal {
	t.Helper()
	var shapes []string
	for _, a := range args {
		shapes = append(shapes, string(a.Shape().AppendText(nil, false)))
	}
	m := parse(t, fmt.Sprintf("%s custom-call(%s), custom_call_target=\"lapack_%s_ffi\", api_version=API_VERSION_TYPED_FFI, backend_config={%s}",
		result, strings.Join(shapes, ", "), name, config))
	v, err := eval.Instruction(context.Background(), m, m.Entry().Root(), args)
	require.NoError(t, err)
	return v
}

func numbersOf(l *hlo.Literal) square {
	if l.Shape().Type() == hlo.C128 {
		return hlo.Values[complex128](l)
	}
	var v square
	for _, x := range hlo.Values[float64](l) {
		v = append(v, complex(x, 0))
	}
	return v
}

func randomMatrix(t *testing.T, typ hlo.PrimitiveType, dims ...int64) *hlo.Literal {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	s := hlo.MakeShape(typ, dims...)
	var l *hlo.Literal
	var err error
	if typ == hlo.C128 {
		v := make([]complex128, s.NumElements())
		for i := range v {
			v[i] = complex(r.NormFloat64(), r.NormFloat64())
		}
		l, err = hlo.LiteralOf(s, v...)
	} else {
		v := make([]float64, s.NumElements())
		for i := range v {
			v[i] = r.NormFloat64()
		}
		l, err = hlo.LiteralOf(s, v...)
	}
	require.NoError(t, err)
	return l
}

func TestSchur(t *testing.T) {
	const n = 6
	a := randomMatrix(t, hlo.F64, n, n)
	v := lapack(t, "dgees", "(f64[6,6], f64[6,6], f64[6], f64[6], s32[], s32[])", "mode = 86 : ui8, sort = 78 : ui8", a)
	schur, z := numbersOf(v.Part(0)), numbersOf(v.Part(1))
	near(t, numbersOf(a), z.times(schur, n).times(z.adjoint(n), n), "Z·T·Zᵀ")
	for i := range n {
		for j := range i - 1 {
			assert.Zero(t, schur[i*n+j], "below the blocks")
		}
	}
	a = randomMatrix(t, hlo.C128, n, n)
	v = lapack(t, "zgees", "(c128[6,6], c128[6,6], c128[6], s32[], s32[])", "mode = 86 : ui8, sort = 78 : ui8", a)
	schur, z = numbersOf(v.Part(0)), numbersOf(v.Part(1))
	near(t, numbersOf(a), z.times(schur, n).times(z.adjoint(n), n), "Z·T·Zᴴ")
	for i, w := range numbersOf(v.Part(2)) {
		assert.Equal(t, schur[i*n+i], w)
	}
}

func TestReductions(t *testing.T) {
	const n = 5
	for _, c := range []struct {
		letter, typ, orgqr, ormqr, sytrd string
		t                                hlo.PrimitiveType
	}{{"d", "f64", "orgqr", "ormqr", "sytrd", hlo.F64}, {"z", "c128", "ungqr", "unmqr", "hetrd", hlo.C128}} {
		a := randomMatrix(t, c.t, n, n)
		// Q·C, and Qᴴ·(Q·C) = C, on both sides; ormqr and orgqr mean the same Q.
		f := lapack(t, c.letter+"geqrf", fmt.Sprintf("(%[1]s[5,5], %[1]s[5])", c.typ), "", a)
		q := numbersOf(lapack(t, c.letter+c.orgqr, c.typ+"[5,5]", "", f.Part(0), f.Part(1)))
		b := randomMatrix(t, c.t, n, n)
		for _, left := range []bool{true, false} {
			config := func(transpose bool) string { return fmt.Sprintf("left = %v, transpose = %v", left, transpose) }
			qb := lapack(t, c.letter+c.ormqr, c.typ+"[5,5]", config(false), f.Part(0), f.Part(1), b)
			want := q.times(numbersOf(b), n)
			if !left {
				want = numbersOf(b).times(q, n)
			}
			near(t, want, numbersOf(qb), "Q·C")
			back := lapack(t, c.letter+c.ormqr, c.typ+"[5,5]", config(true), f.Part(0), f.Part(1), qb)
			near(t, numbersOf(b), numbersOf(back), "Qᴴ·Q·C")
		}
		// Similar matrices have the same trace and, by unitary transformations, the same norm.
		h := lapack(t, c.letter+"gehrd", fmt.Sprintf("(%[1]s[5,5], %[1]s[4], s32[])", c.typ), "low = 1 : i32, high = 5 : i32", a)
		var trace, norm complex128
		for i := range n {
			for j := range n {
				x, y := numbersOf(a)[i*n+j], numbersOf(h.Part(0))[i*n+j]
				norm += x * cmplx.Conj(x)
				if i <= j+1 {
					norm -= y * cmplx.Conj(y)
				}
				if i == j {
					trace += x - y
				}
			}
		}
		assert.Less(t, cmplx.Abs(trace)+cmplx.Abs(norm), 1e-11)
		for _, uplo := range []byte{'L', 'U'} {
			v := lapack(t, c.letter+c.sytrd, fmt.Sprintf("(%[1]s[5,5], f64[5], f64[4], %[1]s[4], s32[])", c.typ), fmt.Sprintf("uplo = %d : ui8", uplo), a)
			sum := 0.0
			for i := range n {
				d := real(numbersOf(v.Part(1))[i])
				sum += d * d
				x := real(numbersOf(a)[i*n+i])
				sum -= x * x
				for j := range i {
					y := numbersOf(a)[i*n+j]
					if uplo == 'U' {
						y = numbersOf(a)[j*n+i]
					}
					sum -= 2 * (real(y)*real(y) + imag(y)*imag(y))
				}
				if i > 0 {
					e := real(numbersOf(v.Part(2))[i-1])
					sum += 2 * e * e
				}
			}
			assert.Less(t, math.Abs(sum), 1e-11, "%s %c", c.typ, uplo)
		}
	}
}

func TestUnknownCustomCall(t *testing.T) {
	m := parse(t, `f32[] custom-call(), custom_call_target="mine"`)
	_, err := eval.Instruction(context.Background(), m, m.Entry().Root(), nil)
	require.ErrorContains(t, err, `custom-call target "mine" is not known`)
	require.ErrorContains(t, err, `eval.Options.CustomCalls["mine"]`)
	require.ErrorContains(t, err, `Registry.CustomCall("mine", ...)`)
}
