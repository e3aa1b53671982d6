package hlo_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
)

func TestOpcodeSet(t *testing.T) {
	s := hlo.OpcodesOf(hlo.OpAbs, hlo.OpXor)
	for op := range hlo.Opcodes {
		assert.Equal(t, op == hlo.OpAbs || op == hlo.OpXor, s.Has(op), op)
		assert.Equal(t, hlo.Info(op).Traits&hlo.TraitCollective != 0, hlo.OpcodesWith(hlo.TraitCollective).Has(op), op)
	}
	assert.True(t, s.Meets(hlo.OpcodesOf(hlo.OpXor)))
	assert.False(t, s.Meets(hlo.OpcodesOf(hlo.OpAdd)))
	assert.True(t, s.With(hlo.OpcodesOf(hlo.OpAdd)).Has(hlo.OpAdd))
}

// TestOpcodesAndCallsOfViews edits a computation whose opcodes and calls are known.
func TestOpcodesAndCallsOfViews(t *testing.T) {
	m, err := parser.Parse("calls.hlo", `HloModule m
f {
  ROOT a = f32[] parameter(0)
}
ENTRY e {
  p = f32[] parameter(0)
  c = f32[] call(p), to_apply=f
  n = f32[] negate(c)
  ROOT s = f32[] sine(n)
}`)
	require.NoError(t, err)
	calls := func(c hlo.Computation) (names []string) {
		for in := range c.Calls() {
			names = append(names, in.Name())
		}
		return names
	}
	entry := m.Entry()
	c := slices.Collect(entry.Calls())[0]
	require.Equal(t, []string{"c"}, calls(entry))
	replace := func(e *hlo.Editor) {
		ce := e.Computation(entry.ID())
		require.NoError(t, ce.ReplaceInstruction(c.ID(), c.Operand(0)))
		after := ce.View()
		assert.Empty(t, calls(after))
		assert.False(t, after.Opcodes().Has(hlo.OpCall))
		assert.True(t, after.Opcodes().Has(hlo.OpSine))
	}
	hlo.Own(m).Edit(func(e *hlo.Editor) {
		e.Computation(entry.ID()).SetName("own")
		before := e.Computation(entry.ID()).View()
		assert.True(t, before.Opcodes().Has(hlo.OpCall))
		replace(e)
	}).Share()
	// Rewrite keeps the view before, whether or not it was asked in time.
	for _, asked := range []bool{true, false} {
		o := hlo.Own(m).Edit(func(e *hlo.Editor) { e.Computation(entry.ID()).SetName("own") })
		o.Rewrite(func(e *hlo.Editor) {
			before := e.Computation(entry.ID()).View()
			if asked {
				calls(before)
				before.Opcodes()
			}
			replace(e)
			assert.Equal(t, []string{"c"}, calls(before))
			assert.True(t, before.Opcodes().Has(hlo.OpCall))
		}).Share()
	}
	assert.True(t, entry.Opcodes().Has(hlo.OpCall))
}
