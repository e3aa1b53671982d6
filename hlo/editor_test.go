package hlo

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var f32 = MakeShape(F32, 4)

// chainModule is a module whose entry is parameter(0) followed by n-1 negates, each of the one before.
func chainModule(tb testing.TB, n int) Module {
	tb.Helper()
	e := NewModule("m")
	b := e.NewComputation("main")
	id := b.Append(InstrSpec{Opcode: OpParameter, Name: "p", Shape: f32, Attrs: &ParameterAttrs{Number: 0}})
	for range n - 1 {
		id = b.Append(InstrSpec{Opcode: OpNegate, Shape: f32, Operands: []InstrID{id}})
	}
	e.SetEntry(b.Finish(NoInstr))
	require.Zero(tb, e.Stats())
	return e.Freeze()
}

func ids(c Computation) []InstrID {
	var out []InstrID
	for in := range c.Instructions() {
		out = append(out, in.ID())
	}
	return out
}

func TestBuild(t *testing.T) {
	m := chainModule(t, 100)
	c := m.Entry()
	assert.Equal(t, "main", c.Name())
	assert.Equal(t, 100, c.NumInstructions())
	assert.Equal(t, InstrID(99), c.Root().ID())
	assert.Equal(t, []InstrID{0}, c.Parameters())
	assert.Equal(t, "negate.98", c.Root().Name())
	assert.Equal(t, OpParameter, c.Parameter(0).Opcode())
	in, ok := c.ByName("negate.3")
	require.True(t, ok)
	assert.Equal(t, InstrID(4), in.ID())
	assert.Equal(t, []InstrID{5}, slices.Collect(c.Users(4)))
	post := slices.Collect(c.PostOrder())
	assert.Len(t, post, 100)
	assert.True(t, post[99].IsRoot())
}

func TestEditSharesAndOriginalStays(t *testing.T) {
	m := chainModule(t, 2000)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	c.Instr(1000).SetShape(MakeShape(F32, 8)).SetShape(MakeShape(F32, 9))
	m2 := e.Freeze()
	require.NotEqual(t, m, m2)
	assert.Equal(t, CopyStats{Modules: 1, Computations: 1, Inner: 2, Leaves: 1, Instructions: 1, Bytes: e.Stats().Bytes}, e.Stats())
	assert.Equal(t, "f32[4]", m.Entry().MustAt(1000).Shape().String())
	assert.Equal(t, "f32[9]", m2.Entry().MustAt(1000).Shape().String())
	assert.Same(t, m.Entry().MustAt(0).n, m2.Entry().MustAt(0).n)
}

func TestNoEditSamePointer(t *testing.T) {
	m := chainModule(t, 20)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	c.Instr(3).SetShape(MakeShape(F32, 4)).SetOperand(0, 2).SetName("negate.2").SetAttrs(nil)
	c.SetRoot(19)
	assert.Zero(t, e.Stats())
	assert.True(t, m == e.Freeze())
	assert.PanicsWithValue(t, "hlo: use of an instruction edit after Freeze", func() { InstrEdit{c.st, 3, c.gen}.SetShape(f32) })
}

func TestInsertRemoveReplace(t *testing.T) {
	m := chainModule(t, 6)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	x := c.InsertBefore(3, OpAbs, f32, 2).ID()
	assert.Equal(t, 2, c.UserCount(2))
	assert.Equal(t, 1, c.ReplaceAllUses(2, x))
	assert.ErrorIs(t, c.Remove(1), ErrHasUsers)
	assert.ErrorIs(t, c.Remove(5), ErrIsRoot)
	assert.ErrorIs(t, c.Remove(0), ErrIsParameter)
	v := c.View()
	assert.Equal(t, []InstrID{0, 1, 2, x, 3, 4, 5}, ids(v))
	require.NoError(t, c.ReplaceInstruction(4, 3))
	assert.Panics(t, func() { v.Name() })
	y := c.InsertBefore(5, OpAbs, f32, 3).ID()
	z := c.InsertBefore(y, OpAbs, f32, 3).ID()
	w := c.Add(OpCosine, f32, z).ID()
	m2 := e.Freeze()
	assert.Equal(t, []InstrID{0, 1, 2, x, 3, z, y, 5, w}, ids(m2.Entry()))
	assert.Equal(t, []InstrID{0, 1, 2, 3, 4, 5}, ids(m.Entry()))
	assert.Equal(t, "abs", m2.Entry().MustAt(x).Name())
	assert.Equal(t, "abs.2", m2.Entry().MustAt(z).Name())

	e = m2.Edit()
	c = e.Computation(m2.Entry().ID())
	k := c.InsertBefore(y, OpAbs, f32, 3).ID()
	assert.Equal(t, []InstrID{0, 1, 2, x, 3, z, k, y, 5, w}, ids(e.Freeze().Entry()))
}

func TestManyInsertionsKeepOrder(t *testing.T) {
	for name, backwards := range map[string]bool{"forward": false, "backward": true} {
		t.Run(name, func(t *testing.T) {
			m := chainModule(t, 4)
			e := m.Edit()
			c := e.Computation(m.Entry().ID())
			want := []InstrID{0, 1}
			var mid []InstrID
			at := InstrID(2)
			for range 5000 {
				id := c.InsertBefore(at, OpAbs, f32, 1).ID()
				if backwards {
					at = id
				}
				mid = append(mid, id)
			}
			if backwards {
				slices.Reverse(mid)
			}
			want = append(append(want, mid...), 2, 3)
			assert.Equal(t, want, ids(c.View()))
			assert.Equal(t, want, ids(e.Freeze().Entry()))
		})
	}
}

func TestInsertAfterRemovingAll(t *testing.T) {
	e := NewModule("m")
	c := e.AddComputation("c")
	x := c.Add(OpPartitionId, f32).ID()
	y := c.InsertBefore(x, OpPartitionId, f32).ID()
	require.NoError(t, c.Remove(x))
	require.NoError(t, c.Remove(y))
	m := e.Freeze()
	e = m.Edit()
	c = e.Computation(0)
	z := c.Add(OpPartitionId, f32).ID()
	w := c.InsertBefore(z, OpPartitionId, f32).ID()
	assert.Equal(t, []InstrID{w, z}, ids(e.Freeze().MustComputation(0)))
}

func TestSchedule(t *testing.T) {
	m := chainModule(t, 5)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	assert.Error(t, c.SetSchedule([]InstrID{0, 1, 2, 3}))
	assert.Error(t, c.SetSchedule([]InstrID{0, 1, 2, 3, 3}))
	require.NoError(t, c.SetSchedule([]InstrID{0, 4, 1, 2, 3}))
	assert.Equal(t, 1, e.Stats().Instructions, "only the one that moved is copied")
	m2 := e.Freeze()
	assert.Nil(t, m.Entry().Schedule())
	assert.Equal(t, []InstrID{0, 4, 1, 2, 3}, m2.Entry().Schedule())
	e = m2.Edit()
	c = e.Computation(m2.Entry().ID())
	x := c.InsertBefore(1, OpAbs, f32, 0).ID()
	y := c.Add(OpAbs, f32, 0).ID()
	assert.Equal(t, []InstrID{0, 4, x, 1, 2, 3, y}, e.Freeze().Entry().Schedule())
}

func TestUniqueNames(t *testing.T) {
	var n *nameTable
	for i, step := range []struct{ in, want string }{
		{"add", "add"}, {"add", "add.1"}, {"add.7", "add.7"}, {"add.7", "add.2"}, {"x.01", "x.1"}, {"a.-1", "a.-1"},
		{".5", ".5"}, {"x.", "x."}, {"mul.7", "mul.7"}, {"mul.7", "mul.0"}, {"big.99999999999", "big.99999999999"},
		{"big.99999999999", "big.0"}, {"big", "big.1"}, {"n.99999999999999999999", "n.99999999999999999999"}, {"p0", "p0"}, {"p0", "p0.1"},
	} {
		n = n.layer(uint64(i)) // every name in a layer of its own
		assert.Equal(t, step.want, n.unique(step.in), step.in)
	}
}

// TestAttrsSeenThroughAViewStay: the struct of attributes that a view hands out is never written, although the session writes its own
// copies in place.
func TestAttrsSeenThroughAViewStay(t *testing.T) {
	m := topkModule(t, 3)
	e := m.Edit()
	c := e.Computation(0)
	given := &TopKAttrs{K: 10}
	c.Instr(1).SetAttrs(given).SetAttr("k", int64(11))
	assert.Equal(t, int64(10), given.K)
	seen := c.At(1).Attrs().(*TopKAttrs)
	c.Instr(1).SetAttr("k", int64(12)).SetAttr("k", int64(13))
	assert.Equal(t, int64(11), seen.K)
	c.Instr(2).SetAttrs(seen)
	s := e.Snapshot()
	c.Instr(1).SetAttr("k", int64(14))
	c.Instr(2).SetAttr("k", int64(15))
	m2 := e.Freeze()
	for i, want := range []int64{1, 13, 14} {
		m := []Module{m, s, m2}[i]
		assert.Equal(t, want, AttrsOf[TopKAttrs](m.Entry().MustAt(1)).K)
	}
	assert.Equal(t, int64(11), AttrsOf[TopKAttrs](s.Entry().MustAt(2)).K)
	assert.Equal(t, int64(15), AttrsOf[TopKAttrs](m2.Entry().MustAt(2)).K)
}
