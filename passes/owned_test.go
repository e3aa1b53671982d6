package passes_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes"
)

// makesVersions are the pipelines whose passes do not own, each with the reason.
var makesVersions = map[string]string{
	"spmd":             "it writes the program of one device while it reads that of all",
	"spmd-partitioner": "likewise",
}

// TestPipelinesOwn: where nobody looks, every named pipeline hands one module from its first pass to its last, and copies no instruction twice. What
// is copied for working on several large computations at once is counted apart.
func TestPipelinesOwn(t *testing.T) {
	owns := func(name string, m hlo.Module) {
		for pipeline := range passes.Pipelines {
			if makesVersions[pipeline] != "" {
				continue
			}
			r := &pass.Runner{}
			run(t, r, pipeline, m)
			require.Empty(t, r.Handed.Restarts, "%s of %s", pipeline, name)
			require.LessOrEqual(t, r.Handed.Chains, 1, "%s of %s", pipeline, name)
			require.LessOrEqual(t, r.Handed.Copied.Instructions-r.Handed.Forked.Instructions, m.NumInstructions(), "%s of %s", pipeline, name)
		}
	}
	for seed := range uint64(50) {
		m, err := hlotest.Random(seed, 60)
		require.NoError(t, err)
		owns(m.Name(), m)
	}
	for i, row := range hlotest.XLATests(t, 1) {
		if m, err := parser.Parse(row.ID, row.Text); err == nil && i%7 == 3 {
			owns(row.ID, m)
		}
	}
	files, err := filepath.Glob("../testdata/run/*.hlo")
	require.NoError(t, err)
	assert.NotEmpty(t, files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		if m, err := parser.Parse(f, string(text)); err == nil {
			owns(f, m)
		}
	}
}
