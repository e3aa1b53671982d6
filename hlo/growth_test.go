package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGrowth lets a session add instructions until it is told that it is enough; one that replaces as many as it likes is not.
func TestGrowth(t *testing.T) {
	b := NewBuilder("m")
	m, err := b.Build(b.Parameter("x", MakeShape(F32)))
	require.NoError(t, err)
	grow := func(keep bool) (made int) {
		defer func() {
			if g, ok := recover().(*GrowthError); ok {
				assert.Equal(t, "the module grows to more than", g.Error()[:29])
				assert.Greater(t, g.Instructions, g.Limit)
			}
		}()
		e := m.Edit()
		c := e.Computation(m.Entry().ID())
		x := m.Entry().Root().ID()
		for ; made < 3_000_000; made++ {
			in := c.Add(OpNegate, MakeShape(F32), x)
			if !keep {
				c.Remove(in.ID())
			}
		}
		return made
	}
	if testing.Short() {
		t.Skip("makes millions of instructions")
	}
	assert.Less(t, grow(true), 2_000_000)
	assert.Equal(t, 3_000_000, grow(false))
}
