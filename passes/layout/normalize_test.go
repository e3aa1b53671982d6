package layout_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/layout"
	"github.com/gohalo/halo/passtest"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

const windowOfSums = `HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY main {
  x = f32[4,6]{0,1} parameter(0)
  z = f32[] constant(0)
  ROOT w = f32[4,6]{0,1} reduce-window(x, z), window={size=2x3 pad=0_1x1_1}, to_apply=add
}
`

// TestSumsInAnotherOrder allows what a case of text cannot: the policy of a run.
func TestSumsInAnotherOrder(t *testing.T) {
	m, err := parser.Parse("m", windowOfSums)
	require.NoError(t, err)
	fp, err := pass.ParseFP("xla")
	require.NoError(t, err)
	p := pass.Of("", layout.Normalization)
	p.FP = &fp
	after := passtest.Apply(t, p, m, verifier.Config{})
	require.Contains(t, printer.String(after), "window={size=3x2 pad=1_1x0_1}")
	require.NoError(t, passtest.SameResults(t.Context(), m, after, pass.Overflow))
}
