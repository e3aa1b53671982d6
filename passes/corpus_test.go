package passes_test

import (
	"context"
	"errors"
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/spmd"
	"github.com/gohalo/halo/verifier"
)

var largeFiles = flag.Bool("large", false, "run the pipelines over the large files of the corpus too, which takes minutes")

// TestCorpusStaysLegal runs the standard pipelines over real modules: what the verifier accepts before, it accepts after every pass.
func TestCorpusStaysLegal(t *testing.T) {
	texts := hlotest.XLATests(t, 1)
	texts = append(texts, hlotest.Files(t, 1, "hlo")...)
	texts = append(texts, hlotest.Files(t, 1, "reference")...)
	var run, large atomic.Int64
	var wait sync.WaitGroup
	work := make(chan hlotest.Text)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for row := range work {
				switch {
				case len(row.Text) > 1<<20 && !*largeFiles:
					large.Add(1)
				case staysLegal(t, row):
					run.Add(1)
				}
			}
		})
	}
	for i, row := range texts {
		if i%10 == 0 || !testing.Short() {
			work <- row
		}
	}
	close(work)
	wait.Wait()
	t.Logf("%d modules of %d are legal; %d large ones were left out", run.Load(), len(texts), large.Load())
}

// staysLegal reports whether the module was legal to begin with.
func staysLegal(t *testing.T, row hlotest.Text) bool {
	m, err := parser.Parse(row.ID, row.Text)
	if err != nil {
		return false
	}
	check := func(m hlo.Module) error {
		return verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err()
	}
	if check(m) != nil {
		return false
	}
	for name := range passes.Pipelines {
		p, err := passes.Parse(name)
		require.NoError(t, err)
		_, err = (&pass.Runner{Check: check}).Run(context.Background(), p, m)
		if refused := (*spmd.Error)(nil); errors.As(err, &refused) {
			continue // some of the programs have shardings that contradict each other
		}
		assert.NoError(t, err, "%s: %s", row.ID, name)
	}
	return true
}
