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

// TestInstructionsOf: those of some opcodes are the same in a large computation, where they are remembered, and come in program order though some were made later.
func TestInstructionsOf(t *testing.T) {
	m := chainModule(t, 2*largeFrom)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	for _, at := range []InstrID{1000, 20, 3000} {
		c.InsertBefore(at, OpTanh, f32, 0)
	}
	gone := c.InsertBefore(2000, OpTanh, f32, 0).ID()
	assert.NoError(t, c.Remove(gone))
	for _, of := range []func() Computation{c.View, func() Computation { return e.Freeze().Entry() }} {
		v := of()
		all := v.Opcodes()
		var rare OpcodeSet
		rare.add(OpTanh)
		rare.add(OpParameter)
		ids, ok := v.c.idsOf(rare)
		assert.True(t, ok)
		assert.Len(t, ids, 4)
		_, ok = v.c.idsOf(all)
		assert.False(t, ok, "a walk is as good")
		for _, ops := range []OpcodeSet{rare, all, {}} {
			var want, got []InstrID
			for in := range v.Instructions() {
				if ops.Has(in.Opcode()) {
					want = append(want, in.ID())
				}
			}
			for in := range v.InstructionsOf(ops) {
				got = append(got, in.ID())
			}
			assert.Equal(t, want, got)
		}
	}
}

// TestHasEmpty asks a computation as it was built, and as it is edited.
func TestHasEmpty(t *testing.T) {
	m := chainModule(t, 10)
	assert.False(t, m.Entry().HasEmpty())
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	empty := c.InsertBefore(c.Root(), OpBroadcast, MakeShape(F32, 2, 0), 0).ID()
	assert.True(t, c.View().HasEmpty())
	assert.NoError(t, c.Remove(empty))
	assert.False(t, c.View().HasEmpty())
	assert.False(t, e.Freeze().Entry().HasEmpty())
	own := Own(m).Rewrite(func(e *Editor) {
		c := e.Computation(m.Entry().ID())
		before := c.View()
		c.InsertBefore(c.Root(), OpBroadcast, MakeShape(F32, 2, 0), 0)
		assert.True(t, c.View().HasEmpty())
		assert.False(t, before.HasEmpty())
	})
	assert.True(t, own.Share().Entry().HasEmpty())
}
