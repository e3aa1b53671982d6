package workqueue

import (
	"sync/atomic"
	"time"
)

// A system may run two threads on one processor although another one is idle. Linux does when it wakes a thread: as the guest of a hypervisor
// it takes a processor that sleeps for one that was taken away from it. The two share the one processor then until the system balances its load,
// which is many loops later. So those who share a loop look where they run.

// apart keeps those who share loops on processors of their own.
type apart struct {
	moved atomic.Int64 // when somebody moved, in nanoseconds since some time; so that two do not chase each other
}

const (
	// movePause is the time between two moves: a few times what the system takes to wake a thread.
	movePause = time.Millisecond
	// stalled is the time after which a thread that looks for tasks has found one if it runs at all.
	stalled = 50 * time.Microsecond
)

var epoch = time.Now()

// from moves the calling thread to another processor than this one, unless one moved just now.
func (a *apart) from(cpu int32) {
	now, last := int64(time.Since(epoch)), a.moved.Load()
	if now-last >= int64(movePause) && a.moved.CompareAndSwap(last, now) {
		moveAway(cpu)
	}
}
