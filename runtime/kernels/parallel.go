package kernels

import (
	"sync"

	"github.com/gohalo/halo/runtime"
)

// parallelLoop is a ParallelFor whose body is given once, when a kernel is bound, so that a call allocates nothing.
type parallelLoop struct {
	body func(f *runtime.TensorFrame, lo, hi int)
	pool sync.Pool
}

// parallelCall is one execution of the loop.
type parallelCall struct {
	f   *runtime.TensorFrame
	run func(lo, hi int)
}

func newParallelLoop(body func(f *runtime.TensorFrame, lo, hi int)) *parallelLoop {
	l := &parallelLoop{body: body}
	l.pool.New = func() any {
		c := new(parallelCall)
		c.run = func(lo, hi int) {
			if !c.f.Ctx().Stopped() {
				l.body(c.f, lo, hi)
			}
		}
		return c
	}
	return l
}

// run covers [0, n) in ranges of grain. When the execution has failed or was cancelled, it leaves ranges out.
func (l *parallelLoop) run(f *runtime.TensorFrame, n, grain int) {
	if n <= grain {
		if n > 0 {
			l.body(f, 0, n)
		}
		return
	}
	c := l.pool.Get().(*parallelCall)
	c.f = f //halo:allow framecapture ParallelFor returns when all ranges are done
	f.ParallelFor(n, grain, c.run)
	c.f = nil
	l.pool.Put(c)
}

// bound is a kernel that is nothing but the loop over n elements.
func (l *parallelLoop) bound(n, grain int) runtime.Bound {
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		l.run(f, n, grain)
		return nil
	}}
}
