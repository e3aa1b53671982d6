package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/stretchr/testify/require"
)

// TestSparseRows: the form for sparse rows takes what has few elements other than zero and a finite right side. Where a row has one, the result has the same bits as that of the
// other forms; where it has n, both round each of up to n products and sums.
func TestSparseRows(t *testing.T) {
	t.Run("f32", func(t *testing.T) { testSparseRows[float32](t, hlo.F32) })
	t.Run("f64", func(t *testing.T) { testSparseRows[float64](t, hlo.F64) })
}

func testSparseRows[T float32 | float64](t *testing.T, typ hlo.PrimitiveType) {
	zero := math.Copysign(0, -1)
	for _, shape := range []string{
		"T[70,90] dot(T[70,601], T[601,90]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		"T[3,64,65] dot(T[3,64,300], T[3,300,65]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
		"T[2,64,90] dot(T[2,64,16,16], T[16,16,90]), lhs_contracting_dims={2,3}, rhs_contracting_dims={0,1}",
	} {
		for _, c := range []struct {
			name   string
			left   func(i, k, of int) float64 // element k of row i
			right  float64                    // one of its elements
			sparse bool
		}{
			{"one of each row", func(i, k, of int) float64 { return one(k == i*7%of) }, 2, true},
			{"the last of each row", func(i, k, of int) float64 { return one(k == of-1) }, 2, true},
			{"some of each row", func(i, k, of int) float64 { return one(k%100 == i%100) / 3 }, 2, true},
			{"none", func(i, k, of int) float64 { return 0 }, 2, true},
			{"zeros of both signs", func(i, k, of int) float64 {
				if k == 5 {
					return -3
				}
				return zero
			}, 2, true},
			{"one full row", func(i, k, of int) float64 { return one(i == 20 || k == 0) }, 2, false},
			{"full", func(i, k, of int) float64 { return float64(i-k) / 7 }, 2, false},
			{"an infinity on the right", func(i, k, of int) float64 { return one(k == i) }, math.Inf(-1), false},
			{"not a number on the right", func(i, k, of int) float64 { return one(k == i) }, math.NaN(), false},
		} {
			s := siteOf(t, replaceType(shape, typ.String()))
			rng := rand.New(rand.NewPCG(1, 2))
			left, right := s.in.OperandInstr(0).Shape(), s.in.OperandInstr(1).Shape()
			p := newDot[T](s)
			bound, ok := p.bind(s, typ)
			require.True(t, ok && p.zeros != nil, shape)
			x, y := make([]float64, left.NumElements()), make([]float64, right.NumElements())
			for i := range x {
				x[i] = c.left(i/p.k, i%p.k, p.k)
			}
			for i := range y {
				y[i] = rng.NormFloat64()
			}
			y[len(y)-1] = c.right
			args := []*hlo.Literal{encoded(t, left, x), encoded(t, right, y)}
			sparse := p.zeros
			for _, workers := range []int{1, 2} {
				p.zeros = sparse
				got := run(t, s, bound, args, workers)[0].Data
				require.Equal(t, c.sparse, sparse.took(t, args, bound), "%s, %s", shape, c.name)
				p.zeros = nil
				want := run(t, s, bound, args, workers)[0].Data
				if c.name != "some of each row" {
					require.Equal(t, want, got, "%s, %s", shape, c.name)
					continue
				}
				const n, most = 8.0, 10 // of elements other than zero, and of a number on the right
				bound := 2 * n * (n + 1) * most / 3 * math.Pow(2, -24)
				if typ == hlo.F64 {
					bound *= math.Pow(2, 24-53)
				}
				for i, x := range elems[T](want) {
					require.InDelta(t, float64(x), float64(elems[T](got)[i]), bound, "%s, %s: element %d", shape, c.name, i)
				}
			}
		}
	}
}

// took reports whether the form takes operands.
func (s *sparseRows[T]) took(t *testing.T, args []*hlo.Literal, bound runtime.Bound) bool {
	t.Helper()
	var ins []*runtime.Buffer
	for _, a := range args {
		ins = append(ins, &runtime.Buffer{Data: a.Bytes()})
	}
	out := &runtime.Buffer{Data: runtime.AlignedBytes(int64(s.p.batch * s.p.m * s.p.n * s.width))}
	return s.run(runtime.NewTensorFrame(&runtime.ExecContext{}, ins, []*runtime.Buffer{out}, runtime.AlignedBytes(bound.Scratch)))
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func encoded(t *testing.T, s hlo.Shape, values []float64) *hlo.Literal {
	t.Helper()
	b := runtime.AlignedBytes(s.ByteSize())
	encode(b, s.Type(), values)
	l, err := hlo.NewLiteral(s, b)
	require.NoError(t, err)
	return l
}
