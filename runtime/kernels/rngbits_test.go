package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
)

// TestRngBitGenerator compares state and bits with the evaluator's, at counters that carry too.
func TestRngBitGenerator(t *testing.T) {
	states := map[string][][]uint64{
		"rng_philox":    {{1, 2}, {7, ^uint64(0) - 3}, {1, 2, 3}, {5, ^uint64(0) - 1, ^uint64(0)}, {0, 0, 0}},
		"rng_default":   {{9, ^uint64(0), 4}},
		"rng_three_fry": {{1, 2}, {0xdeadbeef12345678, ^uint64(0) - 5}},
	}
	for algorithm, list := range states {
		for _, state := range list {
			for _, typ := range []string{"u8", "s16", "u32", "u64", "f32", "bf16"} {
				for _, dims := range []string{"", "1", "2", "5", "7,3", "3,6", "6,5,3", "1,9,1", "16400"} {
					text := fmt.Sprintf("(u64[%[1]d], %s[%s]) rng-bit-generator(u64[%[1]d]), algorithm=%[4]s", len(state), typ, dims, algorithm)
					s := siteOf(t, text)
					bound, ok := chooseFast(s)
					require.True(t, ok, text)
					x, err := hlo.LiteralOf(s.shape(0), state...)
					require.NoError(t, err)
					want, err := eval.Instruction(t.Context(), s.m, s.in, []*hlo.Literal{x})
					require.NoError(t, err)
					got := run(t, s, bound, []*hlo.Literal{x}, 2)
					require.Equal(t, want.Part(0).Bytes(), got[0].Data, "%s: state", text)
					require.Equal(t, want.Part(1).Bytes(), got[1].Data, "%s: bits", text)
				}
			}
		}
	}
}
