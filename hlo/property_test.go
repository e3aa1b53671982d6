package hlo

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestEditsAgainstOracle: random scripts in several sessions, with forks, snapshots and moves, do what they do to a deep clone; no
// published version ever changes, whoever reads it meanwhile.
func TestEditsAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &script{world: &world{t: t}, e: NewModule("m"), lent: NoComp, o: &oracleModule{
			names:  oracleNames{make(map[string]map[int64]bool), make(map[string]int64)},
			cnames: oracleNames{make(map[string]map[int64]bool), make(map[string]int64)},
		}}
		s.sessions = append(s.sessions, s)
		id := s.e.AddComputation("c").ID()
		s.e.Computation(id).Add(OpAbs, shapeOfSize(1))
		s.e.Computation(id).SetRoot(0)
		s.o.comps = []*oracleComp{{
			name: s.o.cnames.unique("c"), order: []InstrID{0}, next: 1,
			instrs: map[InstrID]*oracleInstr{0: {op: OpAbs, size: 1, name: s.o.names.unique("abs")}},
		}}
		s.publish()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s.sessions[s.pick("session", len(s.sessions))].step()
		}
		for _, other := range s.sessions {
			other.publish()
		}
		s.readers.Wait()
		first := s.versions[0]
		for i, v := range s.versions {
			v.o.compare(t, v.m)
			require.NoError(t, v.m.Recheck(), "version %d", i)
			require.Equal(t, *v.digest, v.m.Digest(), "version %d", i)
			if again := v.o.rebuild(); !v.o.ambiguous() {
				require.Equal(t, again.Hash(), v.m.Hash())
				require.True(t, again.Equal(v.m))
			}
			require.Equal(t, v.m.Hash() == first.m.Hash(), v.m.Equal(first.m))
			require.Equal(t, *v.digest == *first.digest, v.m.Digest() == *first.digest)
			require.Equal(t, v.m == first.m, v.m.UnsharedBytes(first.m) == 0)
		}
		s.diffs()
	})
	require.Equal(t, compTables{}, noTables, "what all computations share nobody writes")
}

// diffs: what Diff lists between the first and the last version is what the oracle sees.
func (s *script) diffs() {
	first, last := s.versions[0], s.versions[len(s.versions)-1]
	got := make(map[string]bool)
	for ch := range last.m.Diff(first.m) {
		if ch.Kind >= InstructionAdded {
			got[fmt.Sprint(ch.Comp, ch.Instr, ch.Kind)] = true
		}
	}
	want := make(map[string]bool)
	for id, y := range last.o.comps {
		if id >= len(first.o.comps) || y == nil || first.o.comps[id] == nil {
			continue
		}
		x := first.o.comps[id]
		for in := range max(x.next, y.next) {
			a, b := x.instrs[in], y.instrs[in]
			var kind ChangeKind
			switch {
			case a == nil && b == nil:
				continue
			case a == nil:
				kind = InstructionAdded
			case b == nil:
				kind = InstructionRemoved
			case fmt.Sprint(*a) == fmt.Sprint(*b):
				continue
			default:
				kind = InstructionChanged
			}
			want[fmt.Sprint(CompID(id), in, kind)] = true
		}
	}
	require.Equal(s.t, want, got)
}
