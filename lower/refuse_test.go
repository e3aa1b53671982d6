package lower_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/lower"
)

// TestRefusals lowers what the profile xla accepts and no plan exists for: an error with the position, not a wrong program.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"copy that converts", `HloModule m
ENTRY main { p = f32[4] parameter(0) ROOT c = bf16[4] copy(p) }`, "m:2:43: error: cannot lower copy c: it copies f32[4]"},
		{"state that changes its shape", `HloModule m
body { s = (f32[2]) parameter(0) x = f32[2] get-tuple-element(s), index=0 ROOT t = (f32[2], f32[2]) tuple(x, x) }
cond { s = (f32[2]) parameter(0) ROOT c = pred[] constant(true) }
ENTRY main { s = (f32[2]) parameter(0) ROOT w = (f32[2], f32[2]) while(s), condition=cond, body=body }`, "cannot lower while w: the state is"},
		{"constant without its value", `HloModule m
ENTRY main { ROOT c = f32[64] constant({...}) }`, "cannot lower constant c: the text left its value out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := parser.Parse("m", c.text)
			require.NoError(t, err)
			_, err = lower.Module(t.Context(), m)
			assert.ErrorContains(t, err, c.want)
		})
	}
}
