package memory

import (
	"container/heap"
	"math"

	"github.com/gohalo/halo/hlo/analysis"
)

// sweep follows an order from its beginning, with what is in memory at each instruction.
//
//  1. Before an instruction, what it reads and is not in memory is made again, with what that needs.
//  2. Where there is more than the limit with the instruction's result, values are given up: of those that are read again later, but not here, the one
//     that takes the least time for a byte. It is free from here to where it is read next, and what it is made of must be there then.
//  3. After the instruction, what is not read again is free.
//
// A value that was given up is made again once, where it is read next: programs grow by no more than the values that are given up, and those are no
// more than there are instructions.
type sweep struct {
	*lives
	limit   int64
	longest int               // the most instructions that may be made again for one value
	least   int64             // the fewest bytes that are worth it
	callee  func(i int) int64 // what the computations that an instruction calls need
	spend   func() bool

	uses   []positions // by value: where it is read after now; the end of the order for what is kept
	last   []int       // the greatest of them
	live   []bool
	pinned []bool // a tuple or a chain holds it: it cannot be made again for who reads it there
	prices []float64
	ready  candidates
	now    int64
	peak   int64
	floor  int64 // what the instruction that reads and makes most needs for itself

	// What instructions have become: the number of the copy that stands for them, plus one, and of which copy of their value a view is one.
	copyOf, viewOf []int
	copies         []again
	changes        []change
	given          []int   // values, in the order in which they were given up
	inside         []int64 // what is in memory while each instruction runs, but for what it makes itself
}

// again is an instruction that is made again, just before another one. An operand is a position, or a copy: -1 less its number.
type again struct {
	of, before int
	operands   []int
}

// change says that an operand of an instruction is another one now.
type change struct{ at, operand, to int }

// run walks along the order, at whose end some values are kept.
func (s *sweep) run(kept []int) {
	n := len(s.order)
	s.uses, s.last = make([]positions, n), make([]int, n)
	s.live, s.pinned, s.copyOf, s.viewOf = make([]bool, n), make([]bool, n), make([]int, n), make([]int, n)
	s.inside, s.prices = make([]int64, n), make([]float64, n)
	reads := make([][]int, n)
	for i := range s.order {
		reads[i] = s.reads(i)
		for _, v := range reads[i] {
			s.uses[v] = append(s.uses[v], i) // ascending, so that it is a heap
			s.last[v] = i
		}
	}
	for _, v := range kept {
		s.uses[v], s.last[v] = append(s.uses[v], n), n
	}
	for i, in := range s.order {
		touched := reads[i]
		for k := range in.NumOperands() {
			from := s.at[in.Operand(k)]
			if s.base[from] < 0 {
				continue // what holds several values has kept them
			}
			touched = s.make(s.base[from], i, touched)
			if to := s.stands(from, i); to != from {
				s.changes = append(s.changes, change{i, k, to})
			}
		}
		if v := s.base[i]; v >= 0 && v != i {
			s.viewOf[i] = s.copyOf[v]
		}
		inner := max(s.bytes[i], s.callee(i))
		s.step(i, inner)
		s.inside[i] = s.now
		for _, v := range reads[i] {
			inner += s.bytes[v]
		}
		s.floor = max(s.floor, inner)
		if s.base[i] < 0 {
			for _, v := range s.held[i] {
				s.pinned[v] = true
			}
		}
		s.live[i] = true
		s.now += s.bytes[i]
		s.free(i, i)
		for _, v := range touched {
			s.free(v, i)
		}
		if in.IsRoot() && s.base[i] >= 0 {
			s.pinned[s.base[i]] = true
		}
	}
}

// step gives values up until some bytes more fit in at position i.
func (s *sweep) step(i int, bytes int64) {
	s.giveUp(i, bytes)
	s.peak = max(s.peak, s.now+bytes)
}

// free forgets the readers of a value up to position i, and the value if there are no more.
func (s *sweep) free(v, i int) {
	read := false
	for len(s.uses[v]) > 0 && s.uses[v][0] <= i {
		heap.Pop(&s.uses[v])
		read = true
	}
	switch {
	case s.there[v] || !s.live[v]:
	case len(s.uses[v]) == 0:
		s.live[v] = false
		s.now -= s.bytes[v]
	case (read || v == i) && s.again[v] && s.bytes[v] >= s.least && s.bytes[v] > 0 && s.limit < math.MaxInt64:
		heap.Push(&s.ready, candidate{v, s.price(v)})
	}
}

// price is the time to make a value again, for each byte.
func (s *sweep) price(v int) float64 {
	if s.prices[v] == 0 {
		s.prices[v] = s.costs.Of(s.order[v]).Seconds(analysis.OneCore) / float64(s.bytes[v])
	}
	return s.prices[v]
}

// giveUp gives values up until that many bytes more do not exceed the limit, or there are no more that would help.
func (s *sweep) giveUp(i int, bytes int64) {
	var here []candidate
	for s.now+bytes > s.limit && len(s.ready) > 0 && len(s.given) < len(s.order) {
		c := heap.Pop(&s.ready).(candidate)
		v := c.value
		if !s.live[v] || s.pinned[v] || len(s.uses[v]) == 0 {
			continue
		}
		next := s.uses[v][0]
		if next <= i {
			here = append(here, c)
			continue
		}
		p := plan{sweep: s, until: next}
		if next == len(s.order) || !p.make(v) || s.bytes[v]-p.extended < s.least || p.extended >= s.bytes[v] || !s.spend() {
			continue
		}
		s.hold(v, next)
		s.live[v] = false
		s.now -= s.bytes[v]
		s.given = append(s.given, v)
	}
	for _, c := range here {
		heap.Push(&s.ready, c)
	}
}

// hold keeps what a value is made of until a position.
func (s *sweep) hold(v, until int) {
	for id := range s.order[v].OperandIDs() {
		o := s.base[s.at[id]]
		if s.there[o] {
			continue
		}
		gone := !s.live[o] && len(s.uses[o]) == 0
		heap.Push(&s.uses[o], until)
		s.last[o] = max(s.last[o], until)
		if gone {
			s.hold(o, until)
		}
	}
}

// plan finds out whether a value can be made again at a position, and what is in memory longer for it.
type plan struct {
	*sweep
	until, made int
	extended    int64
}

func (p *plan) make(v int) bool {
	if p.made++; p.made > p.longest || !p.again[v] {
		return false
	}
	for id := range p.order[v].OperandIDs() {
		o := p.base[p.at[id]]
		switch {
		case o < 0:
			return false
		case p.there[o]:
		case p.live[o]:
			if p.last[o] < p.until {
				p.extended += p.bytes[o]
			}
		case len(p.uses[o]) > 0: // it is made again anyway
			if p.uses[o][0] > p.until || p.last[o] < p.until {
				p.extended += p.bytes[o]
			}
		case !p.make(o):
			return false
		}
	}
	return true
}

// make makes a value again that is not in memory, just before position i, and returns what is read for it.
func (s *sweep) make(v, i int, touched []int) []int {
	if s.live[v] || s.there[v] {
		return touched
	}
	touched = touched[:len(touched):len(touched)]
	for id := range s.order[v].OperandIDs() {
		o := s.base[s.at[id]]
		touched = append(s.make(o, i, touched), o)
	}
	s.copyOf[v] = s.copied(v, i)
	s.step(i, s.bytes[v])
	s.live[v] = true
	s.now += s.bytes[v]
	return touched
}

// copied makes an instruction again and returns the number of the copy, plus one.
func (s *sweep) copied(at, before int) int {
	var operands []int
	for id := range s.order[at].OperandIDs() {
		operands = append(operands, s.stands(s.at[id], before))
	}
	s.copies = append(s.copies, again{at, before, operands})
	return len(s.copies)
}

// stands is what stands for an instruction before a position: itself, or the last copy, or for a view one of the last copy of its value.
func (s *sweep) stands(at, before int) int {
	v := s.base[at]
	if at != v && v >= 0 && s.viewOf[at] != s.copyOf[v] {
		s.copyOf[at] = s.copied(at, before)
		s.viewOf[at] = s.copyOf[v]
	}
	if s.copyOf[at] > 0 {
		return -s.copyOf[at]
	}
	return at
}

// positions is a heap, the least first.
type positions []int

func (p positions) Len() int           { return len(p) }
func (p positions) Less(i, j int) bool { return p[i] < p[j] }
func (p positions) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *positions) Push(x any)        { *p = append(*p, x.(int)) }
func (p *positions) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// candidates is a heap of values that may be given up, the cheapest first.
type candidates []candidate

type candidate struct {
	value int
	price float64
}

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

func (c candidates) Less(i, j int) bool {
	if c[i].price != c[j].price {
		return c[i].price < c[j].price
	}
	return c[i].value < c[j].value
}
