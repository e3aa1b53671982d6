package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAhead: a large computation is read in the same order as a small one, whatever is missing, and ids that are gone do no harm.
func TestAhead(t *testing.T) {
	m := chainModule(t, 2*largeFrom)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	unused := c.InsertBefore(c.Root(), OpAbs, f32, 0).ID()
	last := c.InsertBefore(c.Root(), OpSine, f32, 0).ID()
	assert.NoError(t, c.Remove(unused))
	c.Ahead([]InstrID{unused, last, NoInstr, 0})
	v := e.Freeze().Entry()
	v.Ahead([]InstrID{unused, last, NoInstr, 0})
	var before InstrID
	n := 0
	for in := range v.Instructions() {
		n++
		if n > 1 {
			assert.True(t, v.Less(before, in.ID()))
		}
		before = in.ID()
	}
	assert.Equal(t, v.NumInstructions(), n)
	n = 0
	for range v.PostOrder() {
		n++
	}
	assert.Equal(t, v.NumInstructions(), n)
}
