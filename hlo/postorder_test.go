package hlo

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whether the post-order is that of the ids is seen without a search, and exactly when a search finds it.
func TestPostOrderAscends(t *testing.T) {
	ascending := 0
	rapid.Check(t, func(t *rapid.T) {
		e := NewModule("m")
		b := e.NewComputation("c")
		n := rapid.IntRange(1, 9).Draw(t, "instructions")
		for i := range n {
			spec := InstrSpec{Opcode: OpAfterAll, Name: fmt.Sprint("i", i), Shape: MakeShape(F32)}
			for k := 0; i > 0 && k < rapid.IntRange(0, 3).Draw(t, "operands"); k++ {
				// Near ones are drawn often, or hardly any order would ascend.
				spec.Operands = append(spec.Operands, InstrID(max(0, i-rapid.IntRange(1, 4).Draw(t, "back"))))
			}
			if i > 0 && rapid.IntRange(0, 5).Draw(t, "control") == 0 {
				spec.Control = []InstrID{InstrID(rapid.IntRange(0, i-1).Draw(t, "before"))}
			}
			b.Append(spec)
		}
		id := b.Finish(InstrID(n - 1))
		e.SetEntry(id)
		c := e.Freeze().MustComputation(id).node()
		w := new(postWalk)
		w.read(c)
		w.walk(c)
		byID := slices.IsSorted(w.out) && len(w.out) == n
		require.Equal(t, byID, w.ascends(c), "%v", w.out)
		if byID {
			ascending++
		}
	})
	require.Positive(t, ascending)
}

// What a computation knows from when it was built ends with the first edit, in the session that built it and in others.
func TestBuiltFactsEnd(t *testing.T) {
	const id, p = CompID(0), InstrID(0)
	freshlyBuilt := func(t *testing.T) *Editor {
		e := NewModule("m")
		b := e.NewComputation("c")
		require.Equal(t, p, b.Append(InstrSpec{Opcode: OpParameter, Name: "p", Shape: MakeShape(F32), Attrs: &ParameterAttrs{}}))
		b.Append(InstrSpec{Opcode: OpAfterAll, Name: "a", Shape: MakeShape(F32), Operands: []InstrID{p}})
		e.SetEntry(b.Finish(NoInstr))
		return e
	}
	e := freshlyBuilt(t)
	snapshot := e.Snapshot()
	built := snapshot.MustComputation(id)
	require.Equal(t, OpcodesOf(OpParameter, OpAfterAll), built.Opcodes())
	require.Zero(t, built.MustAt(p).NumControlSuccessors())

	for _, e := range []*Editor{e, snapshot.Edit(), freshlyBuilt(t)} {
		ce := e.Computation(id)
		k := ce.Add(OpPartitionId, MakeShape(U32)).ID()
		ce.Instr(k).AddControlPredecessor(p)
		c := e.Freeze().MustComputation(id)
		require.True(t, c.Opcodes().Has(OpPartitionId))
		require.Equal(t, 1, c.MustAt(p).NumControlSuccessors())
	}
}
