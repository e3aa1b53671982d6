package halo_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/asyncprog"
	"github.com/gohalo/halo/passes"
)

// sleepingPipelines are compared with -O0, which comes first.
var sleepingPipelines = []string{"O0", "cpu", "cpu-async", "O2,cpu", "O3,cpu"}

// BenchmarkSleepingPrograms runs random asynchronous programs whose operations sleep under each pipeline, without what is dead in them, which only -O0
// would run, and reports the time of all in units of that
// of -O0, and the programs that took more than a tenth longer, which are logged. -asyncprograms=1000 is the whole of it. Each time is the least of some
// runs, taken by turns.
func BenchmarkSleepingPrograms(b *testing.B) {
	for range b.N {
		sums := make([]time.Duration, len(sleepingPipelines))
		slower := make([]int, len(sleepingPipelines))
		for seed := *asyncSeed; seed < *asyncSeed+uint64(*asyncPrograms); seed++ {
			p := asyncprog.New(seed, asyncprog.Options{Size: 8 + int(seed%12), Sleep: 4000})
			least := leastTimes(b, p, 3, nil)
			for retry := 0; retry < 3 && anySlower(least); retry++ {
				least = leastTimes(b, p, 5, least)
			}
			for i, t := range least {
				sums[i] += t
				if isSlower(t, least[0]) {
					slower[i]++
					b.Logf("seed %d: %s takes %v, -O0 %v", seed, sleepingPipelines[i], t, least[0])
				}
			}
		}
		for i, name := range sleepingPipelines[1:] {
			b.ReportMetric(float64(sums[i+1])/float64(sums[0]), name+"/O0")
			b.ReportMetric(float64(slower[i+1]), name+"-slower")
		}
	}
}

// isSlower allows for what a timer may be late.
func isSlower(t, than time.Duration) bool { return t > than+than/10 && t > than+time.Millisecond }

func anySlower(times []time.Duration) bool {
	for _, t := range times {
		if isSlower(t, times[0]) {
			return true
		}
	}
	return false
}

// leastTimes is the least time of a program under each pipeline, of some more runs and those before.
func leastTimes(b *testing.B, p asyncprog.Program, runs int, least []time.Duration) []time.Duration {
	m, err := parser.Parse("random.hlo", p.Text)
	require.NoError(b, err)
	dce, err := passes.Parse("dce")
	require.NoError(b, err)
	m, err = (&pass.Runner{}).Run(b.Context(), dce, m)
	require.NoError(b, err)
	var args []*hlo.Literal
	for range p.Inputs {
		x, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 4), float32(1), float32(2), float32(3), float32(4))
		require.NoError(b, err)
		args = append(args, x)
	}
	programs := make([]*halo.Program, len(sleepingPipelines))
	for i, pipeline := range sleepingPipelines {
		programs[i], err = halo.Compile(b.Context(), m, halo.Options{Passes: pipeline, Threads: 2})
		require.NoError(b, err)
		defer programs[i].Close()
	}
	if least == nil {
		least = make([]time.Duration, len(programs))
		for i := range least {
			least[i] = time.Hour
		}
	}
	for range runs {
		for i, c := range programs {
			began := time.Now()
			_, err := c.Run(b.Context(), args...)
			require.NoError(b, err)
			least[i] = min(least[i], time.Since(began))
		}
	}
	return least
}
