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
	t.Run("s64", func(t *testing.T) { testVector(t, VectorFor[int64]()) })
	t.Run("c64", func(t *testing.T) { testComplexVector(t, VectorFor[complex64]()) })
	t.Run("c128", func(t *testing.T) { testComplexVector(t, VectorFor[complex128]()) })
	for name, v := range vectors32() {
		t.Run("c64 of "+name, func(t *testing.T) { testComplexVector(t, ofParts[float32, complex64](v)) })
	}
}

func testVector[T float32 | float64 | int32 | int64](t *testing.T, v Vector[T]) {
	rows := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	testProducts(t, v, rows, []int{0, 1, 3, 4, 15, 16, 17, 100, 128, 163}, func(re, _ int) T { return T(re) })
}

// testComplexVector also takes more rows and columns than are multiplied at a time.
func testComplexVector[T complex64 | complex128](t *testing.T, v Vector[T]) {
	number := func(re, im int) T { return T(complex(float64(re), float64(im))) }
	testProducts(t, v, []int{0, 1, 2, 7, 8, 9, 67, 130}, []int{0, 1, 3, 8, 100, 256, 259, 600}, number)
}

// testProducts compares the products of matrices of all these sizes, which are made of small numbers, with plain loops.
func testProducts[T Number](t *testing.T, v Vector[T], rowCounts, colCounts []int, number func(re, im int) T) {
	for _, rows := range rowCounts {
		for _, cols := range colCounts {
			stride := cols + rows%3
			a, x, y := make([]T, rows*stride+1), make([]T, cols), make([]T, rows)
			for i := range a {
				a[i] = number(i%7-3, i%11-5)
			}
			for i := range x {
				x[i] = number(i%5-2, i%3-1)
			}
			for i := range y {
				y[i] = number(i%3-1, i%4-2)
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
