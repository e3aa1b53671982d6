package kernels

import (
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/runtime"
)

// parallelLoop is a ParallelFor whose body is given once, when a kernel is bound, so that a call allocates nothing.
type parallelLoop struct {
	body func(f *runtime.TensorFrame, lo, hi int)
	pool sync.Pool
	// claims is for a loop that is run by claim.
	claims sync.Pool
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
	l.claims.New = func() any {
		c := new(claimedCall)
		c.run = func(_, _ int) {
			turn, end := int(c.begun.Add(1)), c.n
			if turn <= c.turns-c.workers {
				end = turn * c.n / c.turns
			}
			for int(c.next.Load()) < end && !c.f.Ctx().Stopped() {
				if lo := int(c.next.Add(int64(c.grain))) - c.grain; lo < c.n {
					l.body(c.f, lo, min(lo+c.grain, c.n))
				}
			}
		}
		return c
	}
	return l
}

// claimedCall is an execution of the loop by workers that claim ranges. A worker's turn ends when a part of the ranges has been claimed, so that progress shows, but
// the last turn of each when all have.
type claimedCall struct {
	f              *runtime.TensorFrame
	n, grain       int
	turns, workers int
	begun          atomic.Int64 // turns
	next           atomic.Int64
	run            func(lo, hi int)
}

// turnsOfWorker are few enough for a queue to keep them apart.
const turnsOfWorker = 8

// byClaim is run for few and long ranges, each of which a worker claims when it is done with the one before, whatever their number is: workers that are not equally
// fast end at about the same time if the last ranges are short.
func (l *parallelLoop) byClaim(f *runtime.TensorFrame, n, grain int) {
	workers := f.Workers()
	if n <= grain || workers == 1 {
		l.run(f, n, grain)
		return
	}
	c := l.claims.Get().(*claimedCall)
	c.f, c.n, c.grain = f, n, grain //halo:allow framecapture ParallelFor returns when all ranges are done
	c.turns, c.workers = min(turnsOfWorker*workers, (n-1)/grain+1), workers
	c.begun.Store(0)
	c.next.Store(0)
	f.ParallelFor(c.turns, 1, c.run)
	c.f = nil
	l.claims.Put(c)
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
