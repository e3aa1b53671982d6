package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
)

const threeOps = `HloModule three

ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  a = f32[4] add(x, y)
  s = f32[4] subtract(a, y)
  ROOT m = f32[4] multiply(s, y)
}
`

// swapper exchanges the operands of every binary instruction: wrong for one of the three.
var swapper = &pass.Pass{Name: "swapper", Doc: "exchange operands", Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	for in := range m.Entry().Instructions() {
		if in.NumOperands() == 2 && ctx.Spend(in.Opcode().String()) {
			c.Instr(in.ID()).SetOperands(in.Operand(1), in.Operand(0))
		}
	}
	return e.Freeze(), nil
}}

// TestWrongPassIsFound checks that --check=exec names the pass and the rewrite, and leaves a reproducer that reads back.
func TestWrongPassIsFound(t *testing.T) {
	m, err := parser.Parse("three.hlo", threeOps)
	require.NoError(t, err)
	dir := t.TempDir()
	checks := passChecks{Profile: "doc", Check: "exec:2", Reproducer: dir}
	var stderr bytes.Buffer
	_, err = checks.run(context.Background(), &stderr, pass.Of("p", swapper), m, nil)
	require.ErrorContains(t, err, "after pass p/swapper: the result changed")
	assert.ErrorContains(t, err, "rewrite 2 of 3, by rule subtract: --fuel=swapper=1 is still good")

	path := filepath.Join(dir, "three.swapper.repro.hlo")
	assert.Contains(t, stderr.String(), "halo replay "+path)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	passes, ok := marked(string(text), replayMark)
	require.True(t, ok)
	assert.Equal(t, "swapper", passes)
	again, err := replayChecks(string(text))
	require.NoError(t, err)
	assert.Equal(t, &passChecks{Profile: "doc", Check: "exec:2", Reproducer: "none"}, again)
	back, err := parser.Parse(path, string(text))
	require.NoError(t, err)
	assert.True(t, back.Equal(m))

	// A second failure does not overwrite the first.
	_, err = checks.run(context.Background(), &stderr, pass.Of("p", swapper), m, nil)
	require.Error(t, err)
	assert.FileExists(t, filepath.Join(dir, "three.swapper.1.repro.hlo"))
}

func TestPanicLeavesReproducer(t *testing.T) {
	m, err := parser.Parse("three.hlo", threeOps)
	require.NoError(t, err)
	bad := &pass.Pass{Name: "bad", Doc: "fall over", Run: func(*pass.Context, hlo.Module) (hlo.Module, error) { panic("planted") }}
	checks := passChecks{Profile: "doc", Reproducer: t.TempDir(), Fuel: []string{"dce=3"}}
	_, err = checks.run(context.Background(), &bytes.Buffer{}, pass.Of("", bad), m, nil)
	require.ErrorContains(t, err, "planted")
	assert.Equal(t, exitBug, exitCode(err))
	text, err := os.ReadFile(filepath.Join(checks.Reproducer, "three.bad.repro.hlo"))
	require.NoError(t, err)
	assert.Contains(t, string(text), replayFlags+"--profile=doc --fuel=dce=3\n")
	assert.Less(t, strings.Count(string(text), "\n// "), 60, "a stack is cut")
}

func TestSelects(t *testing.T) {
	for _, c := range []struct {
		pattern, at string
		want        bool
	}{
		{"dce", "O2/simplify/dce", true}, {"simplify", "O2/simplify/dce", true}, {"d?e", "dce", true}, {"dce", "O2/cse", false},
		{"O2/simplify/*", "O2/simplify/cse", true}, {"simplify/*", "O2/simplify/cse", false}, {"call_inliner", "O2/call-inliner", true},
		{"", "dce", false},
	} {
		assert.Equal(t, c.want, selects(c.pattern, c.at), "%s of %s", c.pattern, c.at)
	}
}
