package runtime

import (
	"sync"

	"github.com/gohalo/halo/runtime/workqueue"
)

// parallelFor implements TensorFrame.ParallelFor on the queue's own, which chooses its blocks by the number of workers:
// what is handed to it is not elements but whole ranges.
func parallelFor(queue workqueue.Queue, n, grain int, body func(lo, hi int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	if n <= grain {
		body(0, n)
		return
	}
	if queue == nil || queue.ParallelismLevel() <= 1 {
		for lo := 0; lo < n; lo += grain {
			body(lo, min(lo+grain, n))
		}
		return
	}
	r := rangePool.Get().(*ranges)
	r.n, r.grain, r.body = n, grain, body
	queue.ParallelFor((n-1)/grain+1, 1, r.run)
	// Not reached if a body panics; the object is the collector's then.
	r.body = nil
	rangePool.Put(r)
}

// ranges is the partition of one ParallelFor. It exists so that a call allocates nothing.
type ranges struct {
	n, grain int
	body     func(lo, hi int)
	run      func(first, last int) // bound once
}

var rangePool = sync.Pool{New: func() any {
	r := &ranges{}
	r.run = func(first, last int) {
		for i := first; i < last; i++ {
			lo := i * r.grain
			r.body(lo, min(lo+r.grain, r.n))
		}
	}
	return r
}}
