package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestSumOfBlocks compares sums of several blocks at once with those of one after the other, bit by bit.
func TestSumOfBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	x := make([]float32, 20*sumBlock+1)
	for i := range x {
		x[i] = rng.Float32() - 0.5
	}
	each, sum := sumBlocks(vec.SumOf[float32]), foldOf[float32](hlo.OpAdd).run
	for blocks := 1; blocks <= 20; blocks++ {
		for _, rest := range []int{-1, 0, 1} {
			n := blocks*sumBlock + rest
			require.Equal(t, math.Float32bits(each(x[:n])), math.Float32bits(sum(x[:n])), "%d elements", n)
		}
	}
}
