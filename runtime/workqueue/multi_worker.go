package workqueue

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gohalo/halo/internal/stack"
)

// worker is one compute worker.
type worker struct {
	tasks deque
	q     *multi
	index int
	goid  atomic.Uintptr
	begun bool          // written by who takes it off the idle list
	wake  chan struct{} // a token makes the worker a searcher again
	turns uint32
	loot  [stealLimit]func()

	parkedAt time.Time // when it went on the idle list
}

// start has a worker that was on the idle list look for tasks. Its goroutine begins when it is first needed: many programs are loaded and run without.
func (w *worker) start() {
	if !w.begun {
		w.begun = true
		go w.run(true)
		return
	}
	w.q.learn(time.Since(w.parkedAt)) // up to here: waking it takes longer than it should have searched
	w.wake <- struct{}{}
}

// run is the life of a worker. A task that ends its goroutine, as a failing
// test does, costs the goroutine and not the worker.
func (w *worker) run(searching bool) {
	w.goid.Store(goroutineID())
	stack.Reserve() // kernels that are bound or run here need it
	closed := false
	defer func() {
		if closed {
			w.q.running.Done()
		} else {
			go w.run(false)
		}
	}()
	w.loop(searching)
	closed = true
}

func (w *worker) loop(searching bool) {
	for {
		task := w.next()
		if task == nil {
			task = w.search(&searching)
		}
		if task == nil {
			if !w.park() {
				return
			}
			searching = true
			continue
		}
		if searching {
			searching = false
			if w.q.searching.Add(-1) == 0 && w.q.hasWork() {
				w.q.wakeOne()
			}
		}
		task()
	}
}

// next takes a task of the worker's own: the newest, or now and then the
// oldest, so that no task waits for ever.
func (w *worker) next() func() {
	w.turns++
	if w.turns%fairTurn == 0 {
		return w.tasks.popOldest()
	}
	return w.tasks.popNewest()
}

// makeStealable lets another processor run the goroutine that was made ready last. Go keeps that one for the processor that did it, on
// the guess that it will block soon, and lets others have it only after a sleep of fifty microseconds or more; the one made
// ready before it may be taken at once.
func makeStealable() { go func() {}() }

// search looks through the other workers' tasks. If this is the only searcher
// it tries for a while. On return without a task the worker does not count as
// searching.
func (w *worker) search(searching *bool) func() {
	q := w.q
	if !*searching {
		*searching = true
		q.searching.Add(1)
	}
	task := w.steal()
	if task == nil && q.searching.Load() == 1 {
		for begin := time.Now(); task == nil && int64(time.Since(begin)) < q.patience.Load(); {
			task = w.watch()
		}
	}
	if task == nil {
		*searching = false
		q.searching.Add(-1)
	}
	return task
}

// watch looks for tasks for a fraction of a microsecond, and lets other goroutines run.
func (w *worker) watch() func() {
	for range looksPerRound {
		if w.q.hasWork() {
			if task := w.steal(); task != nil {
				return task
			}
		}
	}
	runtime.Gosched()
	return nil
}

// steal visits every deque once, from a random one on, its own included: new
// tasks go to any.
func (w *worker) steal() func() {
	n := len(w.q.workers)
	start := rand.IntN(n)
	for i := range n {
		victim := w.q.workers[(start+i)%n]
		if victim == w {
			if task := w.tasks.popNewest(); task != nil {
				return task
			}
			continue
		}
		k := victim.tasks.takeOldest(w.loot[:])
		if k == 0 {
			continue
		}
		for j := 1; j < k; j++ {
			w.tasks.push(w.loot[j])
		}
		task := w.loot[0]
		clear(w.loot[:k])
		return task
	}
	return nil
}

// park waits until there may be work. The worker counts as searching when it
// returns. It returns false if the queue is closed.
func (w *worker) park() bool {
	q := w.q
	q.idleMu.Lock()
	w.parkedAt = time.Now()
	q.idle = append(q.idle, w)
	q.idleCount.Store(int32(len(q.idle)))
	if q.quiescers > 0 && len(q.idle) == len(q.workers) {
		q.quiet.Broadcast()
	}
	q.idleMu.Unlock()
	if (q.hasWork() || q.closed.Load()) && q.leaveIdle(w) {
		q.searching.Add(1)
	} else {
		<-w.wake
	}
	return !q.closed.Load() || q.hasWork()
}
