package hlo

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWide edits a computation with a value that hundreds use and a tuple of hundreds of operands, and holds the lists of users against the
// operands: lists that long, and places of operands, are kept in other ways than short ones.
func TestWide(t *testing.T) {
	const values = 2 * longFrom
	r := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder("m")
	x := b.Parameter("x", f32)
	operands := []Value{x}
	for range values {
		operands = append(operands, b.Unary(OpAbs, x))
	}
	m, err := b.Build(b.Tuple(operands...))
	require.NoError(t, err)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	tuple := m.Entry().Root().ID()
	live := func() InstrID {
		for {
			if id := InstrID(r.IntN(int(tuple))); c.Has(id) {
				return id
			}
		}
	}
	want := slices.Collect(m.Entry().Root().OperandIDs())
	users := map[InstrID]map[InstrID]bool{} // but the tuple
	for in := range m.Entry().Instructions() {
		users[in.ID()] = map[InstrID]bool{}
	}
	for id := range m.Entry().Parameter(0).Users() {
		if id.ID() != tuple {
			users[0][id.ID()] = true
		}
	}
	for step := range 4 * values {
		switch k := r.IntN(16); {
		case k < 6: // a value of the tuple is another
			old, new := live(), live()
			c.ReplaceAllUses(old, new)
			for i := range want {
				if want[i] == old {
					want[i] = new
				}
			}
			for u := range users[old] {
				if u != new && old != new {
					delete(users[old], u)
					users[new][u] = true
				}
			}
		case k < 10:
			i, to := r.IntN(len(want)), live()
			c.Instr(tuple).SetOperand(i, to)
			want[i] = to
		case k < 12: // the value that everything uses loses a user, or gets one back
			id, to := live(), live()
			if id == 0 || id == to {
				continue
			}
			c.Instr(id).SetOperand(0, to)
			for _, l := range users {
				delete(l, id)
			}
			users[to][id] = true
		case k == 12:
			id := live()
			if unused := len(users[id]) == 0 && !slices.Contains(want, id) && id != 0; unused != (c.Remove(id) == nil) {
				t.Fatalf("step %d: removed %d", step, id)
			} else if unused {
				for _, l := range users {
					delete(l, id)
				}
			}
		case k == 13 && step%8 == 0:
			to := live()
			c.Instr(tuple).AppendOperand(to)
			want = append(want, to)
		}
		if step%16 != 0 {
			continue
		}
		require.Equal(t, want, slices.Collect(c.At(tuple).OperandIDs()))
		for range 8 {
			id := live()
			all := []InstrID{}
			for u := range users[id] {
				all = append(all, u)
			}
			if slices.Contains(want, id) {
				all = append(all, tuple)
			}
			slices.Sort(all)
			require.Equal(t, len(all), c.UserCount(id), "users of %d", id)
			require.Equal(t, all, append([]InstrID{}, slices.Collect(c.Users(id))...), "users of %d", id)
		}
	}
}

// TestInsertMany puts many instructions before the same ones: ranks are dealt anew as often as that is worth it, and the order is kept.
func TestInsertMany(t *testing.T) {
	m := chainModule(t, 10)
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	want := slices.Collect(m.Entry().idsInOrder())
	const inserted = 40_000
	for i := range inserted {
		at := want[len(want)-1]
		if i%100 == 7 {
			at = want[1]
		}
		id := c.InsertBefore(at, OpAbs, f32, 0).ID()
		want = slices.Insert(want, slices.Index(want, at), id)
		if i%3 == 0 { // dead before the next is inserted
			require.NoError(t, c.Remove(id))
			want = slices.DeleteFunc(want, func(x InstrID) bool { return x == id })
		}
	}
	require.LessOrEqual(t, int(e.writes), 8*inserted)
	require.Equal(t, want, slices.Collect(e.Freeze().Entry().idsInOrder()))
}
