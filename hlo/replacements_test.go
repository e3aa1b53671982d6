package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRemoveUnusedBackwards: what is put in later has a greater id than its user, and goes with it all the same.
func TestRemoveUnusedBackwards(t *testing.T) {
	m := chainModule(t, 3)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	user := c.Add(OpAbs, f32, 0)
	last := c.InsertBefore(user.ID(), OpSine, f32, 0).ID()
	middle := c.InsertBefore(user.ID(), OpCosine, f32, last).ID()
	user.SetOperand(0, middle)
	before := c.NumInstructions()
	assert.True(t, c.RemoveUnused([]InstrID{user.ID()}, func(InstrEdit) bool { return true }))
	assert.Equal(t, before-3, c.NumInstructions())
	assert.False(t, c.Has(user.ID()) || c.Has(middle) || c.Has(last))
}

// TestReplacedCalls: what goes calls nobody any more.
func TestReplacedCalls(t *testing.T) {
	m := chainModule(t, 3)
	e := m.Edit()
	b := e.NewComputation("callee")
	b.Append(InstrSpec{Opcode: OpParameter, Shape: f32, Attrs: &ParameterAttrs{}})
	callee := b.Finish(0)
	c := e.Computation(m.Entry().ID())
	call := InstrSpec{Opcode: OpCall, Shape: f32, Operands: []InstrID{0}, Attrs: &CallAttrs{}, Callees: []CompID{callee}}
	first, second := c.AddSpec(call), c.AddSpec(call)
	c.Add(OpAdd, f32, first.ID(), second.ID())
	assert.Equal(t, 2, e.NumCallers(callee))
	assert.NoError(t, c.ReplaceInstructions([]Replacement{{Old: second.ID(), New: first.ID()}}))
	assert.Equal(t, 1, e.NumCallers(callee))
}
