package difftest_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/difftest"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/verifier"
)

// text is a module of the corpus.
type text struct{ ID, Text string }

func corpus(t *testing.T) (all []text) {
	f, err := os.Open(hlotest.Shared(t, 2, "corpus", "xla_tests", "modules.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var row text
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		all = append(all, row)
	}
	require.NoError(t, lines.Err())
	base := hlotest.Shared(t, 2, "corpus", "hlo")
	cut := regexp.MustCompile(`(?m)^// -----.*$`)
	require.NoError(t, filepath.WalkDir(base, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".hlo") {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(base, path)
		for i, part := range cut.Split(string(data), -1) {
			all = append(all, text{fmt.Sprintf("%s#%d", rel, i), part})
		}
		return err
	}))
	return all
}

// untrue lists modules that say something about themselves that is not so; the engines need not agree on what follows from it.
var untrue = map[string]string{
	"service/hlo_verifier_test.cc#176":                          "a copy changes the element type",
	"hlo/transforms/while_loop_trip_count_annotator_test.cc#15": "known_trip_count is not the trip count",
}

// open lists modules that the evaluator runs and the compiled program refuses, though it should not. It is to become empty.
var open = map[string]string{
	"service/gpu/gpu_latency_hiding_scheduler_test.cc#29":                 "synchronous collectives in a group of asynchronous ones do not verify",
	"service/memory_space_assignment/memory_space_assignment_test.cc#110": "async-to-sync makes a wrong tuple of an in-place collective-permute-start",
}

var every = flag.Int("every", 8, "try each n-th module of the corpus; 1 for all, which takes a quarter of an hour")

// TestCorpus runs modules of the corpus that are small enough on both engines. What takes too long is counted, not held against anybody.
func TestCorpus(t *testing.T) {
	counts := map[difftest.Verdict]int{}
	n := *every
	if testing.Short() {
		n = max(n, 40)
	}
	for i, row := range corpus(t) {
		if i%n != 0 {
			continue
		}
		m, err := parser.Parse(row.ID, row.Text)
		if err != nil {
			counts["not parsed"]++
			continue
		}
		m = hlo.FillElided(m)
		if verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err() != nil {
			counts["not verified"]++
			continue
		}
		if why := untrue[row.ID]; why != "" {
			counts["untrue"]++
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			o := difftest.Run(t.Context(), m, difftest.Config{Seed: 1})
			counts[o.Verdict]++
			switch {
			case !o.Verdict.OK() && open[row.ID] != "":
				t.Skipf("%s: %v", open[row.ID], o.Err)
			case !o.Verdict.OK():
				t.Errorf("%s: %v", o.Verdict, o.Err)
			case o.Verdict != difftest.Same:
				t.Skipf("%s: %v", o.Verdict, o.Err)
			}
		})
	}
	t.Logf("%v", counts)
}
