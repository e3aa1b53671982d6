package emit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// TestReplace: what replaces a value gets its metadata, what only the old one used goes, and the schedule has operands first and new computations.
func TestReplace(t *testing.T) {
	m, err := parser.Parse("m.hlo", `HloModule m, is_scheduled=true

ENTRY e {
  x = f32[4] parameter(0)
  z = f32[] constant(7)
  b = f32[4] broadcast(z), dimensions={}
  ROOT a = f32[4] add(x, b), metadata={op_name="a"}
}`)
	require.NoError(t, err)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	root := m.Entry().Root()
	at := emit.Before(c, root)
	sum := at.Reduce(root.Operand(0), at.Float(hlo.F32, 0), emit.BinaryComputation(e, hlo.OpAdd, hlo.F32), 0)
	require.NoError(t, emit.Replace(c, root.ID(), at.Fill(sum, 4)))
	after := e.Freeze()
	assert.NoError(t, verifier.Verify(after, verifier.Config{}).Err())
	text := printer.String(after)
	assert.Contains(t, text, `op_name="a"`)
	assert.NotContains(t, text, "constant(7)")
}
