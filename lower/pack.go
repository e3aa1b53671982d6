package lower

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/gohalo/halo/runtime"
)

// pack places the storages of the function's own frame, and the frames of its callees, at offsets such that no two that are alive at
// the same time overlap: the largest first, each at the lowest offset that is free during its life. That search looks at everything placed
// before; of the functions with more pieces than [searched], the smallest, which hardly add to the size, take turns in places of their size.
func (f *function) pack() {
	pieces := make([]piece, 0, len(f.stores))
	for i := range f.stores {
		if s := &f.stores[i]; s.slot.Kind == runtime.SlotArena {
			pieces = append(pieces, piece{n: len(pieces), bytes: align(s.bytes), life: life{s.first, s.last, s.uses}, offset: &s.slot.Index})
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
		if o.control.Detached {
			continue
		}
		last := k
		if o.chain != nil {
			last = o.chain.done
		}
		pieces = append(pieces, piece{n: len(pieces), bytes: align(bytes), life: life{k, last, []int{k, last}}, frames: o.control.Frames})
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.n, b.n)) })
	large := pieces[:min(len(pieces), searched)]
	space := arena{apart: f.apart, taken: make([]span, 0, len(large))}
	for i := range large {
		p := &large[i]
		p.place(space.reserve(p.bytes, p.life))
	}
	small := pieces[len(large):]
	slices.SortStableFunc(small, func(a, b piece) int { return cmp.Compare(a.first, b.first) })
	turns := turns{at: space.size, places: make(map[int64]*readyPlaces)}
	for i := range small {
		p := &small[i]
		if f.segments != nil { // there are no turns where much runs at the same time
			p.place(turns.at)
			turns.at += p.bytes
			continue
		}
		p.place(turns.reserve(p.bytes, p.first, p.last))
	}
	f.frameBytes = turns.at
}

// piece is a storage or the frames of an op's callees, which want a place.
type piece struct {
	n     int // in the order of the function
	bytes int64
	life
	offset *int64
	frames []int64
}

func (p *piece) place(at int64) {
	if p.offset != nil {
		*p.offset = at
	}
	for i := range p.frames {
		p.frames[i] = at
	}
}

// searched is how many pieces are placed by search, which takes time in its square.
const searched = 4096

// turns gives out places of the same size one after the other. Reservations come in the order of their first op.
type turns struct {
	at     int64 // where the next new place begins
	places map[int64]*readyPlaces
}

func (t *turns) reserve(bytes int64, first, last int) int64 {
	if bytes == 0 {
		return 0
	}
	q := t.places[bytes]
	if q == nil {
		q = new(readyPlaces)
		t.places[bytes] = q
	}
	if q.Len() > 0 && (*q)[0].life.last < first {
		at := (*q)[0].at
		(*q)[0].life.last = last
		heap.Fix(q, 0)
		return at
	}
	at := t.at
	t.at += bytes
	heap.Push(q, span{at: at, life: life{last: last}})
	return at
}

// readyPlaces is a heap of places of one size, the first to be free on top.
type readyPlaces []span

func (q readyPlaces) Len() int { return len(q) }
func (q readyPlaces) Less(i, j int) bool {
	return q[i].life.last < q[j].life.last || q[i].life.last == q[j].life.last && q[i].at < q[j].at
}
func (q readyPlaces) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *readyPlaces) Push(x any)   { *q = append(*q, x.(span)) }
func (q *readyPlaces) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func align(n int64) int64 { return (n + runtime.BufferAlign - 1) &^ (runtime.BufferAlign - 1) }

// arena remembers which bytes are taken during which ops.
type arena struct {
	taken []span // ascending by offset
	size  int64
	apart func(x, y *life) bool // whether two lives never overlap
}

type span struct {
	at, end int64
	life    life
}

// life is when a piece of memory is in use: from one op to another, or, where ops run beside each other, from one op to all of some others.
type life struct {
	first, last int
	uses        []int
}

// apart reports whether one life is over before the other begins.
func (f *function) apart(x, y *life) bool {
	if f.segments == nil {
		return x.first > y.last || x.last < y.first
	}
	over := func(x, y *life) bool {
		return !slices.ContainsFunc(x.uses, func(u int) bool { return !f.before(u, y.first) })
	}
	return over(x, y) || over(y, x)
}

// reserve finds the lowest offset where bytes are free during a life.
func (a *arena) reserve(bytes int64, l life) int64 {
	if bytes == 0 {
		return 0
	}
	at := int64(0)
	for i := range a.taken {
		s := &a.taken[i]
		if s.at >= at+bytes {
			break
		}
		if !a.apart(&s.life, &l) {
			at = max(at, s.end)
		}
	}
	s := span{at, at + bytes, l}
	i, _ := slices.BinarySearchFunc(a.taken, s, func(x, y span) int { return cmp.Compare(x.at, y.at) })
	a.taken = slices.Insert(a.taken, i, s)
	a.size = max(a.size, s.end)
	return at
}
