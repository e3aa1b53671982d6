package difftest_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/internal/difftest"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/runtime"
)

var (
	programs = flag.Int("programs", 300, "random programs to try")
	first    = flag.Uint64("first", 0, "the first program's seed")
)

// TestRandom runs random programs through different pipelines, thread counts and inputs.
func TestRandom(t *testing.T) {
	n := *programs
	if testing.Short() {
		n = 50
	}
	// Every fifth program has its arithmetic begun asynchronously and scheduled.
	const overlapping = "cpu,async-wrapper{ops=[add,multiply,maximum,reduce,exponential,fusion,while] always},latency-hiding-scheduler"
	// Another fifth has fusions with several results, compiled as they are.
	const siblings = "O0,cpu-instruction-fusion,cpu-multi-output-fusion"
	pipelines := []string{"cpu", "O0", siblings, "O0,simplify", overlapping}
	fills := []arrays.FillKind{arrays.Random, arrays.Ones, arrays.Uniform}
	// 67758 sums along the axis that an earlier probe of the condition did not move; 4054245 takes the remainder of what is made of constants.
	seeds := []uint64{67758, 4054245}
	for i := range uint64(n) {
		seeds = append(seeds, *first+i)
	}
	for _, seed := range seeds {
		m, err := hlotest.Random(seed, 5+int(seed%60))
		require.NoError(t, err, "seed %d", seed)
		cfg := difftest.Config{Pipeline: pipelines[seed%5], Threads: 1 + int(seed/5%3), Fill: fills[seed%3], Seed: seed}
		restore := func() {}
		if seed%2 == 0 {
			restore = runtime.LinkAtOnce()
		}
		o := difftest.Run(t.Context(), m, cfg)
		restore()
		if !o.Verdict.OK() || o.Verdict == difftest.BothRefuse {
			t.Errorf("seed %d, %+v: %s: %v\n%s", seed, cfg, o.Verdict, o.Err, printer.String(m))
		}
	}
}
