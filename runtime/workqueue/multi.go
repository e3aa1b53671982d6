package workqueue

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gohalo/halo/runtime/async"
)

// Config sizes a multi-threaded queue. Zero fields mean the defaults.
type Config struct {
	Workers       int // compute workers; default GOMAXPROCS
	Blocking      int // blocking tasks running at once; default 256
	BlockingQueue int // blocking tasks waiting beyond that; default 1024
}

// NewMulti returns a queue with long-lived compute workers that steal from
// each other, and blocking tasks on goroutines of their own. It must be
// closed.
func NewMulti(cfg Config) Queue {
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	q := &multi{}
	q.quiet.L = &q.idleMu
	q.patience.Store(int64(maxSearch))
	q.blocking.init(cfg, q.noteBlockingDone)
	for i := range cfg.Workers {
		q.workers = append(q.workers, &worker{q: q, index: i, wake: make(chan struct{}, 1)})
	}
	q.running.Add(len(q.workers))
	q.idle = slices.Clone(q.workers) // they begin when there is something to do
	q.idleCount.Store(int32(len(q.idle)))
	return q
}

// multi is the multi-threaded queue. Three facts make it lose no task and no
// wake-up:
//
//  1. A producer pushes first and looks for someone to wake after.
//  2. A worker announces that it is idle first and looks for work once more
//     after. It leaves the idle list only under the list's lock.
//  3. A producer may skip waking while some worker is searching, because the
//     searcher looks at every deque again after it has stopped being one, and
//     wakes a successor if it found work.
type multi struct {
	workers   []*worker
	searching atomic.Int32 // workers looking for tasks
	patience  atomic.Int64 // how long to search before parking, in nanoseconds
	apart     apart

	idleMu    sync.Mutex
	idle      []*worker // parked, about to park, or not begun, last in first out
	idleCount atomic.Int32
	quiet     sync.Cond // on idleMu; signalled when the queue may be at rest
	quiescers int

	closed   atomic.Bool
	running  sync.WaitGroup // workers, also those that have not begun
	blocking blockingPool
}

const (
	stealLimit = 32 // tasks moved at once by a thief
	fairTurn   = 64 // every so many turns the oldest task goes first
)

// How long the one searching worker goes on before it parks. A worker that searches starts a task within a few hundred
// nanoseconds; to wake one takes the system ten to a hundred times as long, and searching costs a processor. So the time follows what
// happens, as in a hypervisor that polls before it halts: it doubles when a task came so soon after parking that a
// longer search would have met it, and halves when it did not.
const (
	minSearch = 5 * time.Microsecond
	maxSearch = 50 * time.Microsecond

	looksPerRound = 8 // at the queues, or for the end of a loop, between two at the clock
)

func (q *multi) AddTask(task func()) {
	if q.closed.Load() {
		task()
		return
	}
	q.workers[rand.IntN(len(q.workers))].tasks.push(task)
	q.wakeOne()
}

// wakeOne wakes a parked worker unless one is searching already.
func (q *multi) wakeOne() {
	for q.idleCount.Load() > 0 && q.searching.CompareAndSwap(0, 1) {
		if w := q.popIdle(); w != nil {
			w.start() // it is the searcher now
			makeStealable()
			return
		}
		// All idle workers came back by themselves. A producer may have
		// taken this call for a searcher meanwhile, so look again.
		q.searching.Add(-1)
		if !q.hasWork() {
			return
		}
	}
}

func (q *multi) popIdle() *worker {
	q.idleMu.Lock()
	defer q.idleMu.Unlock()
	n := len(q.idle)
	if n == 0 {
		return nil
	}
	w := q.idle[n-1]
	q.idle = q.idle[:n-1]
	q.idleCount.Store(int32(n - 1))
	return w
}

func (q *multi) hasWork() bool {
	for _, w := range q.workers {
		if w.tasks.size.Load() > 0 {
			return true
		}
	}
	return false
}

// learn adapts the time of searching to how long a worker had been parked when it was needed.
func (q *multi) learn(parked time.Duration) {
	p := time.Duration(q.patience.Load())
	if parked < maxSearch {
		p *= 2
	} else {
		p /= 2
	}
	q.patience.Store(int64(min(max(p, minSearch), maxSearch)))
}

// leaveIdle takes w off the idle list. It reports false if w is not on it any
// more: somebody is waking it.
func (q *multi) leaveIdle(w *worker) bool {
	q.idleMu.Lock()
	defer q.idleMu.Unlock()
	for i, x := range q.idle {
		if x == w {
			q.idle = append(q.idle[:i], q.idle[i+1:]...)
			q.idleCount.Store(int32(len(q.idle)))
			return true
		}
	}
	return false
}

func (q *multi) AddBlockingTask(task func(), admission Admission) bool {
	return q.blocking.add(task, admission)
}

func (q *multi) Await(ctx context.Context, values ...*async.Value) error {
	if allAvailable(values) {
		return nil
	}
	if q.IsInWorkerThread() {
		return errAwaitOnWorker
	}
	return async.Await(ctx, values...)
}

func (q *multi) Autonomous() {}

func (q *multi) Quiesce() {
	if q.IsInWorkerThread() {
		panic(quiesceOnWorker)
	}
	q.idleMu.Lock()
	defer q.idleMu.Unlock()
	q.quiescers++
	for !q.isQuiet() {
		q.quiet.Wait()
	}
	q.quiescers--
}

// isQuiet reports whether nothing runs and nothing is queued. It is called
// under idleMu, so no worker can leave the idle list, and with all of them on
// it nothing changes the deques but outsiders. A blocking task could add a
// compute task and end between two looks; hence no blocking task may exist
// before the look at the workers, nor have been added during it.
func (q *multi) isQuiet() bool {
	for {
		added := q.blocking.added.Load()
		if q.blocking.inflight.Load() > 0 || len(q.idle) < len(q.workers) || q.hasWork() {
			return false
		}
		if q.blocking.added.Load() == added {
			return true
		}
	}
}

func (q *multi) noteBlockingDone() {
	q.idleMu.Lock()
	if q.quiescers > 0 {
		q.quiet.Broadcast()
	}
	q.idleMu.Unlock()
}

func (q *multi) ParallelismLevel() int { return len(q.workers) }

func (q *multi) IsInWorkerThread() bool {
	id := goroutineID()
	for _, w := range q.workers {
		if w.goid.Load() == id {
			return true
		}
	}
	return false
}

func (q *multi) Close() {
	if q.closed.Load() {
		return
	}
	q.Quiesce()
	q.blocking.close()
	q.closed.Store(true)
	for w := q.popIdle(); w != nil; w = q.popIdle() {
		if w.begun {
			w.wake <- struct{}{}
		} else {
			q.running.Done()
		}
	}
	q.running.Wait()
}

func allAvailable(values []*async.Value) bool {
	for _, v := range values {
		if v.IsUnavailable() {
			return false
		}
	}
	return true
}
