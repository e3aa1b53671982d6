package hlo

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// ExampleOwned is the promise of copy on write with moves: attributes are attached through a table of functions that know nothing
// of their argument's type, and the original is copied once if it is shared, and not at all if it is not.
func ExampleOwned() {
	withAttr := func(key AttrKey) func(any) any {
		return func(f any) any { return f.(Owned[Computation]).Move().WithAttr(key, int64(1)) }
	}
	passes := []func(any) any{withAttr("noalias"), withAttr("inline"), withAttr("hot")}
	transform := func(o Owned[Computation]) Owned[Computation] {
		var f any = o.Move()
		for _, p := range passes {
			f = p(f)
		}
		return f.(Owned[Computation])
	}

	// Shared: f is published, others may hold it.
	session := NewModule("m")
	f := session.AddComputation("f").ID()
	shared := session.Freeze()
	o := transform(shared.Edit().OwnComputation(f))
	fmt.Println("shared:", o.Stats().Computations, "copy")
	edited := o.Share()
	_, had := shared.MustComputation(f).Note("hot")
	_, has := edited.Note("hot")
	fmt.Println("original has it:", had, "- edited has it:", has)

	// Unique: made in the session and never published.
	session = NewModule("m")
	f = session.AddComputation("f").ID()
	unique := session.OwnComputation(f)
	unique = transform(unique)
	unique = transform(unique)
	fmt.Println("unique:", unique.Stats().Copies(), "copies")

	// Output:
	// shared: 1 copy
	// original has it: false - edited has it: true
	// unique: 0 copies
}

func TestOwnedIsLinear(t *testing.T) {
	m := chainModule(t, 3)
	a := Own(m)
	b := a.Move()
	assert.PanicsWithValue(t, "hlo: use of an Owned after it was moved", func() { a.WithName("x") }) //halo:allow useaftermove to see it panic
	c := b.WithName("x")
	assert.PanicsWithValue(t, "hlo: use of an Owned after it was moved", func() { b.Share() }) //halo:allow useaftermove to see it panic
	m2 := c.Share()
	assert.PanicsWithValue(t, "hlo: use of an Owned after Share", func() { c.Move() }) //halo:allow useaftermove to see it panic
	assert.PanicsWithValue(t, "hlo: use of the zero Owned", func() { Owned[Module]{}.Move() })
	assert.Equal(t, "m", m.Name())
	assert.Equal(t, "x", m2.Name())
	assert.True(t, m == Own(m).Move().WithName("m").Share(), "no edit, same version")
}

func TestOwnedCopiesOnce(t *testing.T) {
	m := topkModule(t, 40)
	o := Own(m).WithAttr("a", int64(1)).WithAttr("b", "two").WithAttr("c", []int64{3}).WithAttr("c", []int64{3})
	s := o.Stats()
	s.Bytes = 0
	assert.Equal(t, CopyStats{Modules: 1, AttrSets: 1}, s)
	m2 := o.WithAttr("a", nil).Share()
	_, ok := m2.Note("a")
	assert.False(t, ok)
	b, _ := m2.Note("b")
	assert.Equal(t, "two", b)
}

// TestBuiltAndHandedOn: what a session made is edited by any number of functions without a copy.
func TestBuiltAndHandedOn(t *testing.T) {
	e := NewModule("m")
	b := e.NewComputation("main")
	p := b.Append(InstrSpec{Opcode: OpParameter, Shape: f32, Attrs: &ParameterAttrs{}})
	for range 99 {
		b.Append(InstrSpec{Opcode: OpNegate, Shape: f32, Operands: []InstrID{p}})
	}
	id := b.Finish(NoInstr)
	e.SetEntry(id)
	o := e.Own()
	assert.Panics(t, func() { e.SetName("x") })
	step := func(o Owned[Module], at InstrID) Owned[Module] {
		return o.Move().Edit(func(e *Editor) {
			c := e.Computation(id)
			c.Instr(at).SetShape(MakeShape(F32, 9)).SetOperand(0, at-1).SetAttr(KeyBackendConfig, "x")
			c.InsertBefore(at, OpAbs, f32, 0)
		})
	}
	o = step(step(step(o, 10), 50), 90)
	assert.Zero(t, o.Stats())
	assert.Equal(t, 103, o.Share().Entry().NumInstructions())
}

func TestOwnedEditEndsHandles(t *testing.T) {
	var kept CompEdit
	Own(chainModule(t, 3)).Edit(func(e *Editor) { kept = e.Computation(0) })
	assert.PanicsWithValue(t, "hlo: use of a computation edit after the end of Owned.Edit", func() { kept.SetRoot(0) })
}

// TestOwnedEditViews: within Edit a session goes on after Freeze, and what was seen lives until it is edited.
func TestOwnedEditViews(t *testing.T) {
	m := chainModule(t, 3)
	id := m.Entry().ID()
	var first, second Module
	o := Own(m).Edit(func(e *Editor) {
		assert.True(t, e.Shows(m), "nothing was edited")
		e.Computation(id).Instr(1).SetShape(MakeShape(F32, 9))
		assert.False(t, e.Shows(m))
		first = e.Freeze()
		assert.True(t, e.Shows(first))
	})
	assert.Equal(t, []CompID{id}, o.Edited())
	o = o.Edit(func(e *Editor) {
		assert.True(t, e.Shows(first), "nothing was edited since")
		assert.True(t, e.ViewModule() == first)
		assert.Equal(t, MakeShape(F32, 9), first.Entry().MustAt(1).Shape())
		operands := first.Entry().MustAt(1).OperandIDs()
		e.Computation(id).Instr(1).SetOperand(0, 2)
		for o := range operands {
			assert.Equal(t, InstrID(0), o, "as it was when it was asked for")
		}
		second = e.Freeze()
		assert.False(t, e.Shows(first))
	})
	assert.Panics(t, func() { first.Entry().Name() }, "it was edited since")
	assert.Equal(t, id, first.Entry().ID(), "ids never change")
	assert.Panics(t, func() { first.Hash() })
	assert.Equal(t, InstrID(2), second.Entry().MustAt(1).Operand(0))
	assert.Equal(t, []CompID{id}, o.Edited())
	o = o.Edit(func(*Editor) {})
	assert.Empty(t, o.Edited())
	assert.Equal(t, 1, o.Stats().Instructions)
	o.Share()
	assert.Panics(t, func() { second.Entry().Name() }, "the session is over")
}

// TestCallsMore: a computation calls others than before when an instruction that calls is made, is told to call another, or comes from a fork.
func TestCallsMore(t *testing.T) {
	m := chainModule(t, 3)
	id := m.Entry().ID()
	call := InstrSpec{Opcode: OpCall, Shape: f32, Operands: []InstrID{0}, Attrs: &CallAttrs{}, Callees: []CompID{id}}
	e := m.Edit()
	to := e.AddComputation("other")
	to.AddSpec(InstrSpec{Opcode: OpAfterAll, Shape: f32})
	c := e.Computation(id)
	c.Add(OpAbs, f32, 1)
	assert.False(t, e.CallsMore(id))
	call.Callees[0] = to.ID()
	in := c.AddSpec(call)
	assert.True(t, e.CallsMore(id))
	assert.False(t, e.CallsMore(id), "it was asked for")
	in.SetCallees(to.ID())
	assert.False(t, e.CallsMore(id), "as it was")
	in.SetCallees(to.ID(), to.ID())
	assert.True(t, e.CallsMore(id))
	fork := e.Fork(id)[0]
	fork.Computation(id).AddSpec(call)
	assert.NoError(t, e.Join(fork))
	assert.True(t, e.CallsMore(id))
}
