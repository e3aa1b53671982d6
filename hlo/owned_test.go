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
	o := transform(OwnComputation(shared, f))
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
	o := Own(chainModule(t, 3)).Edit(func(e *Editor) { kept = e.Computation(0) })
	assert.PanicsWithValue(t, "hlo: use of a computation edit after the end of Owned.Edit", func() { kept.SetRoot(0) })
	assert.PanicsWithValue(t, "hlo: use of an Editor after Freeze", func() { o.Edit(func(e *Editor) { e.Freeze() }) }) //halo:allow useaftermove to see it panic
}
