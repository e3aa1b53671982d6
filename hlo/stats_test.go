package hlo

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// topkModule has one parameter and n-1 topk instructions of it, which have attributes that can be set one by one.
func topkModule(tb testing.TB, n int) Module {
	tb.Helper()
	e := NewModule("m")
	b := e.NewComputation("main")
	p := b.Append(InstrSpec{Opcode: OpParameter, Name: "p", Shape: f32, Attrs: &ParameterAttrs{}})
	for range n - 1 {
		b.Append(InstrSpec{Opcode: OpTopk, Shape: f32, Operands: []InstrID{p}, Attrs: &TopKAttrs{K: 1}})
	}
	e.SetEntry(b.Finish(NoInstr))
	e.SetNote("made by", "topkModule")
	return e.Freeze()
}

// TestCopyTable states the exact number of copies of typical sessions.
func TestCopyTable(t *testing.T) {
	entry := func(e *Editor) CompEdit { return e.Computation(e.Entry()) }
	for _, tc := range []struct {
		name string
		n    int
		edit func(e *Editor)
		want CopyStats
	}{
		{"no edit", 20, func(e *Editor) {}, CopyStats{}},
		{"equal writes", 20, func(e *Editor) {
			entry(e).Instr(3).SetAttr("k", int64(1)).SetShape(MakeShape(F32, 4)).SetOperands(0)
		}, CopyStats{}},
		{"one attribute on one of 20", 20, func(e *Editor) {
			entry(e).Instr(3).SetAttr("k", int64(2))
		}, CopyStats{Modules: 1, Computations: 1, Leaves: 1, Instructions: 1, AttrSets: 1}},
		{"three attributes, same instruction", 20, func(e *Editor) {
			entry(e).Instr(3).SetAttr("k", int64(2)).SetAttr("largest", true).SetAttr("is_stable", true)
		}, CopyStats{Modules: 1, Computations: 1, Leaves: 1, Instructions: 1, AttrSets: 1}},
		{"own and common attributes, same instruction", 20, func(e *Editor) {
			entry(e).Instr(3).SetAttr("k", int64(2)).SetAttr(KeyBackendConfig, "x").SetCommon(&Common{BackendConfig: "y"})
		}, CopyStats{Modules: 1, Computations: 1, Leaves: 1, Instructions: 1, AttrSets: 1}},
		{"three instructions in one leaf", 20, func(e *Editor) {
			for id := InstrID(3); id < 6; id++ {
				entry(e).Instr(id).SetAttr("k", int64(2))
			}
		}, CopyStats{Modules: 1, Computations: 1, Leaves: 1, Instructions: 3, AttrSets: 3}},
		{"one of 100,000", 100_000, func(e *Editor) {
			entry(e).Instr(54_321).SetShape(MakeShape(F32, 5))
		}, CopyStats{Modules: 1, Computations: 1, Inner: 3, Leaves: 1, Instructions: 1}},
		{"edit, snapshot, edit again", 20, func(e *Editor) {
			entry(e).Instr(3).SetShape(MakeShape(F32, 5))
			e.Snapshot()
			entry(e).Instr(3).SetShape(MakeShape(F32, 6))
		}, CopyStats{Modules: 2, Computations: 2, Leaves: 2, Instructions: 2}},
		{"snapshots without edits in between", 20, func(e *Editor) {
			entry(e).Instr(3).SetShape(MakeShape(F32, 5))
			for range 10 {
				e.Snapshot()
			}
		}, CopyStats{Modules: 1, Computations: 1, Leaves: 1, Instructions: 1}},
		{"replace all uses, 9 users in one leaf", 10, func(e *Editor) {
			c := entry(e)
			x := c.Add(OpAbs, f32).ID()
			assert.Equal(t, 9, c.ReplaceAllUses(0, x))
		}, CopyStats{Modules: 1, Computations: 1, Leaves: 1, Instructions: 9}},
		{"chain of replacements of a value with 9 users in one leaf", 10, func(e *Editor) {
			c := entry(e)
			x, y, z := c.Add(OpAbs, f32).ID(), c.Add(OpAbs, f32).ID(), c.Add(OpAbs, f32).ID()
			c.Forward(0, x)
			c.Forward(x, y)
			c.Forward(y, z)
			assert.Equal(t, 9, c.UserCount(z))
		}, CopyStats{Modules: 1, Computations: 1, Leaves: 1, Instructions: 9}},
		{"chain of module notes", 20, func(e *Editor) {
			e.SetNote("a", int64(1))
			e.SetNote("b", "x")
			e.SetNote("c", true)
			e.SetNote("c", true)
		}, CopyStats{Modules: 1, AttrSets: 1}},
		{"rollback, then the same edit", 20, func(e *Editor) {
			base := e.Snapshot()
			entry(e).Instr(3).SetShape(MakeShape(F32, 5))
			e.Rollback(base)
			entry(e).Instr(3).SetShape(MakeShape(F32, 5))
		}, CopyStats{Modules: 2, Computations: 2, Leaves: 2, Instructions: 2}},
		{"root", 20, func(e *Editor) { entry(e).SetRoot(3) }, CopyStats{Modules: 1, Computations: 1}},
		{"header", 20, func(e *Editor) {
			e.SetConfig(&ModuleConfig{ReplicaCount: 2})
			e.SetName("n")
		}, CopyStats{Modules: 1}},
		{"equal header", 20, func(e *Editor) { e.SetConfig(&ModuleConfig{}) }, CopyStats{}},
		{"remove", 20, func(e *Editor) { require.NoError(t, entry(e).Remove(3)) }, CopyStats{Modules: 1, Computations: 1, Leaves: 1}},
		{"new instructions are no copies", 20, func(e *Editor) {
			x := entry(e).Add(OpAbs, f32, 3)
			x.SetShape(MakeShape(F32, 7)).SetName("y").SetOperand(0, 4).AddControlPredecessor(5)
		}, CopyStats{Modules: 1, Computations: 1, Leaves: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := topkModule(t, tc.n)
			digest := m.Digest()
			var versions []Module // others hold the base and versions of it: no difference
			for range 50 {
				other := m.Edit()
				other.Computation(other.Entry()).SetRoot(0)
				versions = append(versions, other.Freeze())
			}
			e := m.Edit()
			tc.edit(e)
			got := e.Stats()
			assert.Equal(t, got.Copies() == 0, got.Bytes == 0)
			got.Bytes = 0
			assert.Equal(t, tc.want, got)
			m2 := e.Freeze()
			assert.Equal(t, tc.want.Copies() == 0, m == m2)
			assert.Equal(t, digest, m.digestAfresh(), "the base is as it was")
			assert.Len(t, versions, 50)
		})
	}
}

// TestEditFreezeEditAgain: what a session publishes, the next one copies again.
func TestEditFreezeEditAgain(t *testing.T) {
	path := CopyStats{Modules: 1, Computations: 1, Inner: 1, Leaves: 1, Instructions: 1, AttrSets: 1}
	m := topkModule(t, 100)
	for k := range int64(3) {
		e := m.Edit()
		e.Computation(e.Entry()).Instr(3).SetAttr("k", k+2)
		m = e.Freeze()
		got := e.Stats()
		got.Bytes = 0
		assert.Equal(t, path, got)
	}
}

func TestCopyStatsString(t *testing.T) {
	assert.Equal(t, "0 copies, 0 bytes", CopyStats{}.String())
	assert.Equal(t, "3 copies, 99 bytes: 1 modules, 2 instructions", fmt.Sprint(CopyStats{Modules: 1, Instructions: 2, Bytes: 99}))
}
