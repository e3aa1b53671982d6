// Package workqueue runs tasks: the threads of the runtime.
//
// A [Queue] has two pools. Compute tasks ([Queue.AddTask]) run on a fixed set
// of workers and never wait; tasks that block on the outside world
// ([Queue.AddBlockingTask]) run beside them under a limit of their own.
// Results come back as async values, and a queue is an [async.Executor], so
//
//	q, err := workqueue.New("multi:8")
//	defer q.Close()
//	sum := async.MakeAsync(q, func() (int, error) { return heavy(), nil })
//	err = q.Await(ctx, sum.Value())
//
// is the whole story for most callers. [NewMulti] is the queue for speed;
// [NewSingle] has no threads at all and runs everything in order inside Await
// and Quiesce, which makes tests repeat exactly.
//
// Handing a task over costs about as much as a microsecond of arithmetic. Do
// not hand over less than about two; [Queue.ParallelFor] is the way to split
// bigger work, and takes a grain to say how small a part may be.
package workqueue

import (
	"context"

	"github.com/gohalo/halo/runtime/async"
)

// Queue runs tasks. All methods are safe for concurrent use. Any order of
// execution is legal but that of [NewSingle], which is first in, first out.
type Queue interface {
	// AddTask arranges for task to run on a compute worker. It never blocks
	// and never runs task inside the call, unless the queue is closed. Tasks
	// may take short locks and must not wait for other tasks. A panic in a
	// task ends the process, as in any goroutine: who runs code of others in
	// a task recovers there.
	AddTask(task func())

	// AddBlockingTask arranges for task, which may block, to run outside the
	// compute workers. It reports false, and does not run task, if it cannot
	// be taken; the caller keeps it then, and must not run it on a compute
	// worker.
	AddBlockingTask(task func(), admission Admission) bool

	// Await blocks until all values are available, or ctx ends, in which case
	// it returns the error of ctx. What the values are, concrete or errors,
	// is not its concern. It returns a FailedPrecondition status at once if
	// called on a compute worker, which must not wait.
	Await(ctx context.Context, values ...*async.Value) error

	// Quiesce blocks until nothing is queued or running in either pool,
	// including what is added meanwhile by the tasks themselves. It panics on
	// a compute worker, which would wait for itself.
	Quiesce()

	// ParallelFor calls body on disjoint ranges lo..hi that cover 0..n, from
	// several workers at once, and returns when all calls have returned. The
	// caller works too and waits for no task that has not started, so that it
	// may be called from anywhere, a compute worker or another body included.
	// Every lo is a multiple of grain, the least number of items worth
	// handing over; work of one grain or less runs inline, in one call. How
	// many calls there are is not specified: results must not depend on it.
	// When a body panics the remaining ranges may be skipped, and ParallelFor
	// panics with a *[BodyPanic].
	ParallelFor(n, grain int, body func(lo, hi int))

	// ParallelismLevel returns the number of compute workers, a hint for how
	// finely to split.
	ParallelismLevel() int

	// IsInWorkerThread reports whether the caller runs on a compute worker of
	// this queue. Use it to check contracts, not to steer: on processors other
	// than amd64 and arm64 it costs microseconds.
	IsInWorkerThread() bool

	// Close waits as Quiesce does and stops the workers. Later compute tasks
	// run inside AddTask, later blocking tasks are not taken.
	Close()
}

// Admission says what a blocking task needs.
type Admission uint8

const (
	// MayQueue lets a task wait until others have finished.
	MayQueue Admission = iota

	// MustStart makes a task start in finite time even if all others hang:
	// two tasks that wait for each other both need it.
	MustStart
)

// Autonomous is a [Queue] whose tasks run whether anybody waits for them or not, so that a waiter may block on anything that a task ends.
type Autonomous interface {
	Queue
	Autonomous()
}

var errAwaitOnWorker = &async.Status{
	Code:    async.FailedPrecondition,
	Message: "Await called on a worker of the queue, which must not wait",
}

const quiesceOnWorker = "workqueue: Quiesce called on a worker of the queue, which would wait for itself"
