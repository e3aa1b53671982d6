package difftest_test

import (
	"flag"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/difftest"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/verifier"
)

// untrue lists modules that say something about themselves that is not so; the engines need not agree on what follows from it.
var untrue = map[string]string{
	"service/hlo_verifier_test.cc#176":                          "a copy changes the element type",
	"hlo/transforms/while_loop_trip_count_annotator_test.cc#15": "known_trip_count is not the trip count",
}

var (
	every    = flag.Int("every", 8, "try each n-th module of the corpus; 1 for all, which takes a quarter of an hour")
	pipeline = flag.String("pipeline", "cpu", "what the modules of the corpus are compiled with")
)

// TestCorpus runs modules of the corpus that are small enough on both engines. Modules that take too long are counted, and are no failure.
func TestCorpus(t *testing.T) {
	counts := map[difftest.Verdict]int{}
	n := *every
	if testing.Short() {
		n = max(n, 40)
	}
	for i, row := range append(hlotest.XLATests(t, 2), hlotest.Files(t, 2, "hlo")...) {
		if i%n != 0 {
			continue
		}
		m, err := parser.Parse(row.ID, row.Text)
		if err != nil {
			counts["not parsed"]++
			continue
		}
		if m, err = hlo.FillElided(m); err != nil {
			counts["too large"]++
			continue
		}
		if verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err() != nil {
			counts["not verified"]++
			continue
		}
		if why := untrue[row.ID]; why != "" {
			counts["untrue"]++
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			o := difftest.Run(t.Context(), m, difftest.Config{Pipeline: *pipeline, Seed: 1})
			counts[o.Verdict]++
			switch {
			case !o.Verdict.OK():
				t.Errorf("%s: %v", o.Verdict, o.Err)
			case o.Verdict != difftest.Same:
				t.Skipf("%s: %v", o.Verdict, o.Err)
			}
		})
	}
	t.Logf("%v", counts)
}
