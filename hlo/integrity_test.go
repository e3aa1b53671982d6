package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRecheck: writing to a published version by way of a shared struct is found.
func TestRecheck(t *testing.T) {
	m := topkModule(t, 100)
	m.Digest()
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	c.Instr(3).SetAttr("k", int64(7)).SetOperands(0, 1, 2, 0, 1, 2)
	m2 := e.Freeze()
	m2.Digest()
	require.NoError(t, m.Recheck())
	require.NoError(t, m2.Recheck())
	m2.Entry().MustAt(3).Attrs().(*TopKAttrs).K = 8
	require.NoError(t, m.Recheck())
	assert.ErrorContains(t, m2.Recheck(), "written to")
}

func TestFreezeUnlessEqual(t *testing.T) {
	m := topkModule(t, 100)
	edit := func(sizes ...int64) Module {
		e := m.Edit()
		for _, n := range sizes {
			e.Computation(0).Instr(3).SetShape(MakeShape(F32, n))
		}
		return e.FreezeUnlessEqual(m)
	}
	assert.True(t, m == edit())
	assert.True(t, m == edit(5, 4), "made and undone")
	assert.True(t, m != edit(4, 5))
	other := topkModule(t, 100)
	assert.True(t, m != other.Edit().FreezeUnlessEqual(m), "equal content of another lineage has other ids")
}

func TestUnsharedBytes(t *testing.T) {
	m := topkModule(t, 1000)
	assert.Zero(t, m.UnsharedBytes(m))
	e := m.Edit()
	e.Computation(0).Instr(777).SetShape(shapes[0])
	m2 := e.Freeze()
	path := moduleNodeBytes + treeNodeBytes(smallTable) + compNodeBytes + 2*treeNodeBytes(treeFan) + instrNodeBytes
	assert.Equal(t, path, m2.UnsharedBytes(m))
	assert.Equal(t, path, m.UnsharedBytes(m2))
	assert.Greater(t, m.UnsharedBytes(topkModule(t, 5)), 1000*instrNodeBytes)
}
