package tile

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// TestNativeBrain holds arithmetic of bf16 by code to the bits of steps, on all numbers, NaN and infinities of it, over rows with and without a rest.
func TestNativeBrain(t *testing.T) {
	const n, isNaN = 1 << 16, 0x7f80
	r := rand.New(rand.NewPCG(5, 6))
	var x, y []byte
	for i := range n {
		x = binary.LittleEndian.AppendUint16(x, uint16(i))
		v := r.IntN(n)
		if v&0x7fff > isNaN { // which NaN comes of two is up to the order of operands
			v &^= 0x7f
		}
		y = binary.LittleEndian.AppendUint16(y, uint16(v))
	}
	for _, level := range []vectors.Level{vectors.AVX512, vectors.AVX2} {
		if vectors.Best() < level {
			continue
		}
		restore := vectors.Use(level)
		for _, first := range []string{"add", "subtract", "multiply", "divide"} {
			for _, second := range []string{"add", "subtract", "multiply", "divide"} {
				for _, dims := range [][]int64{{n}, {n / 100, 100}, {n / 37, 37}} {
					s := Space{dims}
					build := func() *Program {
						c := &chain{t: t, b: NewBuilder(s)}
						a, b := c.b.Input(0, hlo.BF16, s.RowMajor()), c.b.Input(1, hlo.BF16, s.RowMajor())
						v, ok := c.op(fmt.Sprintf("bf16[1] %s(bf16[1], bf16[1])", first), a, b)
						require.True(t, ok)
						w, ok := c.op(fmt.Sprintf("bf16[1] %s(bf16[1], bf16[1])", second), v, b)
						require.True(t, ok)
						c.b.Store(0, v)
						c.b.Store(1, w)
						p, ok := c.b.Build()
						require.True(t, ok)
						return p
					}
					room := func() *raw { return &raw{in: [][]byte{x, y}, out: [][]byte{make([]byte, 2*n), make([]byte, 2*n)}} }
					size := int(s.Len())
					want, got := room(), room()
					withSteps(build(), 0, size, want)
					p := build()
					p.native.work.Store(payingWork)
					p.Run(0, size, got)
					require.NotNil(t, p.native.code.Load().Code)
					require.Equal(t, want.out, got.out, "%v %s %s %v", level, first, second, dims)
				}
			}
		}
		restore()
	}
}
