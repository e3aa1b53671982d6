package runtime

import (
	"sync/atomic"
	"time"

	"github.com/gohalo/halo/runtime/workqueue"
)

// Whether sharing a short loop among the workers pays depends on the machine and on what the workers are doing: waking one takes from two to fifty
// microseconds, and what it computes is in the cache of another processor. So kernels try both ways, and keep the shorter.

// briefLoop is the time from which on sharing pays everywhere.
const briefLoop = 200 * time.Microsecond

// A trial is tryTurns turns shared and as many alone, all of them timed. The turns of a kind follow one another: a worker that had nothing to do in the
// turn before has gone to sleep, and what would be measured is waking it. The machine may become busier or less busy, so trials are repeated, soon at
// first, since the first one sees cold caches, and later after up to maxPause turns.
const (
	tryTurns = 3
	minPause = 8
	maxPause = 512
	// Alone must be shorter by this part of the time. Where both take the same, the workers were late, and have to be called to be on time.
	clearly = 16
)

// divisions are how the loops of one kernel in one execution are run.
type divisions struct {
	busy  atomic.Bool // a loop is on its way: those in its body are not watched
	loops [2]division
}

// of returns the division of a loop, or nil if the kernel has too many loops.
func (d *divisions) of(n, grain int) *division {
	for i := range d.loops {
		x := &d.loops[i]
		if x.n == 0 {
			x.n, x.grain = n, grain
		}
		if x.n == n && x.grain == grain {
			return x
		}
	}
	return nil
}

// division is what is known about a loop.
type division struct {
	n, grain      int
	turn          int           // of this trial and the pause after it
	pause         int           // turns after the trial
	shared, alone time.Duration // the shorter ones of the turns that were timed; 0 is unknown
}

// next says whether the calling goroutine should run the whole loop in this turn, and whether to time it.
func (d *division) next() (alone, timed bool) {
	if d.turn == 2*tryTurns+d.pause {
		d.turn = 0
	}
	if d.turn == 0 {
		d.shared, d.alone = 0, 0
		d.pause = min(max(2*d.pause, minPause), maxPause)
	}
	turn := d.turn
	d.turn++
	switch {
	case turn < tryTurns:
		return false, true
	case turn < 2*tryTurns:
		return d.shared < briefLoop, true
	}
	return d.alone > 0 && d.alone < d.shared-d.shared/clearly, false
}

// took records the time of a turn.
func (d *division) took(alone bool, t time.Duration) {

	least := &d.shared
	if alone {
		least = &d.alone
	}
	if *least == 0 || t < *least {
		*least = max(t, 1)
	}
}

// parallelFor is ParallelFor on a queue that has workers, for a loop of several ranges.
func (f *TensorFrame) parallelFor(queue workqueue.Queue, n, grain int, body func(lo, hi int)) {
	ds := f.divisions.Load()
	if ds == nil {
		ds = new(divisions)
		if !f.divisions.CompareAndSwap(nil, ds) {
			ds = f.divisions.Load()
		}
	}
	if !ds.busy.CompareAndSwap(false, true) {
		parallelFor(queue, n, grain, body)
		return
	}
	d := ds.of(n, grain)
	if d == nil {
		ds.busy.Store(false)
		parallelFor(queue, n, grain, body)
		return
	}
	alone, timed := d.next()
	var began time.Time
	if timed {
		began = time.Now()
	}
	if alone {
		queue = nil
	}
	parallelFor(queue, n, grain, body)
	if timed {
		d.took(alone, time.Since(began))
	}
	ds.busy.Store(false) // not reached if a body panics: the execution ends with it
}
