package workqueue

import (
	"sync"
	"sync/atomic"
)

// deque holds the tasks of one worker: it takes the newest, thieves take the
// oldest. A short mutex guards it; on few cores that measures the same as a
// lock-free deque, and it lets thieves take several tasks at once.
type deque struct {
	mu    sync.Mutex
	size  atomic.Int32 // readable without the lock, to look for work
	first int          // index of the oldest task in ring
	ring  []func()     // length is a power of two
	_     [128]byte    // keep neighbours' locks off these cache lines
}

// push adds a task at the newest end. The ring grows as needed, so the memory
// of a queue is bounded by the number of tasks its users have outstanding.
func (d *deque) push(task func()) {
	d.mu.Lock()
	n := int(d.size.Load())
	if n == len(d.ring) {
		d.grow()
	}
	d.ring[(d.first+n)&(len(d.ring)-1)] = task
	d.size.Store(int32(n + 1))
	d.mu.Unlock()
}

func (d *deque) grow() {
	ring := make([]func(), max(64, 2*len(d.ring)))
	n := copy(ring, d.ring[d.first:])
	copy(ring[n:], d.ring[:d.first])
	d.first, d.ring = 0, ring
}

// popNewest removes the task added last, or returns nil.
func (d *deque) popNewest() func() {
	if d.size.Load() == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := int(d.size.Load())
	if n == 0 {
		return nil
	}
	slot := &d.ring[(d.first+n-1)&(len(d.ring)-1)]
	task := *slot
	*slot = nil
	d.size.Store(int32(n - 1))
	return task
}

// popOldest removes the task that waits longest, or returns nil.
func (d *deque) popOldest() func() {
	var one [1]func()
	d.takeOldest(one[:])
	return one[0]
}

// takeOldest moves up to half of the tasks, rounded up, and no more than
// len(to), from the oldest end into to. It returns how many.
func (d *deque) takeOldest(to []func()) int {
	if d.size.Load() == 0 {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := int(d.size.Load())
	k := min(len(to), (n+1)/2)
	for i := range k {
		slot := &d.ring[d.first]
		to[i] = *slot
		*slot = nil
		d.first = (d.first + 1) & (len(d.ring) - 1)
	}
	d.size.Store(int32(n - k))
	return k
}
