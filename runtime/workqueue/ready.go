package workqueue

import "container/heap"

// ReadyQueue holds work that may start, in the order a policy gives it, for
// one goroutine: an executor that runs its own list and hands half of it to
// another when the list grows long. It is not safe for concurrent use.
type ReadyQueue[T any] interface {
	// Push adds x.
	Push(x T)

	// Pop removes the element that is next in order, or reports false.
	Pop() (x T, ok bool)

	// PopHalf removes half of the elements, rounded down, and returns them in
	// a queue of the same order. It takes those that would come last, so that
	// the owner keeps what it is about to run.
	PopHalf() ReadyQueue[T]

	// Len returns the number of elements.
	Len() int
}

// NewFIFO returns a queue that gives out the oldest element first: breadth
// first, good for starting long chains early.
func NewFIFO[T any](elements ...T) ReadyQueue[T] { return &fifo[T]{list: elements} }

// NewLIFO returns a queue that gives out the newest element first: depth
// first, good for caches.
func NewLIFO[T any](elements ...T) ReadyQueue[T] { return &lifo[T]{list: elements} }

// NewPriority returns a queue that gives out the element of highest priority
// first, and equals in no particular order.
func NewPriority[T any](priority func(T) int, elements ...T) ReadyQueue[T] {
	q := &priorityQueue[T]{byPriority[T]{list: elements, priority: priority}}
	heap.Init(&q.heap)
	return q
}

type fifo[T any] struct {
	list []T // list[next:] is what is left
	next int
}

func (q *fifo[T]) Push(x T) { q.list = append(q.list, x) }
func (q *fifo[T]) Len() int { return len(q.list) - q.next }

func (q *fifo[T]) Pop() (x T, ok bool) {
	if q.Len() == 0 {
		return x, false
	}
	x, q.list[q.next] = q.list[q.next], x
	if q.next++; q.next == len(q.list) {
		q.list, q.next = q.list[:0], 0
	}
	return x, true
}

func (q *fifo[T]) PopHalf() ReadyQueue[T] {
	half := cut(&q.list, len(q.list)-q.Len()/2, len(q.list))
	return &fifo[T]{list: half}
}

type lifo[T any] struct{ list []T }

func (q *lifo[T]) Push(x T) { q.list = append(q.list, x) }
func (q *lifo[T]) Len() int { return len(q.list) }

func (q *lifo[T]) Pop() (x T, ok bool) {
	n := len(q.list)
	if n == 0 {
		return x, false
	}
	x, q.list[n-1] = q.list[n-1], x
	q.list = q.list[:n-1]
	return x, true
}

func (q *lifo[T]) PopHalf() ReadyQueue[T] {
	return &lifo[T]{list: cut(&q.list, 0, len(q.list)/2)}
}

type priorityQueue[T any] struct{ heap byPriority[T] }

func (q *priorityQueue[T]) Push(x T) { heap.Push(&q.heap, x) }
func (q *priorityQueue[T]) Len() int { return q.heap.Len() }

func (q *priorityQueue[T]) Pop() (x T, ok bool) {
	if q.Len() == 0 {
		return x, false
	}
	return heap.Pop(&q.heap).(T), true
}

// PopHalf takes the tail of the heap, which is the lower half but for a few
// elements: sorting it out exactly is not worth the time.
func (q *priorityQueue[T]) PopHalf() ReadyQueue[T] {
	list := &q.heap.list
	return NewPriority(q.heap.priority, cut(list, len(*list)-len(*list)/2, len(*list))...)
}

// cut moves (*list)[from:to] into a slice of its own.
func cut[T any](list *[]T, from, to int) []T {
	taken := append([]T(nil), (*list)[from:to]...)
	rest := append((*list)[:from], (*list)[to:]...)
	clear((*list)[len(rest):])
	*list = rest
	return taken
}

// byPriority is a heap with the highest priority at the root.
type byPriority[T any] struct {
	list     []T
	priority func(T) int
}

func (h *byPriority[T]) Len() int           { return len(h.list) }
func (h *byPriority[T]) Less(i, j int) bool { return h.priority(h.list[i]) > h.priority(h.list[j]) }
func (h *byPriority[T]) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *byPriority[T]) Push(x any)         { h.list = append(h.list, x.(T)) }

func (h *byPriority[T]) Pop() any {
	var zero T
	n := len(h.list)
	x := h.list[n-1]
	h.list[n-1] = zero
	h.list = h.list[:n-1]
	return x
}
