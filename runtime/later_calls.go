package runtime

import (
	"slices"
	"unsafe"
)

// What takes long to prepare pays for a kernel that has run some thousand times and will go on. Such a kernel may have other calls from then on: fewer ones, as
// a rule, of loops that take more than three operands. They may be given a table of addresses, and have memory that keeps its contents from one run to the next.

// LaterCalls do what [Bound.Run] does.
type LaterCalls struct {
	Calls []SmallCall // or none
	Room  int         // bytes of memory of their own, which no other execution uses
}

// laterSteps are the calls of a step.
type laterSteps struct {
	pc int
	LaterCalls
}

// laterState is what an activation has for them.
type laterState struct {
	room   []byte
	tables [][]unsafe.Pointer // in the order of the calls
}

// callsOfLater is about how many calls of loops take as long as a later call.
const callsOfLater = 3

// askLater asks the steps for later calls that are better than the small ones.
func (t *tensorFunction) askLater() {
	for pc := range t.steps {
		s := &t.steps[pc]
		if s.later == nil || s.small != nil && len(s.small) < callsOfLater {
			continue
		}
		if calls := s.later(); len(calls.Calls) > 0 {
			t.later = append(t.later, laterSteps{pc, calls})
		}
	}
}

// keepLater forgets the later calls of steps that are linked.
func (t *tensorFunction) keepLater() {
	t.later = slices.DeleteFunc(t.later, func(l laterSteps) bool {
		return slices.ContainsFunc(t.linked, func(s *scalarSteps) bool { return s.first <= l.pc && l.pc < s.end })
	})
}

// calls is about how many calls of loops take as long as a step.
func (t *tensorFunction) calls(pc int) int {
	n := t.steps[pc].calls()
	if i, ok := slices.BinarySearchFunc(t.later, pc, func(l laterSteps, pc int) int { return l.pc - pc }); ok {
		n = min(n, callsOfLater*len(t.later[i].Calls))
	}
	return n
}

// newLaterState makes room for later calls.
func newLaterState(s *laterSteps) laterState {
	var l laterState
	if s.Room > 0 {
		l.room = AlignedBytes(int64(s.Room))
	}
	for i := range s.Calls {
		c := &s.Calls[i]
		for _, p := range [...]*Place{&c.D, &c.A, &c.B, &c.C} {
			if p.Kind == InTable {
				l.tables = append(l.tables, make([]unsafe.Pointer, len(p.Table)))
			}
		}
	}
	return l
}

// bind appends the calls on a frame.
func (l *laterState) bind(calls []boundCall, s *laterSteps, f *TensorFrame) []boundCall {
	tables := l.tables
	find := func(p *Place) unsafe.Pointer {
		if p.Kind != InTable {
			return l.place(p, f)
		}
		table := tables[0]
		tables = tables[1:]
		for i := range p.Table {
			table[i] = l.place(&p.Table[i], f)
		}
		return unsafe.Pointer(&table[0])
	}
	for i := range s.Calls {
		c := &s.Calls[i]
		calls = append(calls, boundCall{loop: c.Loop, n: c.N, d: find(&c.D), a: find(&c.A), b: find(&c.B), c: find(&c.C), pc: s.pc})
	}
	return calls
}

func (l *laterState) place(p *Place, f *TensorFrame) unsafe.Pointer {
	if p.Kind == InRoom {
		return unsafe.Pointer(&l.room[p.Offset])
	}
	return p.in(f)
}

// RunLater makes the calls on a frame. It is for tests.
func RunLater(calls LaterCalls, f *TensorFrame) {
	s := laterSteps{LaterCalls: calls}
	l := newLaterState(&s)
	for _, c := range l.bind(nil, &s, f) {
		c.loop(c.n, c.d, c.a, c.b, c.c)
	}
}
