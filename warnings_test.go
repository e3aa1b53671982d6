package halo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/verifier"
)

// TestWarningsOfLoad: what only the profile xla accepts is loaded, and warned about by the id of the rule.
func TestWarningsOfLoad(t *testing.T) {
	for _, c := range []struct{ name, body, rule string }{
		{"two users", `s = ((f32[4]), f32[4], u32[]) tanh-start(x)
  g = u32[] get-tuple-element(s), index=2
  d = f32[4] tanh-done(s)
  ROOT r = (f32[4], u32[]) tuple(d, g)`, "ASYNC-S1"},
		{"what XLA refuses, too", `ROOT d = f32[4] tanh-done(x)`, ""},
		{"nothing", `s = ((f32[4]), f32[4], u32[]) tanh-start(x)
  ROOT d = f32[4] tanh-done(s)`, "none"},
	} {
		m, err := halo.LoadBytes("m.hlo", []byte("HloModule m\nENTRY main {\n  x = f32[4] parameter(0)\n  "+c.body+"\n}\n"))
		if c.rule == "" {
			require.Error(t, err, c.name)
			assert.Empty(t, m.Warnings())
			continue
		}
		require.NoError(t, err, c.name)
		var rules []string
		for _, w := range m.Warnings() {
			assert.Equal(t, verifier.SeverityWarning, w.Severity, c.name)
			assert.NotZero(t, w.Pos, c.name)
			rules = append(rules, w.Rule)
		}
		if c.rule == "none" {
			assert.Empty(t, rules, c.name)
		} else {
			assert.Contains(t, rules, c.rule, c.name)
		}
	}
}
