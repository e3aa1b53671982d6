package gemm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVector multiplies small integers, for which all orders of summation are exact, with every loop that this processor has.
func TestVector(t *testing.T) {
	for name, v := range vectors32() {
		t.Run("f32 "+name, func(t *testing.T) { testVector(t, v) })
	}
	for name, v := range vectors64() {
		t.Run("f64 "+name, func(t *testing.T) { testVector(t, v) })
	}
	t.Run("s32", func(t *testing.T) { testVector(t, VectorFor[int32]()) })
}

func testVector[T float32 | float64 | int32](t *testing.T, v Vector[T]) {
	for rows := range 20 {
		for _, cols := range []int{0, 1, 3, 4, 15, 16, 17, 100, 128, 163} {
			stride := cols + rows%3
			a, x, y := make([]T, rows*stride+1), make([]T, cols), make([]T, rows)
			for i := range a {
				a[i] = T(i%7) - 3
			}
			for i := range x {
				x[i] = T(i%5) - 2
			}
			for i := range y {
				y[i] = T(i%3) - 1
			}
			inner, combined := make([]T, rows+1), make([]T, cols+1)
			wantInner, wantCombined := make([]T, rows+1), make([]T, cols+1)
			for r := range rows {
				for c := range cols {
					wantInner[r] += a[r*stride+c] * x[c]
					wantCombined[c] += a[r*stride+c] * y[r]
				}
			}
			v.Inner(x, a, stride, inner[:rows])
			v.Combine(y, a, stride, combined[:cols])
			require.Equal(t, wantInner, inner, "%d rows of %d", rows, cols)
			require.Equal(t, wantCombined, combined, "%d rows of %d", rows, cols)
		}
	}
}
