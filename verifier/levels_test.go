package verifier_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// A level alone finds what breaks its rules; all others together do not, but for what makes a module unsafe to walk.
func TestLevels(t *testing.T) {
	const all = verifier.LevelStructure | verifier.LevelShape | verifier.LevelLayout | verifier.LevelSchedule | verifier.LevelAsync | verifier.LevelAlias
	count := make(map[verifier.Level]int)
	for _, r := range verifier.Rules() {
		e, ok := verifier.ExampleOf(r.ID)
		if !ok || e.Breaks == "" || e.Route != "" || r.As != "" {
			continue
		}
		m, err := parser.Parse("", e.Breaks)
		if err != nil || r.Kind == verifier.ByReader {
			continue
		}
		cfg := configOf(t, e)
		cfg.Levels = r.Level()
		assert.Contains(t, rulesOf(verifier.Verify(m, cfg)), r.ID, "level %v alone", r.Level())
		cfg.Levels = all &^ r.Level()
		assert.NotContains(t, rulesOf(verifier.Verify(m, cfg)), r.ID, "without level %v", r.Level())
		count[r.Level()]++
	}
	t.Log(count)
	assert.Len(t, count, 6)
	assert.Equal(t, "structure,shape,layout,schedule,async,alias", verifier.Level(0).String())
	assert.Equal(t, "layout,async", (verifier.LevelLayout | verifier.LevelAsync).String())
}

// Sizes of shapes, as bitcasts and aliases are held to.
func TestSizes(t *testing.T) {
	for text, want := range map[string][2]int64{
		"f32[2,3]": {24, 24}, "s4[3]": {3, 2}, "s4[3]{0:E(4)}": {2, 2}, "pred[9]": {9, 9}, "f32[]": {4, 4}, "(f32[2], s8[3])": {11, 11}, "f32[?]": {-1, -1},
		"token[]": {0, 0}, "b(f32[2])": {8, 8}, "f32[<=4]": {16, 16}, "c128[0]": {0, 0},
	} {
		s, err := parser.ParseShape(text)
		require.NoError(t, err)
		assert.Equal(t, want, [2]int64{verifier.DenseSize(s), verifier.PackedSize(s)}, text)
	}
	huge := hlo.MakeShape(hlo.F64, 1<<40, 1<<40)
	assert.Positive(t, verifier.DenseSize(hlo.MakeTuple(huge, huge)))
	assert.Positive(t, verifier.PackedSize(huge))
}
