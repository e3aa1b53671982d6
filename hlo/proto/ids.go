package proto

import "github.com/gohalo/halo/hlo"

// idTable maps the ids that instructions of one computation have in a message to ours. XLA counts them up, in the module or in the
// computation, so that most lie close together and an array will do.
type idTable struct {
	base  int64
	dense []hlo.InstrID // by id less base; NoInstr: none
	room  int           // bounds the length of dense
	far   map[int64]hlo.InstrID
	count int
}

// idTables makes tables, whose arrays begin in slabs.
type idTables struct{ slab []hlo.InstrID }

// make makes a table for a computation of so many bytes.
func (s *idTables) make(size int) idTable {
	const few, many = 64, 16 // bytes of instructions
	n := size / few
	if len(s.slab) < n {
		s.slab = make([]hlo.InstrID, max(n, 1<<10))
	}
	t := idTable{dense: s.slab[:0:n], room: size / many * 3}
	s.slab = s.slab[n:]
	return t
}

// put adds an id, and reports whether it is new.
func (t *idTable) put(proto int64, id hlo.InstrID) bool {
	if t.count == 0 {
		// Instructions are not in the order of their ids, so that others may be lower.
		const local = 1<<32 - 1 // the part of an id that counts
		t.base = proto - min(proto&local, int64(t.room/2))
	} else if _, dup := t.get(proto); dup {
		return false
	}
	t.count++
	at := uint64(proto - t.base)
	if at > uint64(t.room) {
		if t.far == nil {
			t.far = make(map[int64]hlo.InstrID)
		}
		t.far[proto] = id
		return true
	}
	for uint64(len(t.dense)) <= at {
		t.dense = append(t.dense, hlo.NoInstr)
	}
	t.dense[at] = id
	return true
}

func (t *idTable) get(proto int64) (hlo.InstrID, bool) {
	if at := uint64(proto - t.base); at < uint64(len(t.dense)) {
		id := t.dense[at]
		return id, id != hlo.NoInstr
	}
	id, ok := t.far[proto]
	return id, ok
}
