package async

import (
	"context"
	"sync/atomic"
)

// RunWhenReady runs f once, when all of vs are available: now if they are
// already or there are none, else on the goroutine that publishes the last. It
// waits for all of them even if some are errors. f does not keep the values
// alive.
func RunWhenReady(vs []*Value, f func()) {
	open := 0
	var last *Value
	for _, v := range vs {
		if v.IsUnavailable() {
			open++
			last = v
		}
	}
	switch open {
	case 0:
		f()
	case 1:
		last.AndThen(f)
	default:
		join := &joint{f: f, waiters: make([]Waiter, open)}
		join.run(vs)
	}
}

// joint counts down the values that RunWhenReady waits for.
type joint struct {
	left    atomic.Int32
	f       func()
	waiters []Waiter
}

func (j *joint) run(vs []*Value) {
	// One count more than waiters, given back at the end: no waiter that
	// runs meanwhile can be the last.
	j.left.Store(int32(len(j.waiters)) + 1)
	used := 0
	for _, v := range vs {
		// A value published since it was counted needs no waiter, and one
		// that was available then is still so: there are always enough.
		if v.IsUnavailable() {
			v.AndThenCall(&j.waiters[used], joinOne, j)
			used++
		}
	}
	if j.left.Add(int32(used-len(j.waiters)-1)) == 0 {
		j.f()
	}
}

func joinOne(arg any) Ready {
	j := arg.(*joint)
	if j.left.Add(-1) == 0 {
		j.f()
	}
	return Ready{}
}

// BlockUntilReady blocks the calling goroutine until all of vs are available.
// It must not be called from a kernel, a waiter or a task of a work queue.
func BlockUntilReady(vs ...*Value) { _ = Await(context.Background(), vs...) }

// Await is BlockUntilReady that gives up, with the error of ctx, when ctx ends
// first. The errors of the values are not its errors.
func Await(ctx context.Context, vs ...*Value) error {
	var done chan struct{}
	for _, v := range vs {
		if v.IsAvailable() {
			continue
		}
		done = make(chan struct{})
		RunWhenReady(vs, func() { close(done) })
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
