package gemm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLines multiplies small integers, for which all sums are exact, with every loop that this processor has.
func TestLines(t *testing.T) {
	for name, l := range lines32() {
		t.Run("f32 "+name, func(t *testing.T) { testLines(t, l) })
	}
	for name, l := range lines64() {
		t.Run("f64 "+name, func(t *testing.T) { testLines(t, l) })
	}
	t.Run("s32", func(t *testing.T) { testLines(t, LinesFor[int32]()) })
}

func testLines[T float32 | float64 | int32](t *testing.T, l Lines[T]) {
	for k := 1; k < 9; k++ {
		for _, n := range []int{LineStep, 2 * LineStep, 5 * LineStep} {
			aStep, bStep := n+k%3, 2*n
			a, b := make([]T, k*aStep), make([]T, k*bStep)
			for i := range a {
				a[i] = T(i%7) - 3
			}
			for i := range b {
				b[i] = T(i%5) - 2
			}
			got, want := make([]T, n+1), make([]T, n+1)
			for i := range got {
				got[i], want[i] = 99, 99 // what was there is not added, nor is anything behind a line written
			}
			for i := range n {
				want[i] = 0
				for x := range k {
					want[i] += a[x*aStep+i] * b[x*bStep+i]
				}
			}
			l(k, got[:n], a, aStep, b, bStep)
			require.Equal(t, want, got, "%d lines of %d", k, n)
		}
	}
}
