package legalize

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// rfft is the descriptor of a real transform along axis 1, as JAX 0.4.13 wrote it.
var rfft = []byte{20, 0, 0, 0, 0, 0, 14, 0, 16, 0, 8, 0, 0, 0, 6, 0, 12, 0, 7, 0, 14, 0, 0, 0, 0, 0, 2, 1, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}

func TestFlatTable(t *testing.T) {
	table, ok := flatTableOf(rfft)
	require.True(t, ok)
	axes, ok := table.numbers(3)
	require.True(t, ok)
	require.Equal(t, []uint32{1}, axes)
	require.Equal(t, byte(realToComplex), table.byte(2))
	require.Equal(t, byte(1), table.byte(4))
	require.Zero(t, table.field(5), "a field behind the last")
	require.Zero(t, table.field(1), "a field that is absent")
}

// TestFlatTableDamaged reads every field of descriptors that were cut off and written over.
func TestFlatTableDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		b := append([]byte(nil), rfft[:rng.IntN(len(rfft)+1)]...)
		for range rng.IntN(4) {
			if len(b) > 0 {
				b[rng.IntN(len(b))] = byte(rng.Uint32())
			}
		}
		table, ok := flatTableOf(b)
		if !ok {
			continue
		}
		for i := range 8 {
			table.byte(i)
			table.float(i)
			if v, ok := table.numbers(i); ok {
				require.LessOrEqual(t, 4*len(v), len(b))
			}
		}
	}
}
