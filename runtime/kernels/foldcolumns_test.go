package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestFewOfRuns folds runs of few elements, many of them and one, of every type and op: in order, each behind the initial value.
func TestFewOfRuns(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, op := range []hlo.Opcode{hlo.OpAdd, hlo.OpMultiply, hlo.OpMaximum, hlo.OpMinimum} {
			testFewOfRuns[int8](t, op)
			testFewOfRuns[uint8](t, op)
			testFewOfRuns[int16](t, op)
			testFewOfRuns[uint16](t, op)
			testFewOfRuns[int32](t, op)
			testFewOfRuns[uint32](t, op)
			testFewOfRuns[int64](t, op)
			testFewOfRuns[uint64](t, op)
			if op == hlo.OpMultiply { // of floats, the other ops do not promise an order
				testFewOfRuns[float32](t, op)
				testFewOfRuns[float64](t, op)
			}
		}
		restore()
	}
}

func testFewOfRuns[T realNumber](t *testing.T, op hlo.Opcode) {
	f := foldOf[T](op)
	for run := 1; run <= min(f.longest, 2*mostOfRun); run++ {
		for _, n := range []int{1, leastRuns - 1, leastRuns, leastRuns + 1, besideRuns, besideRuns + 1, 2*besideRuns + 77} {
			x, y := make([]T, n*run), make([]T, n)
			for i := range x {
				x[i] = T(i*7919%251) + T(i%7)/4
			}
			for _, first := range []T{3, f.identity} {
				f.runs(y, x, run, &first)
				for i := range y {
					want := first
					for _, v := range x[i*run:][:run] {
						want = f.pair(want, v)
					}
					require.Equal(t, want, y[i], "%v of run %d of %d elements of %v", op, i, run, elementType[T]())
				}
			}
		}
	}
}
