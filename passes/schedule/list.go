package schedule

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/gohalo/halo/hlo/pass"
)

// schedule is list scheduling from the end backwards.
//
//  1. An instruction is free when all that comes after it is placed. A step that binds the last operand of a chain has to wait until as much time
//     as the chain takes lies between it and the done.
//  2. Of what is free and need not wait, take dones first, then what makes a done free, then the last in the old order. Where memory is short, take
//     what needs less of it.
//  3. If everything has to wait, take what has to wait the least. A done whose chain would be one too many waits until another has begun, and so does what
//     has chains under way inside.
//  4. A group is free when all that comes after any of its members is placed. Then its members are placed, one after the other by the same rules. A
//     group between whose members something else lies is given up.
func (g *graph) schedule(ctx *pass.Context, h *hiding, memory int64) []int {
	for _, n := range g.split(g.deps) {
		g.remarkGivenUp(ctx, n)
		g.dissolve(n)
	}
	l := newList(g, h, memory)
	for len(l.order) < len(g.deps.Order) {
		if l.len() == 0 {
			if l.yield() {
				continue
			}
			n := g.smallest(l.placed)
			g.remarkGivenUp(ctx, n)
			l.giveUp(n)
			continue
		}
		if it := l.pop(); it.group > 0 {
			l.placeGroup(it.group - 1)
		} else {
			l.try(it.i)
		}
	}
	slices.Reverse(l.order)
	return l.order
}

func (g *graph) remarkGivenUp(ctx *pass.Context, n int) {
	if ctx.Remarks() {
		ctx.Missed(g.deps.Order[g.members[n][0]], "the scheduling group %s is given up: something lies between its members", g.names[n])
	}
}

// list is a schedule in the making.
type list struct {
	*queues
	g     *graph
	h     *hiding
	limit int64 // of memory; 0 for none

	now      float64
	order    []int // from the end
	placed   []bool
	at       []float64     // when each was placed
	left     []int         // of what comes after each, how much is not placed
	dueFor   map[int][]int // of a binder: the dones of its chains
	underWay resources
	held     []int // free, but one too many
	memory   *tracker

	outside []int   // of groups: edges to what comes after them that is not placed
	inside  int     // the group that is being placed, or -1
	outer   *queues // of the rest meanwhile
}

// queues hold what is free: ready now, or to wait until its time.
type queues struct{ ready, stalled queue }

func (q *queues) len() int { return q.ready.Len() + q.stalled.Len() }

func newList(g *graph, h *hiding, memory int64) *list {
	n := len(g.deps.Order)
	l := &list{queues: new(queues), g: g, h: h, limit: memory, placed: make([]bool, n), at: make([]float64, n), left: make([]int, n), dueFor: map[int][]int{},
		underWay: resources{}, memory: g.memory.track(), outside: make([]int, len(g.members)), inside: -1, order: make([]int, 0, n)}
	for done, binder := range g.binder {
		l.dueFor[binder] = append(l.dueFor[binder], done)
	}
	for i := range n {
		l.left[i] = len(g.deps.After(i))
		if k := g.of[i]; k >= 0 {
			for _, u := range g.deps.After(i) {
				if g.of[u] != k {
					l.outside[k]++
				}
			}
		}
	}
	for k := range g.members {
		if l.outside[k] == 0 && len(g.members[k]) > 0 {
			l.pushGroup(k)
		}
	}
	for i := range n {
		if l.left[i] == 0 {
			l.free(i)
		}
	}
	return l
}

// free is told of what has become free.
func (l *list) free(i int) {
	k := l.g.of[i]
	switch {
	case k < 0:
		to := l.queues
		if l.outer != nil {
			to = l.outer
		}
		to.push(l.item(i), l.now)
	case k == l.inside:
		l.push(l.item(i), l.now)
	}
}

func (l *list) pushGroup(k int) {
	members := l.g.members[k]
	it := item{i: slices.Max(members), group: k + 1, rank: 3}
	for _, i := range members {
		it.rank = min(it.rank, l.rank(i))
	}
	to := l.queues
	if l.outer != nil {
		to = l.outer
	}
	to.push(it, l.now)
}

func (l *list) item(i int) item {
	it := item{i: i, rank: l.rank(i), delay: l.g.delay[i]}
	for _, done := range l.dueFor[i] {
		it.due = max(it.due, l.at[done]+l.g.latency[done])
	}
	return it
}

func (l *list) rank(i int) int {
	switch {
	case l.g.hint[i] > 0:
		return 0
	case l.g.hint[i] < 0:
		return 4
	}
	if _, done := l.g.latency[i]; done {
		return 1
	}
	for _, p := range l.g.deps.Before(i) {
		if _, done := l.g.latency[p]; done {
			return 2
		}
	}
	return 3
}

// try places i, or holds it back.
func (l *list) try(i int) {
	more := l.g.uses[i]
	if kind, done := l.g.kind[i]; done {
		more = resources{kind: 1}
	}
	if len(more) > 0 && !l.h.fits(l.underWay, more) {
		l.held = append(l.held, i)
		return
	}
	l.place(i)
}

func (l *list) place(i int) {
	if kind, done := l.g.kind[i]; done {
		l.underWay[kind]++
	}
	if dones := l.dueFor[i]; len(dones) > 0 {
		for _, done := range dones {
			l.underWay[l.g.kind[done]]--
		}
		held := l.held
		l.held = nil
		for _, k := range held {
			l.free(k)
		}
	}
	l.placed[i], l.at[i] = true, l.now
	l.now += l.g.seconds[i]
	l.memory.place(i)
	l.order = append(l.order, i)
	for _, p := range l.g.deps.Before(i) {
		if k := l.g.of[p]; k >= 0 && k != l.g.of[i] {
			if l.outside[k]--; l.outside[k] == 0 {
				l.pushGroup(k)
			}
		}
		if l.left[p]--; l.left[p] == 0 {
			l.free(p)
		}
	}
}

// yield places what is held back, when nothing else is left: the limit cannot be kept.
func (l *list) yield() bool {
	if len(l.held) == 0 {
		return false
	}
	i := l.held[0]
	l.held = l.held[1:]
	l.place(i)
	return true
}

// placeGroup places the members of a group, one after the other.
func (l *list) placeGroup(k int) {
	outer, held := l.queues, l.held
	l.queues, l.outer, l.inside, l.held = new(queues), outer, k, nil
	for _, i := range l.g.members[k] {
		if l.left[i] == 0 {
			l.free(i)
		}
	}
	for range l.g.members[k] {
		for end := len(l.order) + 1; len(l.order) < end; {
			switch {
			case l.len() == 0:
				l.yield()
			case l.g.ordered[k]:
				l.place(l.last())
			default:
				l.try(l.pop().i)
			}
		}
	}
	l.queues, l.outer, l.inside, l.held = outer, nil, -1, held
	for _, i := range l.held {
		l.free(i)
	}
	l.held = nil
}

// last takes what is the last in the old order.
func (l *list) last() int {
	all := slices.Concat(l.ready, l.stalled)
	i := slices.MaxFunc(all, func(a, b item) int { return cmp.Compare(a.i, b.i) }).i
	gone := func(it item) bool { return it.i == i }
	l.ready, l.stalled = slices.DeleteFunc(l.ready, gone), slices.DeleteFunc(l.stalled, gone)
	heap.Init(&l.ready)
	heap.Init(&l.stalled)
	return i
}

// giveUp frees the members of a group one by one.
func (l *list) giveUp(k int) {
	members := l.g.members[k]
	l.g.dissolve(k)
	for _, i := range members {
		if l.left[i] == 0 {
			l.free(i)
		}
	}
}

func (q *queues) push(it item, now float64) {
	if it.due > now {
		heap.Push(&q.stalled, it)
	} else {
		it.due = 0
		heap.Push(&q.ready, it)
	}
}

func (l *list) pop() item {
	for l.stalled.Len() > 0 && l.stalled[0].due <= l.now {
		it := heap.Pop(&l.stalled).(item)
		it.due = 0
		heap.Push(&l.ready, it)
	}
	if l.ready.Len() > 0 {
		return l.lightest(heap.Pop(&l.ready).(item))
	}
	it := heap.Pop(&l.stalled).(item)
	l.now = max(l.now, it.due)
	return it
}

// mostWeighed bounds how many free instructions are compared by their memory.
const mostWeighed = 64

// lightest is the first choice, or what needs less memory where that is short: when more than half of the limit is in use, the first that keeps
// within it, or else the one that grows least.
func (l *list) lightest(first item) item {
	if l.limit == 0 || l.memory.now <= l.limit/2 || first.group > 0 || l.memory.now+l.memory.growth(first.i) <= l.limit {
		return first
	}
	best := first
	var others []item
	for l.ready.Len() > 0 && len(others) < mostWeighed {
		it := heap.Pop(&l.ready).(item)
		others = append(others, it)
		if it.group == 0 && l.memory.growth(it.i) < l.memory.growth(best.i) {
			best = it
		}
	}
	for _, it := range append(others, first) {
		if it.i != best.i {
			heap.Push(&l.ready, it)
		}
	}
	return best
}

// item is a free instruction, or group.
type item struct {
	i     int
	group int // counted from 1; 0: i alone
	due   float64
	rank  int
	delay int
}

type queue []item

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case a.due != b.due:
		return a.due < b.due
	case a.rank != b.rank:
		return a.rank < b.rank
	case a.delay != b.delay:
		return a.delay > b.delay
	}
	return a.i > b.i
}
