package hostkernels

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/runtime/workqueue"
)

// TestBlockedProduct: products on the workers are those computed element by element, whatever the extents and however many workers there are.
func TestBlockedProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, extents := range [][3]int{{1, 1, 1}, {3, 500, 5}, {64, 64, 64}, {65, 385, 33}, {130, 800, 70}, {200, 7, 1}} {
		rows, inner, cols := extents[0], extents[1], extents[2]
		fill := func(n int) []int32 {
			x := make([]int32, n)
			for i := range x {
				x[i] = int32(r.IntN(200) - 100)
			}
			return x
		}
		a, b, c := fill(rows*inner), fill(inner*cols), fill(rows*cols)
		for _, beta := range []int32{0, 3} {
			of := func(c []int32) *product[int32] {
				return &product[int32]{2, Matrix[int32]{rows, inner, a}, Matrix[int32]{inner, cols, b}, beta, Matrix[int32]{rows, cols, c}}
			}
			want := append([]int32(nil), c...)
			of(want).plain()
			for _, workers := range []int{1, 3} {
				queue := workqueue.NewMulti(workqueue.Config{Workers: workers})
				got := append([]int32(nil), c...)
				of(got).blocked(queue)
				queue.Close()
				assert.Equal(t, want, got, "%v, beta %d, %d workers", extents, beta, workers)
			}
		}
	}
}

// TestRectify: negative numbers become zero, and a NaN stays one.
func TestRectify(t *testing.T) {
	out := make([]float32, 3)
	rectify([]float32{-2, 0, 3}, out)
	assert.Equal(t, []float32{0, 0, 3}, out)
}
