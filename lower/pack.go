package lower

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/runtime"
)

// pack places the storages of the function's own frame, and the frames of its callees, at offsets such that no two that are alive at
// the same time overlap: the largest first, each at the lowest offset that is free during its life.
func (f *function) pack() {
	type piece struct {
		bytes       int64
		first, last int
		place       func(offset int64)
	}
	var pieces []piece
	for i := range f.stores {
		if s := &f.stores[i]; s.slot.Kind == runtime.SlotArena {
			pieces = append(pieces, piece{align(s.bytes), s.first, s.last, func(at int64) { s.slot.Index = at }})
		}
	}
	for k := range f.ops {
		o := &f.ops[k]
		if len(o.callees) == 0 {
			continue
		}
		// Branches, and a loop's condition and body, never run at the same time.
		bytes := int64(0)
		for _, c := range o.callees {
			bytes = max(bytes, c.frameBytes)
		}
		o.control.Frames = make([]int64, len(o.callees))
		last := k
		if o.chain != nil {
			last = o.chain.done
			if last < 0 {
				last = len(f.ops)
			}
		}
		pieces = append(pieces, piece{align(bytes), k, last, func(at int64) {
			for i := range o.control.Frames {
				o.control.Frames[i] = at
			}
		}})
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(b.bytes, a.bytes) })
	var space arena
	for _, p := range pieces {
		p.place(space.reserve(p.bytes, p.first, p.last))
	}
	f.frameBytes = space.size
}

func align(n int64) int64 { return (n + runtime.BufferAlign - 1) &^ (runtime.BufferAlign - 1) }

// arena remembers which bytes are taken during which ops.
type arena struct {
	taken []span // ascending by offset
	size  int64
}

type span struct {
	at, end     int64
	first, last int
}

// reserve finds the lowest offset where bytes are free during ops first to last.
func (a *arena) reserve(bytes int64, first, last int) int64 {
	if bytes == 0 {
		return 0
	}
	at := int64(0)
	for _, s := range a.taken {
		if s.first > last || s.last < first {
			continue
		}
		if s.at >= at+bytes {
			break
		}
		at = max(at, s.end)
	}
	s := span{at, at + bytes, first, last}
	i, _ := slices.BinarySearchFunc(a.taken, s, func(x, y span) int { return cmp.Compare(x.at, y.at) })
	a.taken = slices.Insert(a.taken, i, s)
	a.size = max(a.size, s.end)
	return at
}
