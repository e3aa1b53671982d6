// Package distributed runs the devices of one program in several processes.
//
// A [Job] is the processes that a launcher started together. Its [Transport] is what the devices of a mesh meet through (package
// runtime/devices): it sends each process the parts of the operands that its devices need, and the engine computes on them as if all devices
// were here. So results are the same, bit by bit, for any number of processes.
//
// One goroutine per process, locked to its thread, talks to the [Wire]: it begins messages and polls for their completion, since MPI moves
// nothing on by itself. Nothing else waits in the library: an exchange is a goroutine that waits on a channel.
//
//	wire.go      Wire: what carries messages; package runtime/mpi has the one of Open MPI
//	loop.go      the goroutine that polls
//	task.go      what is under way, and with whom, for reports
//	watch.go     who waits too long; control messages between processes; failures
//	agree.go     all processes run the same program
//	clock.go     what traces want to know: clocks, messages
//	collect.go   bytes of each process for all
//	plan.go      contexts and tags of the collectives of a program
//	transport.go gather.go relay.go reduce.go parcel.go   exchanges
package distributed

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how long to wait. Zero values are the defaults.
type Options struct {
	// Timeout is how long an exchange may wait for another process, 2 minutes by default; negative: for ever.
	Timeout time.Duration
	// Silence is how long a process that is waited for may give no sign of life, 15 seconds by default, and at most Timeout.
	Silence time.Duration
	// Processors are kept for communication: the threads that talk to the wire and that carry out exchanges run on these, all others of the process do not. None: all run where the system puts them.
	Processors []int
	// Log prints a line about what is going on, such as a long wait. It may be nil.
	Log func(line string)
}

// Job is the processes that run a program together. Its methods are called in the same order by all of them.
type Job struct {
	wire       Wire
	rank, size int
	options    Options

	mu      sync.Mutex
	queue   []*batch
	failure error
	told    bool     // the others know of the failure
	onFail  []func() // called once when the job fails
	status  func() []string
	leaving bool // this process has nothing more to do
	abort   int  // exit status to end the job with

	wake   chan struct{}
	ended  chan error    // what closing the wire gave
	parted chan struct{} // all processes are leaving

	transfers atomic.Pointer[func(Transfer)] // see WatchTransfers
	executing atomic.Bool                    // there is an execution under way
	plan      *plan                          // of the last program
	split     map[string]int                 // contexts by the processes in them
	lastSplit int                            // the last context made
}

// Start opens a wire and starts the goroutine that talks to it. It raises GOMAXPROCS, because that goroutine is busy beside those that compute.
func Start(open func() (Wire, error), o Options) (*Job, error) {
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.Silence == 0 {
		o.Silence = 15 * time.Second
	}
	if o.Timeout > 0 {
		o.Silence = min(o.Silence, o.Timeout)
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	j := &Job{options: o, wake: make(chan struct{}, 1), ended: make(chan error, 1), parted: make(chan struct{}), split: make(map[string]int)}
	if len(o.Processors) > 0 {
		if err := reserve(o.Processors); err != nil {
			return nil, err
		}
	}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2) // this goroutine, and one that it wakes, run beside the workers
		if j.reserved() {
			if err := pin(o.Processors); err != nil {
				ready <- err
				return
			}
		}
		w, err := open()
		if err == nil {
			j.wire, j.rank, j.size = w, w.Rank(), w.Size()
		}
		ready <- err
		if err == nil {
			newLoop(j).run()
		}
	}()
	if err := <-ready; err != nil {
		return nil, err
	}
	return j, nil
}

// reserved reports whether processors are kept for communication.
func (j *Job) reserved() bool { return len(j.options.Processors) > 0 }

// Rank is the number of this process.
func (j *Job) Rank() int { return j.rank }

// Size is the number of processes.
func (j *Job) Size() int { return j.size }

// Devices is the range of the devices, of n, that this process has.
func (j *Job) Devices(n int) (from, to int) { return j.rank * n / j.size, (j.rank + 1) * n / j.size }

// RemoteError is a failure of another process.
type RemoteError struct {
	Rank int
	Text string
}

func (e *RemoteError) Error() string { return fmt.Sprintf("rank %d failed: %s", e.Rank, e.Text) }

// Err is what the job has failed with.
func (j *Job) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failure
}

// Fail ends the job: what waits for another process gets the error, and the others are told.
func (j *Job) Fail(err error) { j.fail(err, errors.As(err, new(*RemoteError))) }

func (j *Job) fail(err error, told bool) {
	j.mu.Lock()
	if j.failure != nil {
		j.mu.Unlock()
		return
	}
	j.failure, j.told = err, told
	calls := j.onFail
	j.onFail = nil
	j.mu.Unlock()
	for _, f := range calls {
		go f()
	}
	j.rouse()
}

// failing has f called when the job fails, at once if it has.
func (j *Job) failing(f func()) {
	j.mu.Lock()
	failed := j.failure != nil
	if !failed {
		j.onFail = append(j.onFail, f)
	}
	j.mu.Unlock()
	if failed {
		go f()
	}
}

// rouse wakes the loop.
func (j *Job) rouse() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// patience is how long a process that has failed waits for the others to notice.
const patience = 2 * time.Second

// Close leaves the job: with status 0 when all processes do, else by ending them. It must be the last call, and after a failure the process
// should end with the status soon.
func (j *Job) Close(status int) error {
	if status != 0 {
		j.Fail(fmt.Errorf("exit status %d", status))
	}
	j.mu.Lock()
	j.leaving = true
	failed := j.failure != nil
	j.mu.Unlock()
	j.rouse()
	if failed || j.Err() != nil {
		select {
		case <-j.parted:
		case <-time.After(patience):
		}
		j.mu.Lock()
		j.abort = max(status, 1)
		j.mu.Unlock()
		j.rouse()
		return <-j.ended
	}
	select {
	case err := <-j.ended:
		return err
	case <-j.failed():
		return errors.Join(j.Err(), j.Close(1))
	}
}

// failed is closed when the job fails.
func (j *Job) failed() <-chan struct{} {
	c := make(chan struct{})
	j.failing(func() { close(c) })
	return c
}

// AllGather gives every process what each of them brings, by rank. The name is for reports.
func (j *Job) AllGather(ctx context.Context, name string, mine []byte) ([][]byte, error) {
	return j.collect(ctx, name, mine, true)
}

// Gather gives rank 0 what each process brings, by rank. The others get nil.
func (j *Job) Gather(ctx context.Context, name string, mine []byte) ([][]byte, error) {
	return j.collect(ctx, name, mine, false)
}

// Barrier returns when all processes have called it.
func (j *Job) Barrier(ctx context.Context, name string) error {
	_, err := j.AllGather(ctx, name, nil)
	return err
}
