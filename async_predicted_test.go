package halo_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/asyncprog"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/schedule"
)

// TestNoPipelineDelays: on two workers, the simulator gives no random asynchronous program more time after a pipeline than after -O0, but for a fiftieth.
func TestNoPipelineDelays(t *testing.T) {
	for seed := uint64(1); seed <= 1000; seed++ {
		p := asyncprog.New(seed, asyncprog.Options{Size: 8 + int(seed%12), Sleep: 4000})
		s := predicted(t, fmt.Sprintf("random_%d", seed), p.Text)
		for i, pipeline := range sleepingPipelines {
			assert.LessOrEqual(t, s[i], s[0]*1.02, "seed %d: seconds after %s, beside those after -O0", seed, pipeline)
		}
	}
}

// TestOverlapIsPredicted: the simulator gives each program of the corpus whose shortest time is known no more than that, after every pipeline. It may give
// less: what is known takes plain instructions to run one after the other.
func TestOverlapIsPredicted(t *testing.T) {
	f, err := os.Open("../shared/corpus/overlap/cases.jsonl")
	if err != nil {
		t.Skip("the programs are not here: ", err)
	}
	defer f.Close()
	rows := bufio.NewScanner(f)
	rows.Buffer(nil, 1<<20)
	for rows.Scan() {
		var row struct {
			ID   string
			HLO  string
			Best float64 // microseconds
		}
		require.NoError(t, json.Unmarshal(rows.Bytes(), &row))
		for i, s := range predicted(t, row.ID, row.HLO) {
			assert.LessOrEqual(t, s*1e6, row.Best*1.02, "%s: microseconds after %s", row.ID, sleepingPipelines[i])
		}
	}
	require.NoError(t, rows.Err())
}

// predicted is the time that the simulator gives a program after each of the sleeping pipelines.
func predicted(t *testing.T, name, text string) (seconds []float64) {
	m, err := parser.Parse(name, text)
	require.NoError(t, err)
	for _, pipeline := range sleepingPipelines {
		p, err := passes.Parse(pipeline)
		require.NoError(t, err)
		after, err := (&pass.Runner{}).Run(t.Context(), p, m)
		require.NoError(t, err)
		on := schedule.Machine{Rates: analysis.OneCore, Workers: 2}
		seconds = append(seconds, schedule.Simulate(after, after.Entry(), analysis.FindCosts(after), on).Seconds)
	}
	return seconds
}
