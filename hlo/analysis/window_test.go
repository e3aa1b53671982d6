package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
)

const windowBody = `
ENTRY main {
  x = f32[4] parameter(0)
  feeds = f32[4] negate(x)
  s = ((f32[4]), f32[4], s32[]) tanh-start(feeds)
  beside = f32[4] negate(x)
  other = f32[4] negate(beside)
  d = f32[4] tanh-done(s)
  behind = f32[4] negate(d)
  late = f32[4] negate(x)
  ROOT r = (f32[4], f32[4], f32[4]) tuple(behind, other, late)
}
`

// TestWindows: two instructions may become one if they need the same dones and the same starts need them, or, in a schedule, stand between
// the same steps.
func TestWindows(t *testing.T) {
	pairs := []struct {
		a, b                 string
		depending, scheduled bool // whether it narrows
	}{
		{"beside", "other", false, false},
		{"beside", "late", false, true},
		{"beside", "behind", true, true},
		{"late", "behind", true, false},
		{"feeds", "beside", true, true},
		{"feeds", "x", false, false},
	}
	for name, header := range map[string]string{"depending": "HloModule m\n", "scheduled": "HloModule m, is_scheduled=true\n"} {
		m, err := parser.Parse(name, header+windowBody)
		require.NoError(t, err)
		w := analysis.FindWindows(m.Entry())
		id := func(name string) hlo.InstrID {
			for in := range m.Entry().Instructions() {
				if in.Name() == name {
					return in.ID()
				}
			}
			t.Fatalf("no %s", name)
			return 0
		}
		for _, p := range pairs {
			want := p.depending
			if name == "scheduled" {
				want = p.scheduled
			}
			assert.Equal(t, want, w.Narrows(id(p.a), id(p.b)), "%s: %s and %s", name, p.a, p.b)
		}
		assert.True(t, w.IsStep(id("s")))
		assert.False(t, w.IsStep(id("beside")))
	}
}
