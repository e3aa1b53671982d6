package halocmd

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
	assert.Equal(t, &passChecks{Profile: "doc", Check: "exec:2", FP: "strict", Reproducer: "none"}, again)
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

// TestExplainInstruction tells the story of instructions through a pipeline.
func TestExplainInstruction(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.hlo")
	require.NoError(t, os.WriteFile(file, []byte(`HloModule e

ENTRY main {
  x = s32[4] parameter(0)
  y = s32[4] parameter(1)
  n = s32[4] negate(x)
  k = s32[4] negate(y)
  ROOT m = s32[4] multiply(n, k)
  dead = s32[4] add(x, y)
}
`), 0o666))
	explain := func(name string) (string, int) {
		var stdout, stderr bytes.Buffer
		code := run([]string{"opt", file, "--explain=" + name}, nil, &stdout, &stderr)
		return stdout.String() + stderr.String(), code
	}
	text, code := explain("%multiply")
	assert.Zero(t, code)
	assert.Equal(t, `%m = s32[4]{0} multiply(%n, %k)
  is in the input, line 8
  removed by O2/simplify/algsimp, rewrite 1, B03: -x·-y → x·y: the signs cancel
    replaced by %multiply = s32[4]{0} multiply(%x, %y)
`, last(explain("%m")))
	assert.Contains(t, text, "made by O2/simplify/algsimp, rewrite 1, B03")
	assert.Contains(t, text, "in the place of %m = s32[4]{0} multiply(%n, %k)")
	assert.Contains(t, text, "and is in the result")
	assert.Contains(t, last(explain("%dead")), "removed by O2/simplify/dce, rewrite 1, instruction")
	text, code = explain("%nobody")
	assert.Contains(t, text, "there is no instruction %nobody")
	assert.Equal(t, exitInput, code)
}

func last(text string, _ int) string { return text }

// TestOptReports runs the flags that report on a run.
func TestOptReports(t *testing.T) {
	dir := t.TempDir()
	file, trace := filepath.Join(dir, "m.hlo"), filepath.Join(dir, "trace.json")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(threeOps, "ROOT m = f32[4] multiply(s, y)", "n = f32[4] negate(s)\n  ROOT m = f32[4] negate(n)", 1)), 0o666))
	opt := func(args ...string) (string, string) {
		var stdout, stderr bytes.Buffer
		require.Zero(t, run(append([]string{"opt", file}, args...), nil, &stdout, &stderr), stderr.String())
		return stdout.String(), stderr.String()
	}
	out, text := opt("--print=instructions", "--timing", "--trace="+trace)
	assert.Contains(t, out, "ROOT %s = ")
	assert.Contains(t, text, "// changed by O2/simplify/algsimp\n@ %main\n")
	assert.Contains(t, text, "- %m = f32[4]{0} negate(%n)\n")
	assert.Regexp(t, `ms .* algsimp: \d runs, \d without a change B33=1`, text)
	written, err := os.ReadFile(trace)
	require.NoError(t, err)
	assert.Contains(t, string(written), `"name":"algsimp","ph":"X"`)

	out, _ = opt("--rules=-algsimp.B33")
	assert.Contains(t, out, "negate(%n)", "the rule is out")
	out, _ = opt("--passes=algsimp", "--fuel=algsimp.B33=0")
	assert.Contains(t, out, "negate(%n)")
	var stdout, stderr bytes.Buffer
	assert.Equal(t, exitUsage, run([]string{"opt", file, "--rules=-algsimp.B99"}, nil, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "there is no rule")
	assert.Equal(t, exitUsage, run([]string{"opt", file, "--budget=speed=3"}, nil, &stdout, &stderr))
}
