package async

import "sync/atomic"

// CountDown makes a value concrete after a number of steps, which may be taken
// from any goroutines.
type CountDown[T any] struct {
	ref  Ref[T]
	left atomic.Int64
	err  atomic.Pointer[Status]
}

// NewCountDown returns a count of n steps for r, a constructed value whose
// reference it takes over. With n = 0 the value becomes concrete at once.
func NewCountDown[T any](r Ref[T], n int) *CountDown[T] {
	if n < 0 {
		panic("async: negative countdown")
	}
	c := &CountDown[T]{ref: r}
	c.left.Store(int64(n))
	if n == 0 {
		c.publish()
	}
	return c
}

// CountDown takes k steps and reports whether they completed the count; k = 0
// asks whether it is complete and changes nothing. A non-nil err makes the
// value an error at the final step, not earlier; of several the last wins. It
// panics if fewer than k steps were left.
func (c *CountDown[T]) CountDown(k int, err error) bool {
	if k == 0 {
		return c.left.Load() <= 0
	}
	if err != nil {
		c.err.Store(StatusOf(err))
	}
	left := c.left.Add(-int64(k))
	if left < 0 {
		panic("async: countdown below zero")
	}
	if left == 0 {
		c.publish()
	}
	return left == 0
}

func (c *CountDown[T]) publish() {
	ref := c.ref // a waiter may let go of c
	var ready Ready
	if st := c.err.Load(); st != nil {
		ready = ref.v.SetErrorLater(st)
	} else {
		ready = ref.setConcrete()
	}
	ready.Run()
	ref.Drop()
}
