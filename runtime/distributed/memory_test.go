package distributed_test

import (
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/gohalo/halo/runtime/distributed"
)

// fabric carries messages between wires of one process: jobs without a library. Messages are matched by sender, receiver, context and tag, in order.
type fabric struct {
	mu      sync.Mutex
	size    int
	boxes   map[box]*queue
	anyone  map[box]*queue // of receives from any rank
	next    distributed.Request
	done    map[distributed.Request]bool
	aborted []int // exit statuses
	silent  map[int]bool
}

type box struct{ context, from, to, tag int }

type queue struct {
	sent    [][]byte
	waiting []waiting
}

type waiting struct {
	into []byte
	id   distributed.Request
}

func newFabric(size int) *fabric {
	return &fabric{size: size, boxes: make(map[box]*queue), anyone: make(map[box]*queue), done: make(map[distributed.Request]bool), silent: make(map[int]bool)}
}

// wire is the end of one process.
type wire struct {
	*fabric
	rank, contexts int
	late           *rand.Rand
}

func (f *fabric) open(rank int) func() (distributed.Wire, error) {
	return func() (distributed.Wire, error) {
		return &wire{fabric: f, rank: rank, late: rand.New(rand.NewPCG(uint64(rank), 0))}, nil
	}
}

func (w *wire) Rank() int   { return w.rank }
func (w *wire) Size() int   { return w.size }
func (w *wire) MaxTag() int { return 1<<15 - 1 }

// Split numbers contexts: every process makes the same ones. Processes of different colors have no messages for each other.
func (w *wire) Split([]int) (int, error) {
	w.contexts++
	return w.contexts, nil
}

func at(m map[box]*queue, b box) *queue {
	if m[b] == nil {
		m[b] = &queue{}
	}
	return m[b]
}

func (w *wire) Send(context, to, tag int, data []byte) (distributed.Request, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	w.done[w.next] = true
	for _, q := range []*queue{at(w.boxes, box{context, w.rank, to, tag}), at(w.anyone, box{context, distributed.AnyRank, to, tag})} {
		if len(q.waiting) > 0 {
			copy(q.waiting[0].into, data)
			w.done[q.waiting[0].id] = true
			q.waiting = q.waiting[1:]
			return w.next, nil
		}
	}
	q := at(w.boxes, box{context, w.rank, to, tag})
	q.sent = append(q.sent, append([]byte(nil), data...))
	return w.next, nil
}

func (w *wire) Receive(context, from, tag int, into []byte) (distributed.Request, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	for r := range w.size {
		if from != distributed.AnyRank && from != r {
			continue
		}
		if q := at(w.boxes, box{context, r, w.rank, tag}); len(q.sent) > 0 {
			copy(into, q.sent[0])
			q.sent = q.sent[1:]
			w.done[w.next] = true
			return w.next, nil
		}
	}
	m := w.boxes
	if from == distributed.AnyRank {
		m = w.anyone
	}
	q := at(m, box{context, from, w.rank, tag})
	q.waiting = append(q.waiting, waiting{into, w.next})
	return w.next, nil
}

func (w *wire) Test(requests []distributed.Request, done []int) ([]int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range requests {
		if w.done[r] && !w.silent[w.rank] && w.late.IntN(4) > 0 { // not in the order in which they were moved
			delete(w.done, r)
			requests[i] = distributed.NoRequest
			done = append(done, i)
		}
	}
	return done, nil
}

func (w *wire) Cancel(distributed.Request) {}
func (w *wire) Yield()                     { runtime.Gosched() }
func (w *wire) Close() error               { return nil }

func (w *wire) Abort(code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.aborted = append(w.aborted, code)
}
