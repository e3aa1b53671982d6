package hlo

import (
	"slices"
	"sync"
)

// edgeLists holds the edges out of all instructions of a computation, or some of them, in two arrays. Searches go through these: they take a tenth of the room
// of the instructions, which are read once, in the order in which they lie in memory.
type edgeLists struct {
	begin      []uint32  // by id, and one more: where in to the edges of the id begin
	to         []InstrID // those of one instruction after those of another, by id
	missing    []InstrID // ids that no instruction has, if they are wanted
	controlled bool      // there are control predecessors
}

// edgeKinds says which edges are wanted.
type edgeKinds uint8

const (
	operandEdges edgeKinds = 1 << iota
	controlEdges           // to control predecessors, from last to first, before the operands
	firstToLast            // control predecessors as they are listed
	missingIDs             // not edges, but the ids that have none because there is no instruction
)

var edgeRoom = sync.Pool{New: func() any { return new(edgeLists) }}

// edgesOf reads the edges of a kind. They are to be given back with done.
func edgesOf(c *compNode, kinds edgeKinds) *edgeLists {
	l := edgeRoom.Get().(*edgeLists)
	l.collect(c, kinds)
	return l
}

func (l *edgeLists) done() { edgeRoom.Put(l) }

func (l *edgeLists) collect(c *compNode, kinds edgeKinds) {
	// A computation that is edited has some more ids the next time, which should not take another array each time.
	n, count := int(c.instrs.n), int(c.count)
	if cap(l.begin) <= n {
		l.begin = make([]uint32, n+1+n/4)
	}
	if cap(l.to) < 2*count {
		l.to = make([]InstrID, 0, 2*count+count/4)
	}
	if kinds&missingIDs != 0 {
		l.missing = slices.Grow(l.missing[:0], n-count)
	}
	begin, to := l.begin[:n+1], l.to[:0]
	l.controlled = false
	next := uint32(0) // id
	skip := func(end uint32) {
		for ; next < end; next++ {
			begin[next] = uint32(len(to))
			if kinds&missingIDs != 0 {
				l.missing = append(l.missing, InstrID(next))
			}
		}
	}
	c.instrs.eachLeaf(func(slots []*instrNode) bool {
		for _, in := range slots {
			if in == nil {
				continue
			}
			if next < uint32(in.id) {
				skip(uint32(in.id))
			}
			begin[next] = uint32(len(to))
			next++
			if x := in.extra; x != nil && len(x.control) > 0 {
				l.controlled = true
				if kinds&controlEdges != 0 {
					at := len(to)
					to = append(to, x.control...)
					if kinds&firstToLast == 0 {
						slices.Reverse(to[at:])
					}
				}
			}
			if kinds&operandEdges != 0 {
				to = append(to, in.operands()...)
			}
		}
		return true
	})
	skip(c.instrs.n)
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

// pushed is append for lists that become as long as a computation. They take twice the room when it is full: it is memory that is copied and left behind that makes them dear.
func pushed[T any](s []T, v T) []T {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), 8))
	}
	return append(s, v)
}
