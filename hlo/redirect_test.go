package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestForward: what the property test does not say, that forwarding waits.
func TestForward(t *testing.T) {
	m := chainModule(t, 4)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	x := c.Add(OpAbs, f32, 1)
	before := e.Stats()
	c.Forward(2, x.ID())
	y := c.Add(OpSine, f32, x.ID()).ID()
	c.Forward(x.ID(), y)
	c.Instr(3).SetShape(shapes[0])
	assert.Equal(t, before.Instructions+1, e.Stats().Instructions, "only the new shape")
	assert.Equal(t, y, c.Instr(3).Operand(0))
	assert.Equal(t, x.ID(), c.Instr(y).Operand(0), "it stands in for its own operand")

	late := c.Add(OpCosine, f32, 2).ID() // names what was replaced before, and means it
	c.Forward(3, late)
	c.Add(OpCosine, f32, 3)
	m2 := e.Freeze()
	assert.Equal(t, late, m2.Entry().Root().ID())
	assert.Equal(t, InstrID(2), m2.Entry().MustAt(late).Operand(0))
	assert.Equal(t, InstrID(3), m2.Entry().MustAt(late+1).Operand(0))

	e = m.Edit()
	e.Computation(m.Entry().ID()).Forward(1, 0)
	assert.True(t, e.Changed(m))
	e.Rollback(m)
	assert.True(t, m == e.Freeze())
	e = m.Edit()
	e.Computation(m.Entry().ID()).Forward(3, 3)
	assert.True(t, m == e.Freeze())
}
