package workqueue

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// BodyPanic is what [Queue.ParallelFor] panics with when a body panicked, on
// whatever goroutine that was.
type BodyPanic struct {
	Value any    // what the body panicked with
	Stack []byte // of the goroutine where it did
}

// Error describes the panic.
func (p *BodyPanic) Error() string {
	return fmt.Sprintf("parallel body panicked: %v", p.Value)
}

// Unwrap returns the panic value if it is an error.
func (p *BodyPanic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// blocksPerWorker bounds how finely a loop is cut: enough blocks to even out
// unequal ones, few enough for claiming them not to show.
const blocksPerWorker = 8

func (q *multi) ParallelFor(n, grain int, body func(lo, hi int)) {
	grain = max(grain, 1)
	if n <= grain || len(q.workers) == 1 {
		if n > 0 {
			runInline(n, body)
		}
		return
	}
	// Blocks are whole grains, as many as it takes to have few enough of them.
	grains := (n-1)/grain + 1
	perBlock := (grains-1)/(blocksPerWorker*len(q.workers)) + 1
	block := perBlock * grain
	blocks := (grains-1)/perBlock + 1

	workers := min(blocks, len(q.workers))
	helpers := workers - 1
	l := newLoop(n, block, blocks, body, workers, &q.apart)
	began := time.Now()
	for range helpers {
		q.AddTask(l.help)
	}
	l.work()
	if !l.helped.Load() && l.processor >= 0 && q.searching.Load() > 0 && time.Since(began) > stalled {
		q.apart.from(processor()) // who looks for tasks waits for this processor
	}
	failure := l.wait()
	l.release()
	if failure != nil {
		panic(failure)
	}
}

// runInline keeps the promise about panics when nothing is handed over.
func runInline(n int, body func(lo, hi int)) {
	defer func() {
		if p := recover(); p != nil {
			panic(bodyPanic(p))
		}
	}()
	body(0, n)
}

// loop is one ParallelFor on its way. Workers claim its blocks one after the
// other, each from a share of its own while there are any. It goes back to the
// pool when caller and helpers have all let go, since helpers may arrive long
// after the last block is done.
type loop struct {
	body      func(lo, hi int)
	n, block  int
	blocks    int64
	shares    []share
	completed atomic.Int64 // blocks that are done or skipped
	failure   atomic.Pointer[BodyPanic]
	finished  chan struct{} // one token, when the last block was a helper's
	owners    atomic.Int32
	help      func() // the method assist, bound once
	waits     bool   // the caller did not complete the loop itself
	processor int32  // where the caller began, or -1
	helped    atomic.Bool
	apart     *apart
}

var loops sync.Pool

func newLoop(n, block, blocks int, body func(lo, hi int), workers int, a *apart) *loop {
	l, ok := loops.Get().(*loop)
	if !ok {
		l = &loop{finished: make(chan struct{}, 1)}
		l.help = l.assist
	}
	l.n, l.block, l.blocks, l.body = n, block, int64(blocks), body
	l.divide(workers)
	l.completed.Store(0)
	l.failure.Store(nil)
	l.owners.Store(int32(workers))
	l.helped.Store(false)
	l.processor, l.apart = processor(), a
	return l
}

func (l *loop) release() {
	if l.owners.Add(-1) == 0 {
		l.body = nil
		loops.Put(l)
	}
}

// assist is the task of a helper.
func (l *loop) assist() {
	defer l.release()
	l.helped.Store(true)
	here := int32(-1)
	if l.processor >= 0 && l.isLeft() {
		if here = processor(); here == l.processor {
			l.apart.from(l.processor)
			here = processor()
		}
	}
	for own := l.ownShare(here); ; {
		i, ok := l.claim(own)
		if !ok {
			return
		}
		l.runBlock(i, true)
	}
}

// work is the caller's part. It sets waits unless the caller completed the
// loop.
func (l *loop) work() {
	l.waits = true
	for own := l.ownShare(l.processor); ; {
		i, ok := l.claim(own)
		if !ok {
			return
		}
		if l.runBlock(i, false) {
			l.waits = false
		}
	}
}

// runBlock runs block i and reports whether it was the last to complete.
func (l *loop) runBlock(i int64, helper bool) (last bool) {
	finished := false
	defer func() {
		if !finished {
			if p := recover(); p != nil {
				l.failure.CompareAndSwap(nil, bodyPanic(p))
			} else {
				l.failure.CompareAndSwap(nil, bodyPanic("goroutine exited inside a parallel body"))
			}
		}
		last = l.completed.Add(1) == l.blocks
		if last && helper {
			l.finished <- struct{}{}
		}
	}()
	if l.failure.Load() == nil {
		lo := int(i) * l.block
		l.body(lo, min(lo+l.block, l.n))
	}
	finished = true
	return last
}

// waitSpin is how long the caller of a loop looks for its end before it blocks: the parts that are left are short.
const waitSpin = 20 * time.Microsecond

// wait returns when all blocks are done. Those it waits for are running at
// this moment, on helpers that wait for nothing in turn but blocks running.
func (l *loop) wait() *BodyPanic {
	if l.waits {
		for begin := time.Now(); l.completed.Load() != l.blocks && time.Since(begin) < waitSpin; {
			if !l.watch() {
				runtime.Gosched()
			}
		}
		<-l.finished
	}
	return l.failure.Load()
}

// watch looks for the end of the loop for a fraction of a microsecond, which is less than it takes to let other goroutines run.
func (l *loop) watch() bool {
	for range looksPerRound {
		if l.completed.Load() == l.blocks {
			return true
		}
	}
	return false
}

func bodyPanic(p any) *BodyPanic {
	if b, ok := p.(*BodyPanic); ok { // of a nested loop
		return b
	}
	return &BodyPanic{Value: p, Stack: debug.Stack()}
}
