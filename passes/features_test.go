package passes_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// TestFeatures runs every pass and every standard pipeline over a program for each thing that passes forget: sizes known at run time only, mixed precision,
// tuples in tuples, tokens, effects, control dependencies, asynchronous chains, shardings, and the values at the ends of types. What comes out verifies, computes the
// same bits, and has the same effects.
func TestFeatures(t *testing.T) {
	files, err := filepath.Glob("../testdata/features/*.hlo")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 9)
	pipelines := map[string]*pass.Pipeline{}
	for _, p := range passes.All() {
		text := p.Name
		if exact, ok := asked[text]; ok {
			text = exact
		}
		pipelines[text], err = passes.Parse(text)
		require.NoError(t, err)
	}
	for name := range passes.Pipelines {
		pipelines[name], err = passes.Parse(name)
		require.NoError(t, err)
	}
	for _, file := range files {
		feature := strings.TrimSuffix(filepath.Base(file), ".hlo")
		t.Run(feature, func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			m, err := parser.Parse(file, string(data))
			require.NoError(t, err)
			cfg := verifier.Config{MixedPrecision: feature == "mixed-precision"}
			changed := 0
			for name, pipeline := range pipelines {
				n, err := keepsMeaningUnder(cfg, func(uint64) (hlo.Module, error) { return m, nil }, 0, []string{name}, pipelines)
				assert.NoError(t, err)
				changed += n
				r := &pass.Runner{}
				if after, err := r.Run(t.Context(), pipeline, m); err == nil && !slices.Contains(other, name) {
					assert.Equal(t, effectsIn(m), effectsIn(after), "%s gives and takes no effects:\n%s", name, printer.String(after))
				}
			}
			t.Logf("%d passes and pipelines, %d change the program", len(pipelines), changed)
		})
	}
}

// effectsIn counts the sleeps that a run of a program may come by, however its calls are arranged.
func effectsIn(m hlo.Module) int {
	within := map[hlo.CompID]int{}
	for c := range m.PostOrder() {
		for in := range c.Instructions() {
			for id := range in.Callees() {
				within[c.ID()] += within[id]
			}
			if in.Opcode() == hlo.OpCustomCall && hlo.AttrsOf[hlo.CustomCallAttrs](in).Target == "halo.sleep" {
				within[c.ID()]++
			}
		}
	}
	return within[m.Entry().ID()]
}
