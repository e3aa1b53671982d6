package passes_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// TestPassesKeepMeaning runs every pass and every standard pipeline over random modules: the result verifies, evaluates to the same
// bits, is the same when made again, and the input is not written to.
func TestPassesKeepMeaning(t *testing.T) {
	modules := 60
	if testing.Short() {
		modules = 20
	}
	names := []string{}
	for _, p := range passes.All() {
		names = append(names, p.Name)
	}
	for name := range passes.Pipelines {
		names = append(names, name)
	}
	for seed := range modules {
		m, err := hlotest.Random(uint64(seed), 30)
		require.NoError(t, err, "seed %d", seed)
		require.NoError(t, verifier.Verify(m, verifier.Config{}).Err(), "seed %d:\n%s", seed, printer.String(m))
		for _, name := range names {
			t.Run(fmt.Sprintf("%d/%s", seed, name), func(t *testing.T) {
				run := func() string {
					p, err := passes.Parse(name)
					require.NoError(t, err)
					after := hlotest.RunPass(t, p, m, verifier.Config{})
					err = shadow.Compare(context.Background(), m, after, shadow.Config{})
					require.NoError(t, err, "before:\n%s\nafter:\n%s", printer.String(m), printer.String(after))
					return printer.String(after)
				}
				assert.Equal(t, run(), run(), "the same input must give the same output")
			})
			if t.Failed() {
				return
			}
		}
	}
}

// TestPassesAreIdempotent holds the passes that canonicalise to their promise: run on their own result they change nothing.
func TestPassesAreIdempotent(t *testing.T) {
	for seed := range 60 {
		m, err := hlotest.Random(uint64(seed), 30)
		require.NoError(t, err)
		for _, name := range []string{"dce", "cse", "fusion-inliner", "flatten-call-graph", "async-to-sync", "simplify"} {
			p, err := passes.Parse(name)
			require.NoError(t, err)
			once, err := (&pass.Runner{}).Run(context.Background(), p, m)
			require.NoError(t, err)
			twice, err := (&pass.Runner{}).Run(context.Background(), p, once)
			require.NoError(t, err)
			if once != twice {
				t.Fatalf("%s changed its own result, seed %d:\n%s\nthen:\n%s", name, seed, printer.String(once), printer.String(twice))
			}
		}
	}
}
