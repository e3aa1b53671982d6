//go:build !race

package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The budgets of the IR that do not depend on a clock: allocations and bytes.

func allocations(f func()) int { return int(testing.AllocsPerRun(200, f)) }

func TestAllocationsOfOneEdit(t *testing.T) {
	m := topkModule(t, 100_000)
	k := 0
	assert.LessOrEqual(t, allocations(func() {
		k++
		e := m.Edit()
		e.Computation(0).Instr(scattered(k, 100_000)).SetShape(shapes[0])
		e.Freeze()
	}), 9)
	assert.LessOrEqual(t, allocations(func() {
		k++
		e := m.Edit()
		e.Computation(0).Instr(1+scattered(k, 99_999)).SetAttr("k", int64(7))
		e.Freeze()
	}), 9)
	e := m.Edit()
	e.Computation(0).Instr(54_321).SetAttr("k", int64(7))
	assert.LessOrEqual(t, e.Stats().Bytes, 3<<10)
}

func TestAllocationsOfPublishing(t *testing.T) {
	for _, n := range []int{32, 100_000} {
		m := topkModule(t, n)
		e := m.Edit()
		e.SetName("x")
		assert.LessOrEqual(t, allocations(func() { e.Snapshot() }), 1)
		assert.LessOrEqual(t, allocations(func() { e.Rollback(m) }), 1)
		assert.LessOrEqual(t, allocations(func() { m.Edit().Freeze() }), 1)
	}
}

// TestFurtherWritesAllocateNothing: a chain of attributes costs its first write, however long it is.
func TestFurtherWritesAllocateNothing(t *testing.T) {
	e := topkModule(t, 1000).Edit()
	in := e.Computation(0).Instr(777).SetAttr("k", int64(1)).SetAttr(KeyBackendConfig, "a").SetOperands(0, 1).SetShape(shapes[0])
	configs, numbers, k := [2]Attr{"x", "y"}, [2]Attr{int64(300), int64(301)}, 0
	copies := e.Stats().Copies()
	assert.Zero(t, allocations(func() {
		k++
		in.SetAttr("k", numbers[k&1]).SetAttr("largest", k&1 == 0).SetAttr(KeyBackendConfig, configs[k&1])
		in.SetOperand(1, InstrID(k&1)).SetShape(shapes[k&1])
	}))
	assert.Equal(t, copies, e.Stats().Copies())
}

// TestIdlePassAllocatesNoIR: a pass that looks at everything and changes nothing.
func TestIdlePassAllocatesNoIR(t *testing.T) {
	m := chainModule(t, 100_000)
	pass := func() {
		e := m.Edit()
		c := e.Computation(0)
		for in := range m.Entry().PostOrder() {
			if c.UserCount(in.ID()) == 0 && !in.IsRoot() {
				require.NoError(t, c.Remove(in.ID()))
			}
		}
		require.Zero(t, e.Stats())
		require.True(t, e.Freeze() == m)
	}
	pass() // finds users and order, which stay with the module
	assert.LessOrEqual(t, allocations(pass), 8, "a session and iterators, whatever the size")
}

// TestMemory: the IR of instructions with attributes and two operands, at rest; and what old versions hold on to.
func TestMemory(t *testing.T) {
	const n = 100_000
	before := heap()
	m := topkModule(t, n)
	assert.LessOrEqual(t, (heap()-before)/n, 160, "bytes per instruction")
	e := m.Edit()
	before = heap()
	kept := make([]Module, 100)
	for s := range kept {
		for k := range 10 {
			e.Computation(0).Instr(scattered(s*10+k, n)).SetShape(shapes[s&1])
		}
		kept[s] = e.Snapshot()
	}
	assert.LessOrEqual(t, heap()-before, 4<<20, "100 versions of 10 edits each")
	assert.LessOrEqual(t, kept[0].UnsharedBytes(kept[99]), 4<<20)
}
