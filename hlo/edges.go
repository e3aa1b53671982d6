package hlo

import "sync"

// edgeLists holds the edges out of all instructions of a computation, or some of them, in two arrays. Searches go through these: they take a tenth of the room
// of the instructions, which are read once, in the order in which they lie in memory.
type edgeLists struct {
	begin      []uint32  // by id, and one more: where in to the edges of the id begin
	to         []InstrID // those of one instruction after those of another, by id
	missing    []InstrID // ids that no instruction has
	controlled bool      // there are control predecessors
}

// edgeKinds says which edges are wanted.
type edgeKinds uint8

const (
	operandEdges edgeKinds = 1 << iota
	controlEdges           // to control predecessors, from last to first, before the operands
)

var edgeRoom = sync.Pool{New: func() any { return new(edgeLists) }}

// edgesOf reads the edges of a kind. They are to be given back with done.
func edgesOf(t *tree[instrNode], kinds edgeKinds) *edgeLists {
	l := edgeRoom.Get().(*edgeLists)
	l.collect(t, kinds)
	return l
}

func (l *edgeLists) done() { edgeRoom.Put(l) }

func (l *edgeLists) collect(t *tree[instrNode], kinds edgeKinds) {
	if n := int(t.n); cap(l.begin) <= n {
		l.begin, l.to = make([]uint32, n+1), make([]InstrID, 0, 2*n)
	}
	begin, to := l.begin[:t.n+1], l.to[:0]
	l.missing, l.controlled = l.missing[:0], false
	next := uint32(0) // id
	t.eachLeaf(func(slots []*instrNode) bool {
		for _, in := range slots {
			if in == nil {
				continue
			}
			for ; next < uint32(in.id); next++ {
				begin[next] = uint32(len(to))
				l.missing = append(l.missing, InstrID(next))
			}
			begin[next] = uint32(len(to))
			next++
			if x := in.extra; x != nil && len(x.control) > 0 {
				l.controlled = true
				if kinds&controlEdges != 0 {
					for i := range x.control {
						to = append(to, x.control[len(x.control)-1-i])
					}
				}
			}
			if kinds&operandEdges != 0 {
				to = append(to, in.operands()...)
			}
		}
		return true
	})
	for ; next < t.n; next++ {
		begin[next] = uint32(len(to))
		l.missing = append(l.missing, InstrID(next))
	}
	begin[next] = uint32(len(to))
	l.begin, l.to = begin, to
}

// of is the edges of one instruction.
func (l *edgeLists) of(id InstrID) []InstrID { return l.to[l.begin[id]:l.begin[id+1]] }

// inverted is lists of sources by target: those of id are ids[off[id]:off[id+1]]. They ascend, and name each source once.
func (l *edgeLists) inverted() (off []uint32, ids []InstrID) {
	n := uint32(len(l.begin) - 1)
	off = make([]uint32, n+2) // while lists are filled, off[id+1] is where the next source of id goes
	l.eachEdge(func(_, to InstrID) { off[to+2]++ })
	for i := 2; i < len(off); i++ {
		off[i] += off[i-1]
	}
	ids = make([]InstrID, off[n+1])
	l.eachEdge(func(from, to InstrID) {
		ids[off[to+1]] = from
		off[to+1]++
	})
	return off[:n+1], ids
}

// eachEdge yields the edges to ids below the limit, each once though it may be there several times, by source.
func (l *edgeLists) eachEdge(yield func(from, to InstrID)) {
	const few = 8
	limit := InstrID(len(l.begin) - 1)
	var seen []InstrID // by target: the last of the sources with many edges, plus one
	for from := range limit {
		edges := l.of(from)
		if len(edges) > few && seen == nil {
			seen = make([]InstrID, limit)
		}
		for i, to := range edges {
			switch {
			case to >= limit:
			case len(edges) > few:
				if seen[to] != from+1 {
					seen[to] = from + 1
					yield(from, to)
				}
			case !contains(edges[:i], to):
				yield(from, to)
			}
		}
	}
}

// contains is [slices.Contains] for the few edges of most instructions, inlined.
func contains(edges []InstrID, id InstrID) bool {
	for _, e := range edges {
		if e == id {
			return true
		}
	}
	return false
}
