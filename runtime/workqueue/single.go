package workqueue

import (
	"context"
	"sync"

	"github.com/gohalo/halo/runtime/async"
)

// NewSingle returns a queue without threads. Tasks run in the order in which
// they were added, on the goroutine that calls Await or Quiesce, and only
// then. Blocking tasks that may queue go on the same list; those that must
// start are not taken.
func NewSingle() Queue {
	q := &single{}
	q.changed.L = &q.mu
	return q
}

type single struct {
	mu      sync.Mutex
	tasks   []func()
	runner  uintptr   // goroutine that is running a task, or 0
	changed sync.Cond // on mu: a task was added or has ended, or a value came
	closed  bool
}

func (q *single) AddTask(task func()) {
	if !q.add(task) {
		task()
	}
}

func (q *single) AddBlockingTask(task func(), admission Admission) bool {
	return admission == MayQueue && q.add(task)
}

func (q *single) add(task func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.tasks = append(q.tasks, task)
	q.changed.Broadcast()
	return true
}

// runUntil runs tasks, and waits when there are none, until stop is true. It
// is called with mu locked, and so is stop. If several goroutines are here,
// one at a time runs a task.
func (q *single) runUntil(stop func() bool) {
	self := goroutineID()
	for !stop() {
		if q.runner != 0 || len(q.tasks) == 0 {
			q.changed.Wait()
			continue
		}
		task := q.tasks[0]
		q.tasks[0] = nil
		q.tasks = q.tasks[1:]
		q.runner = self
		q.runUnlocked(task)
	}
}

func (q *single) runUnlocked(task func()) {
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		q.runner = 0
		q.changed.Broadcast()
	}()
	task()
}

func (q *single) Await(ctx context.Context, values ...*async.Value) error {
	if allAvailable(values) {
		return nil
	}
	if q.IsInWorkerThread() {
		return errAwaitOnWorker
	}
	ready := false // guarded by mu
	async.RunWhenReady(values, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		ready = true
		q.changed.Broadcast()
	})
	defer context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.changed.Broadcast()
	})()

	q.mu.Lock()
	defer q.mu.Unlock()
	q.runUntil(func() bool { return ready || ctx.Err() != nil })
	if ready {
		return nil
	}
	return ctx.Err()
}

func (q *single) Quiesce() {
	if q.IsInWorkerThread() {
		panic(quiesceOnWorker)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.quiesce()
}

func (q *single) quiesce() {
	q.runUntil(func() bool { return q.runner == 0 && len(q.tasks) == 0 })
}

// ParallelFor runs body in the caller.
func (q *single) ParallelFor(n, _ int, body func(lo, hi int)) {
	if n > 0 {
		runInline(n, body)
	}
}

func (q *single) ParallelismLevel() int { return 1 }

// IsInWorkerThread is true inside a task: the goroutine that runs it is the
// queue's worker for that time.
func (q *single) IsInWorkerThread() bool {
	id := goroutineID()
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.runner == id
}

func (q *single) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.quiesce()
	q.closed = true
}

// IsSingle reports whether q has no workers: its tasks run where somebody awaits values, in the order in which they were added.
func IsSingle(q Queue) bool {
	_, is := q.(*single)
	return is
}
