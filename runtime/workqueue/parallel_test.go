package workqueue

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestG05PartitionsG07Ratios(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, q Queue) {
		for _, n := range []int{-1, 0, 1, 2, 3, 7, 64, 1000, 4099} {
			for _, grain := range []int{-5, 0, 1, 2, 3, 100, 5000} {
				count := make([]atomic.Int32, max(n, 0))
				var calls atomic.Int32
				q.ParallelFor(n, grain, func(lo, hi int) {
					calls.Add(1)
					if lo < 0 || lo >= hi || hi > n || lo%max(grain, 1) != 0 {
						t.Errorf("n %d grain %d: range %d..%d", n, grain, lo, hi)
					}
					for i := lo; i < hi; i++ {
						count[i].Add(1)
					}
				})
				for i := range count {
					require.EqualValues(t, 1, count[i].Load(), "n %d grain %d item %d", n, grain, i)
				}
				assert.LessOrEqual(t, int(calls.Load()), blocksPerWorker*q.ParallelismLevel())
				if n > 0 && n <= grain {
					assert.EqualValues(t, 1, calls.Load())
				}
			}
		}
	})
}

func TestG06ParallelForInsideAPool(t *testing.T) {
	// Loops nested in loops, started by tasks that occupy every worker.
	onEveryQueue(t, func(t *testing.T, q Queue) {
		var items atomic.Int64
		for range 20 {
			q.AddTask(func() {
				q.ParallelFor(10, 1, func(lo, hi int) {
					for range hi - lo {
						q.ParallelFor(10, 1, func(lo, hi int) { items.Add(int64(hi - lo)) })
					}
				})
			})
		}
		q.Quiesce()
		assert.EqualValues(t, 20*10*10, items.Load())
	})
}

func TestParallelForReallyIsParallel(t *testing.T) {
	q := NewMulti(Config{Workers: 2})
	defer q.Close()
	// Each block waits for the other one to have started.
	var started atomic.Int32
	q.ParallelFor(2, 1, func(lo, hi int) {
		started.Add(1)
		for started.Load() < 2 {
			runtime.Gosched()
		}
	})
	assert.EqualValues(t, 2, started.Load())
}

func TestParallelForPanic(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, q Queue) {
		boom := errors.New("boom")
		for at := range 32 {
			func() {
				defer func() {
					p, ok := recover().(*BodyPanic)
					require.True(t, ok)
					assert.ErrorIs(t, p, boom)
					assert.Contains(t, string(p.Stack), "TestParallelForPanic")
					assert.EqualError(t, p, "parallel body panicked: boom")
				}()
				q.ParallelFor(32, 1, func(lo, hi int) {
					q.ParallelFor(4, 1, func(int, int) {
						if lo <= at && at < hi {
							panic(boom)
						}
					})
				})
			}()
		}
		// The queue still works.
		n := 0
		q.AddTask(func() { n++ })
		q.Quiesce()
		assert.Equal(t, 1, n)
	})
}

func TestParallelForBodyExits(t *testing.T) {
	q := NewMulti(Config{Workers: 2})
	defer q.Close()
	caller := goroutineID()
	for range 100 {
		func() {
			defer func() {
				if p := recover(); p != nil {
					assert.ErrorContains(t, p.(error), "goroutine exited")
				}
			}()
			q.ParallelFor(64, 1, func(int, int) {
				if goroutineID() != caller {
					runtime.Goexit()
				}
			})
		}()
	}
	q.Quiesce()
}

func TestParallelForAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools at random")
	}
	q := NewMulti(Config{Workers: 2})
	defer q.Close()
	var sum atomic.Int64
	body := func(lo, hi int) { sum.Add(int64(hi - lo)) }
	once := func() {
		q.ParallelFor(1000, 1, body)
		q.Quiesce() // the helper that came late gives its loop back
	}
	once()
	quiesce := testing.AllocsPerRun(1000, q.Quiesce)
	assert.Less(t, testing.AllocsPerRun(1000, once)-quiesce, 0.5)
}
