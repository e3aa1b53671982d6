package passes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/async"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// TestWrappingComesUndone: what is begun asynchronously and made synchronous again is the same program, for every op of random modules
// and of the corpus that can be wrapped.
func TestWrappingComesUndone(t *testing.T) {
	wrapped := map[hlo.Opcode]int{}
	there := func(name string, m hlo.Module) {
		m = run(t, nil, "dce", m)
		text := printer.String(m)
		if verifier.Verify(m, verifier.Config{}).Err() != nil || strings.Contains(text, "-start(") || strings.Contains(text, "execution_thread") {
			return // of chains that are there already those in one computation would come undone too
		}
		e := m.Edit()
		c := e.Computation(m.Entry().ID())
		for in := range m.Entry().Instructions() {
			info := hlo.Info(in.Opcode())
			if in.Opcode() == hlo.OpParameter || info.Traits&(hlo.TraitNotWrappable|hlo.TraitTokens) != 0 || hlo.HasNativeAsync(in.Opcode()) {
				continue
			}
			if _, err := async.Make(c, in.ID(), "side"); err == nil {
				wrapped[in.Opcode()]++
			}
		}
		begun := e.Freeze()
		if err := verifier.Verify(begun, verifier.Config{}).Err(); err != nil {
			require.NoError(t, err, "%s:\n%s", name, printer.String(begun))
		}
		back := run(t, nil, "async-unwrapper,dce", begun)
		require.NoError(t, verifier.Verify(back, verifier.Config{}).Err(), "%s:\n%s", name, printer.String(back))
		require.True(t, m.Equal(back), "%s:\n%s\nbecame\n%s", name, printer.String(m), printer.String(back))
	}
	for seed := range uint64(60) {
		m, err := hlotest.Random(seed, 30)
		require.NoError(t, err)
		there(m.Name(), m)
	}
	for i, row := range hlotest.XLATests(t, 1) {
		if m, err := parser.Parse(row.ID, row.Text); err == nil && i%3 == 0 {
			there(row.ID, m)
		}
	}
	t.Logf("%d opcodes", len(wrapped))
	assert.Greater(t, len(wrapped), 60)
}

// TestCatalogueHasOptions: a misspelt option is refused, a good one is printed back.
func TestCatalogueHasOptions(t *testing.T) {
	for text, mistake := range map[string]string{
		"async-wrapper{ops=[dot,fft] min-us=5 thread=side}":              "",
		"async-wrapper{opps=[dot]}":                                      "unknown option",
		"async-wrapper{ops=[dott]}":                                      "no opcode",
		"async-collective-creator{kinds=[all-reduce,copy] min-bytes=10}": "",
		"async-collective-creator{kinds=[dot]}":                          "no collective",
		"latency-hiding-scheduler{limit=2}":                              "",
		"latency-hiding-scheduler{limit=x}":                              "want an integer",
		"latency-hiding-scheduler{limit=[2]}":                            "limit=[2]: want an integer",
		"dce{call-analysis=3}":                                           "call-analysis=3: want true or false",
		"algsimp{very-small-gather-size=-1}":                             "very-small-gather-size=-1: want an integer from 0 on",
		"algsimp{associative-reordering-threshold=x}":                    "algsimp: associative-reordering-threshold=x: want a number",
		"algsimp{fp=loose}":                                              "algsimp: fp=",
		"algsimp{rules=[-Z99]}":                                          "algsimp: rules=",
		"algsimp{is-layout-sensitive=[false]}":                           "=[false]: want true or false",
		"flatten-call-graph{skip-cloning-handler=[calls]}":               "=[calls]: want calls",
		"flatten-call-graph{skip-cloning-handler=calls}":                 "",
	} {
		p, err := passes.Parse(text)
		if mistake != "" {
			assert.ErrorContains(t, err, mistake)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, text, p.String())
	}
}
