package tile

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// TestFoldedHalves: exponentials of bf16 are stored and summed along rows by code too long for chains in registers, which takes two vectors together. Sums show in which chain each element is.
func TestFoldedHalves(t *testing.T) {
	for level := vectors.AVX2; level <= vectors.Best(); level++ {
		restore := vectors.Use(level)
		for _, n := range []int{65, 100, 128, 160, 1000, 5000} {
			const rows = 5
			r := rand.New(rand.NewPCG(uint64(n), 1))
			var in []byte
			for range rows * n {
				in = binary.LittleEndian.AppendUint16(in, minifloat.BF16FromFloat32(float32(r.NormFloat64()*5)))
			}
			in[2*n], in[2*n+1] = 0xc0, 0x7f // a NaN in row 1
			run := func(native bool) [][]byte {
				c := &chain{t: t, r: r, b: NewBuilder(Space{[]int64{rows, int64(n)}})}
				v, ok := c.op("bf16[1] exponential(bf16[1])", c.b.Input(0, hlo.BF16, c.b.space.RowMajor()))
				require.True(t, ok)
				wide, ok := c.b.Convert(hlo.F32, v)
				require.True(t, ok)
				require.True(t, c.b.Fold(1, wide, hlo.OpAdd))
				c.b.Store(0, v)
				p, ok := c.b.Build()
				require.True(t, ok)
				if native {
					p.native.work.Store(payingWork)
				}
				data := &raw{in: [][]byte{in}, out: [][]byte{make([]byte, len(in)), make([]byte, 4*rows)}}
				p.RunRows(0, rows, data)
				require.Equal(t, native, p.native.code.Load() != nil)
				return data.out
			}
			want, got := run(false), run(true)
			require.True(t, math.IsNaN(float64(math.Float32frombits(binary.LittleEndian.Uint32(want[1][4:])))))
			require.Equal(t, want, got, "%v: rows of %d", level, n)
		}
		restore()
	}
}
