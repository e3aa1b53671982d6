package passes_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/passcases"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
)

// TestPipelinesOwn: where nobody looks, every named pipeline hands one module from its first pass to its last, and copies no instruction twice. What
// is copied for working on several large computations at once is counted apart.
func TestPipelinesOwn(t *testing.T) {
	owns := func(name string, m hlo.Module) {
		for pipeline := range passes.Pipelines {
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

// TestEveryPassOwns: where nobody looks, random chains of all passes by name hand one module from the first to the last, copy no instruction of it twice, and make what they make
// version by version.
func TestEveryPassOwns(t *testing.T) {
	const length = 8
	var names []string
	for _, p := range passes.All() {
		name := p.Name
		if text, ok := asked[name]; ok {
			name = text
		}
		names = append(names, name)
	}
	for seed := range uint64(120) {
		m, err := hlotest.Wide(seed, 40)
		if seed%3 == 0 {
			m, err = hlotest.Dynamic(seed, 40)
		}
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(seed, 8))
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for at := 0; at < len(names); at += length { // every pass of the catalogue on every module
			text := strings.Join(names[at:min(at+length, len(names))], ",")
			p, err := passes.Parse(text)
			require.NoError(t, err)
			chain := &pass.Runner{}
			got, err := chain.Run(context.Background(), p, m)
			watched := &pass.Runner{Instruments: []pass.Instrument{{}}}
			want, failed := watched.Run(context.Background(), p, m)
			if failed != nil {
				require.EqualError(t, err, failed.Error(), text)
				continue
			}
			require.NoError(t, err, text)
			require.Equal(t, printer.String(want), printer.String(got), "seed %d: %s", seed, text)
			require.Empty(t, chain.Handed.Restarts, "seed %d: %s", seed, text)
			require.LessOrEqual(t, chain.Handed.Copied.Instructions-chain.Handed.Forked.Instructions, m.NumInstructions(), "seed %d: %s", seed, text)
		}
	}
}

// TestCasesOwn: no case of any pass finds one that has to be given a version.
func TestCasesOwn(t *testing.T) {
	files, err := filepath.Glob("../testdata/passes/*/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, c := range passcases.Cases(f, data, passes.Parse) {
			p, err := passes.Parse(c.Pipeline)
			require.NoError(t, err, c.Name)
			m, err := parser.Parse(c.Name, c.Text)
			require.NoError(t, err, c.Name)
			r := &pass.Runner{}
			if _, err = r.Run(context.Background(), pass.Of("", passcases.Touch).Then(p), m); err == nil {
				require.Empty(t, r.Handed.Restarts, c.Name)
				require.LessOrEqual(t, r.Handed.Copied.Instructions-r.Handed.Forked.Instructions, m.NumInstructions(), c.Name)
			}
		}
	}
}
