package native

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestKeepConstants rounds three products to bf16: what rounding takes from memory stays in registers if there are some to spare, and only then.
func TestKeepConstants(t *testing.T) {
	name := vec.Of(hlo.OpMultiply, hlo.F32, hlo.F32, hlo.BF16).In(vec.Rounding)
	if vec.FindRecipe(name) == nil {
		t.Skip("this processor has no recipes")
	}
	for _, spare := range []int{0, 2, 8} {
		b := NewBuilder()
		x := b.Input(4, false, Neighbours)
		for range 3 {
			x = b.Op(name, false, x, x)
		}
		b.Store(x, vec.Name{})
		e, err := expand(b, false, false)
		require.NoError(t, err)
		n, computed := len(e.code), make(map[int]bool)
		for _, i := range e.code {
			if i.takesConstant() {
				computed[i.from.index] = true
			}
		}
		constants := len(computed)
		require.Greater(t, constants, 2)
		e.keepConstants(spare)
		kept := len(e.code) - n
		require.Equal(t, min(spare, constants), kept)
		for _, i := range e.code[:kept] {
			require.True(t, i.op.Moves())
		}
		for _, i := range e.code[kept:] {
			if spare >= constants {
				require.False(t, i.takesConstant())
			}
		}
	}
}
