package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// TestBitFold folds slices that begin anywhere in a word.
func TestBitFold(t *testing.T) {
	for _, op := range []hlo.Opcode{hlo.OpAnd, hlo.OpOr, hlo.OpXor} {
		testBitFold[uint8](t, op)
		testBitFold[int16](t, op)
		testBitFold[int32](t, op)
		testBitFold[uint64](t, op)
	}
}

func testBitFold[T integerNumber](t *testing.T, op hlo.Opcode) {
	f := integerFoldOf[T](op)
	data, other := make([]T, 200), make([]T, 200)
	for i := range data {
		data[i], other[i] = T(i*7919+i/3), T(i*104729+5)
	}
	for run := 1; run <= min(f.longest, len(data)); run++ {
		x, first := data[run%7:][:(len(data)-7)/run*run], T(0b101)
		y := make([]T, len(x)/run)
		f.runs(y, x, run, &first)
		for i := range y {
			want := first
			for _, v := range x[i*run:][:run] {
				want = f.pair(want, v)
			}
			require.Equal(t, want, y[i], "%v of run %d of %d", op, i, run)
		}
	}
	for _, n := range []int{1, 2, 7, 8, 31, 32, 33, 64, 71, 150} {
		for from := range 9 {
			for shift := range 2 {
				x := append([]T(nil), data...)[from:][:n]
				y := other[from+shift:][:n]
				want := x[0]
				for _, v := range x[1:] {
					want = f.pair(want, v)
				}
				require.Equal(t, want, f.run(x), "%v of %d from %d", op, n, from)
				sums := make([]T, n)
				for i := range x {
					sums[i] = f.pair(x[i], y[i])
				}
				f.rows(x, y)
				require.Equal(t, sums, x, "%v of %d from %d and %d", op, n, from, from+shift)
			}
		}
	}
}

// TestScatterBF16 rounds after each update, as the evaluator does.
func TestScatterBF16(t *testing.T) {
	for _, op := range []string{"add", "multiply", "maximum", "minimum"} {
		kernelCase{text: fmt.Sprintf("bf16[6,5] scatter(bf16[6,5], s32[40,1], bf16[40,5]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "+
			"index_vector_dim=1, to_apply={ a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT c = bf16[] %s(a, b) }", op)}.check(t)
	}
}
