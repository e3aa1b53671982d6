package hlo

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The sizes that CopyStats counts bytes with, and that memory per instruction rests on.
func TestNodeSizes(t *testing.T) {
	assert.Equal(t, instrNodeBytes, int(unsafe.Sizeof(instrNode{})))
	assert.LessOrEqual(t, int(unsafe.Sizeof(extraNode{})), extraNodeBytes)
	assert.Equal(t, commonBytes, int(unsafe.Sizeof(Common{})))
	assert.Equal(t, 144, int(unsafe.Sizeof(Metadata{})), "most instructions of programs from JAX have one")
	assert.LessOrEqual(t, int(unsafe.Sizeof(compNode{})), compNodeBytes)
	assert.LessOrEqual(t, int(unsafe.Sizeof(moduleNode{})), moduleNodeBytes)
	assert.LessOrEqual(t, int(unsafe.Sizeof(compInfo{})), compInfoBytes)
	assert.LessOrEqual(t, int(unsafe.Sizeof(moduleInfo{})), moduleInfoBytes)
	assert.Equal(t, int(unsafe.Sizeof(treeNode[instrNode]{})), treeNodeBytes(0), "entries follow the head")
	assert.Equal(t, int(unsafe.Sizeof(node32[instrNode]{})), treeNodeBytes(treeFan))
}

// callModule has computations leaf, mid (calls leaf twice), loop (while of mid and leaf), main (calls loop), alone.
func callModule(tb testing.TB) (Module, map[string]CompID) {
	tb.Helper()
	e := NewModule("calls")
	all := make(map[string]CompID)
	comp := func(name string, calls ...InstrSpec) {
		b := e.NewComputation(name)
		p := b.Append(InstrSpec{Opcode: OpParameter, Name: "p", Shape: f32, Attrs: &ParameterAttrs{}})
		for _, c := range calls {
			c.Shape, c.Operands = f32, []InstrID{p}
			p = b.Append(c)
		}
		all[name] = b.Finish(NoInstr)
	}
	comp("leaf")
	comp("alone")
	comp("mid", InstrSpec{Opcode: OpCall, Callees: []CompID{all["leaf"]}}, InstrSpec{Opcode: OpCall, Callees: []CompID{all["leaf"]}})
	comp("main", InstrSpec{Opcode: OpWhile, Callees: []CompID{all["mid"], all["leaf"]}})
	e.SetEntry(all["main"])
	require.Zero(tb, e.Stats())
	return e.Freeze(), all
}

func TestCallGraph(t *testing.T) {
	m, all := callModule(t)
	var order []string
	for c := range m.PostOrder() {
		order = append(order, c.Name())
	}
	assert.Equal(t, []string{"alone", "leaf", "mid", "main"}, order)
	var callers []string
	for c, in := range m.Callers(all["leaf"]) {
		callers = append(callers, fmt.Sprint(m.MustComputation(c).Name(), ".", in))
	}
	assert.Equal(t, []string{"mid.1", "mid.2", "main.1"}, callers)
	assert.Equal(t, "main", m.Entry().Name())

	e := m.Edit()
	assert.PanicsWithValue(t, `hlo: RemoveComputation of "leaf", which 3 instructions call`, func() { e.RemoveComputation(all["leaf"]) })
	assert.PanicsWithValue(t, `hlo: RemoveComputation of the entry "main"`, func() { e.RemoveComputation(all["main"]) })
	e.Computation(all["main"]).Instr(1).SetCallee(0, all["leaf"])
	e.RemoveComputation(all["mid"])
	e.RemoveComputation(all["alone"])
	assert.PanicsWithValue(t, `hlo: RemoveComputation of "leaf", which 1 instructions call`, func() { e.RemoveComputation(all["leaf"]) })
	require.NoError(t, e.Computation(all["main"]).ReplaceInstruction(1, 0))
	e.RemoveComputation(all["leaf"])
	assert.False(t, e.Has(all["leaf"]))
	x := e.AddComputation("leaf")
	assert.Equal(t, "leaf.1", x.Name(), "names stay taken")
	assert.Equal(t, CompID(4), x.ID(), "ids are not used again")
	m2 := e.Freeze()
	assert.Equal(t, 2, m2.NumComputations())
	assert.Equal(t, 4, m.NumComputations())
}

// TestCallCycle: broken modules do not hang the readers.
func TestCallCycle(t *testing.T) {
	m, all := callModule(t)
	e := m.Edit()
	e.Computation(all["mid"]).Instr(1).SetCallees(all["main"])
	e.Computation(all["leaf"]).Add(OpCall, f32, 0).SetCallees(all["leaf"])
	c := e.Computation(all["alone"])
	x, y := c.Add(OpAbs, f32, 0), c.Add(OpAbs, f32, 0)
	x.SetOperand(0, y.ID())
	y.SetOperand(0, x.ID())
	m2 := e.Freeze()
	assert.Len(t, slices.Collect(m2.PostOrder()), 4)
	assert.Len(t, slices.Collect(m2.MustComputation(all["alone"]).PostOrder()), 3)
	assert.NotEqual(t, m.Hash(), m2.Hash())
	assert.True(t, m2.Equal(m2.Edit().Freeze()))
}

// TestPostOrder is hlo-text section 10.4: roots in program order, control predecessors from last to first, then operands.
func TestPostOrder(t *testing.T) {
	e := NewModule("m")
	b := e.NewComputation("c")
	leaf := func(name string) InstrID { return b.Append(InstrSpec{Opcode: OpPartitionId, Name: name, Shape: f32}) }
	a, bb, c, d, x := leaf("a"), leaf("b"), leaf("c"), leaf("d"), leaf("x")
	sum := b.Append(InstrSpec{Opcode: OpAdd, Name: "sum", Shape: f32, Operands: []InstrID{bb, a}, Control: []InstrID{c, d}})
	b.Append(InstrSpec{Opcode: OpAbs, Name: "side", Shape: f32, Operands: []InstrID{x}})
	comp := b.Finish(sum)
	m := e.Freeze()
	var got []string
	for in := range m.MustComputation(comp).PostOrder() {
		got = append(got, in.Name())
	}
	// c and d have no users, control successors do not count, so they come as roots of their own before sum.
	assert.Equal(t, []string{"c", "d", "b", "a", "sum", "x", "side"}, got)
}

func TestMisusePanics(t *testing.T) {
	m := chainModule(t, 5)
	e := m.Edit()
	c := e.Computation(0)
	in := c.Instr(3)
	for want, f := range map[string]func(){
		`hlo: no computation 7 in module "m"`:                                                func() { e.Computation(7) },
		`hlo: no instruction 9 in computation "main"`:                                        func() { c.Instr(9) },
		`hlo: operand 1 of add is 9, which does not exist in computation "main"`:             func() { c.Add(OpAdd, f32, 0, 9) },
		`hlo: operand 0 of negate is 9, which does not exist in computation "main"`:          func() { in.SetOperands(9) },
		`hlo: control predecessor 0 of add is 9, which does not exist in computation "main"`: func() { c.AddSpec(InstrSpec{Opcode: OpAdd, Control: []InstrID{9}}) },
		`hlo: adding an instruction of invalid(0)`:                                           func() { c.Add(OpInvalid, f32) },
		`hlo: SetOpcode to invalid(255)`:                                                     func() { in.SetOpcode(255) },
		`hlo: SetAttr on negate negate.2: no attribute "dimensions"`:                         func() { in.SetAttr("dimensions", nil) },
		`hlo: SetAttr on negate negate.2: attribute backend_config cannot be a int`:          func() { in.SetAttr(KeyBackendConfig, 1) },
		`hlo: no parameter 1 in computation "main"`:                                          func() { _ = c.RemoveParameter(1) },
		`hlo: Diff of modules "x" and "m", whose ids have nothing to do with each other`:     func() { m.Diff(NewModule("x").Freeze()) },
		`hlo: root 3 of computation "b" does not exist`:                                      func() { e.NewComputation("b").Finish(3) },
		`hlo: add in computation "b" names instruction 0, which has not been appended yet`:   func() { e.NewComputation("b").Append(InstrSpec{Opcode: OpAdd, Operands: []InstrID{0}}) },
	} {
		assert.PanicsWithValue(t, want, f)
	}
	assert.Zero(t, e.Stats(), "what panics has not edited")
	c.Add(OpAbs, f32).SetShape(shapes[0])
	gone := c.Add(OpAbs, f32)
	require.NoError(t, c.Remove(gone.ID()))
	assert.PanicsWithValue(t, `hlo: use of an instruction edit after instruction 6 of "main" was removed`, func() { gone.SetShape(f32) })
	v := c.View()
	at := v.MustAt(3)
	c.SetRoot(2)
	for _, f := range []func(){func() { v.Root() }, func() { at.Name() }, func() { at.Users() }, func() { v.Instructions() }} {
		assert.PanicsWithValue(t, `hlo: use of a view of computation "main" after the session edited it; take a new View`, f)
	}
	v = c.View()
	e.Rollback(m)
	assert.PanicsWithValue(t, `hlo: use of a view of computation "main" after Rollback`, func() { v.Root() })
	assert.PanicsWithValue(t, "hlo: use of an instruction edit after Rollback", func() { in.Shape() })
	assert.PanicsWithValue(t, "hlo: use of a computation edit after Rollback", func() { c.Root() })
	b := e.NewComputation("b")
	e.Freeze()
	assert.PanicsWithValue(t, "hlo: use of an Editor after Freeze", func() { e.Entry() }) //halo:allow useaftermove to see it panic
	assert.PanicsWithValue(t, "hlo: use of an Editor after Freeze", func() { b.Finish(NoInstr) })
	assert.PanicsWithValue(t, "hlo: use of a computation edit after Freeze", func() { c.Root() })
}

// TestHandlesKnowTheirComputation: what an id cannot tell is found where handles are used.
func TestHandlesKnowTheirComputation(t *testing.T) {
	m, all := callModule(t)
	e := m.Edit()
	mid := e.Computation(all["mid"])
	call := m.MustComputation(all["mid"]).MustAt(1)
	assert.Equal(t, "y", mid.Edit(call).SetName("y").Name())
	assert.Equal(t, "z", mid.Edit(mid.At(1)).SetName("z").Name())
	assert.PanicsWithValue(t, `hlo: edit of call, an instruction of computation "mid", in computation "main"`, func() { e.Computation(all["main"]).Edit(call) })
	gone := mid.Add(OpAbs, f32, 0)
	was := gone.View()
	require.NoError(t, mid.Remove(gone.ID()))
	assert.Panics(t, func() { mid.Edit(was) })
	assert.PanicsWithValue(t, "hlo: no instruction 3 in computation \"mid\"", func() { mid.Instr(3) })
}

func TestViewReadsTheSession(t *testing.T) {
	m := chainModule(t, 5)
	e := m.Edit()
	c := e.Computation(0)
	assert.Equal(t, m.Entry(), c.View(), "nothing edited: the computation itself")
	c.Instr(4).SetOperand(0, 1)
	v := c.View()
	assert.Equal(t, v, c.View(), "no edit in between: the same view")
	assert.Equal(t, []InstrID{2, 4}, slices.Collect(v.Users(1)))
	assert.NotEqual(t, m.Entry().Hash(), v.Hash())
	d := v.Digest()
	c.Instr(4).SetOperand(0, 2)
	assert.NotEqual(t, d, c.View().Digest(), "nothing is cached on nodes that the session may still write")
	c.Instr(4).SetOperand(0, 1)
	assert.Equal(t, d, c.View().Digest())
	assert.Equal(t, d, e.Freeze().Entry().Digest())
}

func TestCompact(t *testing.T) {
	m := chainModule(t, 100)
	e := m.Edit()
	c := e.Computation(0)
	x := c.InsertBefore(60, OpAbs, f32, 10)
	c.Instr(60).SetOperand(0, x.ID()).AddControlPredecessor(3)
	for id := InstrID(59); id > 10; id-- {
		require.NoError(t, c.Remove(id))
	}
	before := e.Snapshot()
	assert.Equal(t, 49, before.Entry().Tombstones())
	to := e.Compact(0)
	assert.PanicsWithValue(t, "hlo: use of an instruction edit after Compact", func() { x.Shape() })
	m2 := e.Freeze()
	assert.True(t, before.Equal(m2))
	assert.Zero(t, m2.Entry().Tombstones())
	assert.Equal(t, InstrID(11), to[x.ID()])
	assert.Equal(t, NoInstr, to[30])
	assert.False(t, m2.SameLineage(m))
	in := m2.Entry().MustAt(to[60])
	assert.Equal(t, before.Entry().MustAt(60).Name(), in.Name())
	assert.Equal(t, []InstrID{3}, slices.Collect(in.ControlPredecessors()))
}

func TestParameters(t *testing.T) {
	e := NewModule("m")
	c := e.AddComputation("f")
	for _, n := range []int64{2, 0, 1} {
		c.AddSpec(InstrSpec{Opcode: OpParameter, Name: fmt.Sprint("p", n), Shape: shapeOfSize(n), Attrs: &ParameterAttrs{Number: n}})
	}
	c.SetRoot(2)
	m := e.Freeze()
	f := m.MustComputation(0)
	assert.Equal(t, []InstrID{1, 2, 0}, f.Parameters())
	assert.Equal(t, "p1", f.Parameter(1).Name())
	sig := f.Signature()
	assert.Equal(t, "[f32[0] f32[1] f32[2]] f32[1]", fmt.Sprint(sig.Parameters, sig.Result))
	e = m.Edit()
	c = e.Computation(0)
	assert.ErrorIs(t, c.RemoveParameter(1), ErrIsRoot)
	require.NoError(t, c.RemoveParameter(0))
	m2 := e.Freeze()
	n, _ := m2.MustComputation(0).MustAt(0).ParameterNumber()
	assert.Equal(t, int64(1), n)
	assert.Equal(t, 2, m2.MustComputation(0).NumParameters())
}

// TestRemoveParameterOfEqualNumbers: numbers may be wrong for a while, and removing one still numbers the rest in order.
func TestRemoveParameterOfEqualNumbers(t *testing.T) {
	e := NewModule("m")
	c := e.AddComputation("f")
	for range 4 {
		c.AddSpec(InstrSpec{Opcode: OpParameter, Shape: f32, Attrs: &ParameterAttrs{}})
	}
	require.NoError(t, c.RemoveParameter(0))
	assert.Equal(t, []InstrID{1, 2, 3}, c.View().Parameters())
}

func TestThreadsAndNames(t *testing.T) {
	e := NewModule("m")
	b := e.NewComputation("f")
	b.SetExecutionThread("host")
	b.SetScheduled(true)
	x := b.Append(InstrSpec{Opcode: OpPartitionId, Shape: f32, Position: Position{3, 4}, Common: &Common{BackendConfig: "{}"}})
	assert.Equal(t, OpPartitionId, b.Opcode(x))
	f := b.Finish(NoInstr)
	m := e.Freeze()
	c := m.MustComputation(f)
	assert.Equal(t, "host", c.ExecutionThread())
	assert.Equal(t, []InstrID{0}, c.Schedule())
	assert.Equal(t, Position{3, 4}, c.Root().Position())
	v, ok := c.Root().Attr(KeyBackendConfig)
	assert.True(t, ok)
	assert.Equal(t, "{}", v)
	_, ok = c.Root().Attr(KeySharding)
	assert.False(t, ok)
	e = m.Edit()
	ce := e.Computation(f)
	ce.SetExecutionThread(MainThread)
	ce.SetName("g")
	ce.ClearSchedule()
	ce.Instr(x).SetPosition(Position{5, 6}).SetAttr(KeyBackendConfig, nil).SetAttr(KeyMetadata, &Metadata{OpName: "n"})
	m = e.Freeze()
	c = m.MustComputation(f)
	assert.Equal(t, "g", c.Name())
	assert.Equal(t, MainThread, c.ExecutionThread())
	assert.Nil(t, c.Schedule())
	assert.Equal(t, &Common{Metadata: &Metadata{OpName: "n"}}, c.Root().Common())
	got, ok := m.ComputationByName("g")
	assert.True(t, ok)
	assert.Equal(t, c, got)
}
