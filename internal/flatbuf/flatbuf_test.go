package flatbuf_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/flatbuf"
)

// descriptor is a table of a rank, a kind, a vector of axes and a direction, as JAX 0.4.13 wrote it; slot 1 is absent.
var descriptor = []byte{20, 0, 0, 0, 0, 0, 14, 0, 16, 0, 8, 0, 0, 0, 6, 0, 12, 0, 7, 0, 14, 0, 0, 0, 0, 0, 2, 1, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}

func TestRead(t *testing.T) {
	got, err := flatbuf.Read(descriptor, func(table flatbuf.Table) []int64 {
		return append([]int64{table.Number(0, 4), table.Number(1, 1), table.Number(2, 1), table.Number(4, 1), table.Number(5, 1)}, table.Numbers(3, 4)...)
	})
	require.NoError(t, err)
	require.Equal(t, []int64{2, 0, 2, 1, 0, 1}, got)
	_, err = flatbuf.Read(descriptor, func(table flatbuf.Table) int { table.Fail("rank %d", table.Number(0, 4)); return 0 })
	require.EqualError(t, err, "byte 20: rank 2")
}

// TestReadDamaged reads every field of buffers that were cut off and written over: each is an error or gives no more than there is.
func TestReadDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 100_000 {
		b := append([]byte(nil), descriptor[:rng.IntN(len(descriptor)+1)]...)
		for range rng.IntN(4) {
			if len(b) > 0 {
				b[rng.IntN(len(b))] = byte(rng.Uint32())
			}
		}
		for slot := range int64(8) {
			_, err := flatbuf.Read(b, func(table flatbuf.Table) int {
				table.Number(slot, 8)
				require.LessOrEqual(t, 4*len(table.Numbers(slot, 4)), len(b))
				return len(table.Data(slot))
			})
			if err != nil {
				failed++
			}
		}
	}
	require.NotZero(t, failed)
}
