package pass_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// TestHistory follows an instruction through two passes that each replace it.
func TestHistory(t *testing.T) {
	replace := func(name string, from, to hlo.Opcode) *pass.Pass {
		r := &pass.Rewriter{Rules: []*pass.RewriteRule{swap("R-"+name, from, to, pass.Exact)}}
		return &pass.Pass{Name: name, Doc: "exchange", Rewrites: r.Document, Local: r.Local}
	}
	m := module(t, "m")
	var h pass.History
	r := &pass.Runner{Instruments: []pass.Instrument{h.Instrument()}}
	p := pass.Of("p", replace("first", hlo.OpNegate, hlo.OpAbs), nothing, replace("second", hlo.OpAbs, hlo.OpSign))
	after, err := r.Run(context.Background(), p, m)
	require.NoError(t, err)

	comp := m.Entry().ID()
	events, err := h.Of(context.Background(), comp, after.Entry().Root().ID())
	require.NoError(t, err)
	require.Len(t, events, 2, "made in the place of one that was made before")
	assert.Equal(t, []string{"p/first", "p/second"}, []string{events[0].Path, events[1].Path})
	assert.Equal(t, pass.Made, events[1].Kind)
	assert.Equal(t, "R-second", events[1].Rule)
	assert.Equal(t, 1, events[1].Rewrite)
	require.Len(t, events[1].Others, 1)
	assert.Equal(t, hlo.OpAbs, events[1].Others[0].Opcode())

	events, err = h.Of(context.Background(), comp, m.Entry().Root().ID())
	require.NoError(t, err)
	require.Len(t, events, 1)
	assert.Equal(t, pass.Removed, events[0].Kind)
	assert.Equal(t, hlo.OpAbs, events[0].Others[0].Opcode())
	outcome, err := h.Outcome(context.Background(), after, comp, m.Entry().Root().ID())
	require.NoError(t, err)
	require.Len(t, outcome.Events, 2, "removed, and so was what took its place")
	assert.Equal(t, "p/second", outcome.Events[1].Path)
	require.Len(t, outcome.Now, 1)
	assert.Equal(t, hlo.OpSign, outcome.Now[0].Opcode())
	outcome, err = h.Outcome(context.Background(), after, comp, m.Entry().Parameter(0).ID())
	require.NoError(t, err)
	assert.Empty(t, outcome.Events)
	assert.Len(t, outcome.Now, 1, "it stayed")
	events, err = h.Of(context.Background(), comp, m.Entry().Parameter(0).ID())
	require.NoError(t, err)
	assert.Empty(t, events)
}

// TestBudget: what makes the program larger stops when the budget is used up, and nothing else does.
func TestBudget(t *testing.T) {
	grown := 0
	grow := &pass.Pass{Name: "grow", Doc: "grow", Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		grown = 0
		for range 5 {
			if ctx.SpendOn("copy", pass.Cost{Instructions: 10}) {
				grown++
			}
		}
		assert.True(t, ctx.Spend("free"))
		return m, nil
	}}
	for budget, want := range map[int]int{0: 5, 9: 0, 25: 2, 100: 5} {
		r := &pass.Runner{Budget: pass.Budget{Instructions: budget}}
		_, err := r.Run(context.Background(), pass.Of("", grow), module(t, "m"))
		require.NoError(t, err)
		assert.Equal(t, want, grown, "budget %d", budget)
	}
}

// TestFacts: a fact is found once for a version.
func TestFacts(t *testing.T) {
	type size int
	found := 0
	ask := &pass.Pass{Name: "ask", Doc: "ask", Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		for range 3 {
			n := pass.Fact(ctx, m, func(m hlo.Module) size { found++; return size(m.NumInstructions()) })
			assert.Equal(t, size(2), n)
			pass.FactOf(ctx, m.Entry(), func(hlo.Computation) bool { found += 10; return true })
		}
		return m, nil
	}}
	again := *ask
	again.Name = "again"
	_, err := (&pass.Runner{}).Run(context.Background(), pass.Of("", ask, &again, ask), module(t, "m"))
	require.NoError(t, err)
	assert.Equal(t, 11, found, "passes that change nothing ask about the same version")
	found = 0
	_, err = (&pass.Runner{}).Run(context.Background(), pass.Of("", ask, negToAbs, ask), module(t, "m"))
	require.NoError(t, err)
	assert.Equal(t, 22, found, "another version is another question")
}
