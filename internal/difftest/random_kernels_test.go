package difftest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/internal/difftest"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/verifier"
)

// TestRandomKernels runs random programs of ops with kernels of their own, one for each three of TestRandom's, with machine code from the first run on.
func TestRandomKernels(t *testing.T) {
	defer tile.CodeAtOnce()()
	n := max(*programs/3, 1)
	if testing.Short() {
		n = 20
	}
	counts := map[difftest.Verdict]int{}
	fills := []arrays.FillKind{arrays.Random, arrays.Uniform, arrays.Random, arrays.Ones}
	for seed := *first; seed < *first+uint64(n); seed++ {
		m, err := hlotest.Kernels(seed, 1+int(seed%6))
		require.NoError(t, err, "seed %d", seed)
		require.NoError(t, verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err(), "seed %d\n%s", seed, printer.String(m))
		cfg := difftest.Config{Threads: 1 + int(seed%2), Fill: fills[seed%4], Seed: seed}
		o := difftest.Run(t.Context(), m, cfg)
		counts[o.Verdict]++
		if !o.Verdict.OK() || o.Verdict == difftest.BothRefuse {
			t.Errorf("seed %d, %+v: %s: %v\n%s", seed, cfg, o.Verdict, o.Err, printer.String(m))
		}
	}
	t.Logf("%v", counts)
}
