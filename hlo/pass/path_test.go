package pass_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, at string
		want        bool
	}{
		{"dce", "O2/simplify/dce", true}, {"simplify", "O2/simplify/dce", true}, {"d?e", "dce", true}, {"dce", "O2/cse", false},
		{"O2/simplify/*", "O2/simplify/cse", true}, {"simplify/*", "O2/simplify/cse", false}, {"call_inliner", "O2/call-inliner", true},
		{"", "dce", false},
		{"dce", "O2/simplify#2/dce@3", true}, {"dce@3", "O2/simplify#2/dce@3", true}, {"dce@3", "O2/simplify#2/dce", false},
		{"dce@1", "O2/simplify#2/dce", true}, {"simplify#2", "O2/simplify#2/dce@3", true}, {"simplify#1", "O2/simplify/dce@3", true},
		{"simplify#1", "O2/simplify#2/dce", false}, {"O2/simplify#2", "O2/simplify#2/dce@3", true}, {"O2/simplify#2/dce", "O2/simplify#2/dce@3", true},
		{"O2/simplify#2/dce@2", "O2/simplify#2/dce@3", false}, {"O2/simplify/dce/x", "O2/simplify/dce", false}, {"*/*/dce@3", "O2/simplify#2/dce@3", true},
	} {
		assert.Equal(t, c.want, pass.Matches(c.pattern, c.at), "%s of %s", c.pattern, c.at)
	}
	assert.Equal(t, "O2/simplify/dce", pass.PlainPath("O2/simplify#2/dce#3@4"))
	for pattern, want := range map[string]string{
		"dce": "", "d*": "", "simplify#2/dce@3": "", "": "", "dcee": `did you mean "dce"`, "simplify/dcee": `did you mean "dce"`, "d[": "syntax error",
		"dce@": "want numbers", "dce@x": "want numbers", "dce#0": "want numbers", "dce#2@1": "", "dce@1#2": "want numbers",
	} {
		err := pass.CheckPattern(pattern, shelf{})
		if want == "" {
			assert.NoError(t, err, pattern)
		} else {
			assert.ErrorContains(t, err, want, pattern)
		}
	}
}

// TestPositions: every execution has a path of its own, in groups with and without a name and in fixpoints.
func TestPositions(t *testing.T) {
	inner := func() *pass.Pipeline { return pass.Of("inner", nothing, nothing) }
	p := pass.Of("outer", negToAbs).Then(inner()).Then(pass.Of("", negToAbs)).Then(inner())
	p.Then(pass.Fixpoint("", setRoot("step", map[hlo.Opcode]hlo.Opcode{hlo.OpAbs: hlo.OpSign, hlo.OpSign: hlo.OpNegate})))
	var got []string
	r := &pass.Runner{CountMemory: true, Instruments: []pass.Instrument{{After: func(r pass.Report) { got = append(got, r.Path) }}}}
	_, err := r.Run(context.Background(), p, module(t, "m"))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"outer/neg-to-abs", "outer/inner/nothing", "outer/inner/nothing#2", "outer/neg-to-abs#2", "outer/inner#2/nothing", "outer/inner#2/nothing#2",
		"outer/step", "outer/step@2", "outer/step@3",
	}, got)
}

// TestCombinators: conditions are asked when their turn comes, policies hold inside their pipeline, and threads limit where passes work.
func TestCombinators(t *testing.T) {
	var seen []string
	look := &pass.Pass{Name: "look", Doc: "look", Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		seen = append(seen, c.Name()+" "+ctx.FP().String())
		return nil
	}}
	fast := pass.FastMath
	for _, c := range []struct {
		p    pass.Pipeline
		want []string
	}{
		{pass.Pipeline{If: "loops"}, nil},
		{pass.Pipeline{If: "not-loops"}, []string{"m exact"}},
		{pass.Pipeline{FP: &fast}, []string{"m fast math"}},
		{pass.Pipeline{Threads: []string{"host"}}, nil},
		{pass.Pipeline{Threads: []string{"host", hlo.MainThread}}, []string{"m exact"}},
	} {
		seen = nil
		c.p.Steps = []pass.Step{{Pass: look}}
		_, err := (&pass.Runner{}).Run(context.Background(), &c.p, module(t, "m"))
		require.NoError(t, err)
		assert.Equal(t, c.want, seen, "%+v", c.p)
	}
	// What a pass was not shown, it looks at when it may.
	seen = nil
	both := pass.Of("", look)
	both.Threads = []string{"host"}
	_, err := (&pass.Runner{}).Run(context.Background(), (&pass.Pipeline{}).Then(both).Then(pass.Of("", look)), module(t, "m"))
	require.NoError(t, err)
	assert.Len(t, seen, 1)
}

func TestConflicts(t *testing.T) {
	named := func(name string, makes, breaks []pass.Phase) *pass.Pass {
		return &pass.Pass{Name: name, Makes: makes, Breaks: breaks}
	}
	fusion := named("fusion", []pass.Phase{pass.Fused}, nil)
	inliner := named("fusion-inliner", nil, []pass.Phase{pass.Fused})
	order := []pass.Order{{Before: "fusion-inliner", After: "fusion", Because: "so"}}
	assert.Empty(t, pass.Conflicts([]*pass.Pass{inliner, fusion}, order))
	assert.Empty(t, pass.Conflicts([]*pass.Pass{inliner, fusion, inliner, fusion}, order), "the last run counts")
	found := pass.Conflicts([]*pass.Pass{fusion, inliner}, order)
	require.Len(t, found, 2)
	assert.Equal(t, "fusion-inliner: undoes what fusion has made (phase fused)", found[0].String())
	assert.Equal(t, "fusion-inliner: belongs before fusion: so", found[1].String())
}
