package workqueue

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gohalo/halo/runtime/async"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// queues are the configurations that every contract is tested on.
var queues = map[string]func() Queue{
	"single":  NewSingle,
	"multi:1": func() Queue { return NewMulti(Config{Workers: 1}) },
	"multi:2": func() Queue { return NewMulti(Config{Workers: 2}) },
	"multi:7": func() Queue { return NewMulti(Config{Workers: 7, Blocking: 3}) },
}

func onEveryQueue(t *testing.T, f func(t *testing.T, q Queue)) {
	for name, make := range queues {
		t.Run(name, func(t *testing.T) {
			q := make()
			defer checkGoroutines(t, q.Close)
			f(t, q)
		})
	}
}

// checkGoroutines calls stop and fails if goroutines of this package outlive
// it.
func checkGoroutines(t *testing.T, stop func()) {
	stop()
	for range 1000 {
		if runtime.NumGoroutine() <= goroutinesAtStart {
			return
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("goroutines left after Close:\n%s", buf[:runtime.Stack(buf, true)])
}

// goroutinesAtStart allows for the test runner and one level of subtests.
const goroutinesAtStart = 4

func TestTasksRunOnce(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, q Queue) {
		const n = 2000
		var ran [n]atomic.Int32
		for i := range n {
			q.AddTask(func() { ran[i].Add(1) })
		}
		q.Quiesce()
		for i := range n {
			require.EqualValues(t, 1, ran[i].Load(), "task %d", i)
		}
	})
}

func TestG08BlockingQueue(t *testing.T) {
	t.Run("queued and rejected", func(t *testing.T) {
		q := NewMulti(Config{Workers: 1, Blocking: 1, BlockingQueue: 2})
		gate := make(chan struct{})
		var order []int
		require.True(t, q.AddBlockingTask(func() { <-gate; order = append(order, 0) }, MayQueue))
		require.True(t, q.AddBlockingTask(func() { order = append(order, 1) }, MayQueue))
		require.True(t, q.AddBlockingTask(func() { order = append(order, 2) }, MayQueue))
		assert.False(t, q.AddBlockingTask(func() { order = append(order, 3) }, MayQueue), "the queue is full")
		close(gate)
		q.Quiesce()
		assert.Equal(t, []int{0, 1, 2}, order)
		checkGoroutines(t, q.Close)
	})
	t.Run("must start", func(t *testing.T) {
		q := NewMulti(Config{Workers: 1, Blocking: 1})
		gate := make(chan struct{})
		require.True(t, q.AddBlockingTask(func() { <-gate }, MayQueue))
		for range 10 { // all hang but the last, which frees them
			require.True(t, q.AddBlockingTask(func() { <-gate }, MustStart))
		}
		require.True(t, q.AddBlockingTask(func() { close(gate) }, MustStart))
		q.Quiesce()
		checkGoroutines(t, q.Close)
	})
	t.Run("quiescing", func(t *testing.T) {
		// Tasks of the two pools feed each other; none may be forgotten.
		q := NewMulti(Config{Workers: 2, Blocking: 2})
		for range 50 {
			var left atomic.Int32
			left.Store(20)
			var compute, block func()
			compute = func() {
				if left.Add(-1) > 0 {
					require.True(t, q.AddBlockingTask(block, MustStart))
				}
			}
			block = func() {
				runtime.Gosched()
				if left.Add(-1) > 0 {
					q.AddTask(compute)
				}
			}
			q.AddTask(compute)
			q.Quiesce()
			require.Zero(t, left.Load())
		}
		checkGoroutines(t, q.Close)
	})
	t.Run("closed", func(t *testing.T) {
		q := NewMulti(Config{Workers: 1})
		q.Close()
		assert.False(t, q.AddBlockingTask(func() {}, MustStart))
		ran := false
		q.AddTask(func() { ran = true })
		assert.True(t, ran, "a compute task runs in the caller then")
		q.Close()
	})
	t.Run("single", func(t *testing.T) {
		q := NewSingle()
		var order []int
		assert.False(t, q.AddBlockingTask(func() { order = append(order, 0) }, MustStart))
		assert.True(t, q.AddBlockingTask(func() { order = append(order, 1) }, MayQueue))
		q.AddTask(func() { order = append(order, 2) })
		q.Quiesce()
		assert.Equal(t, []int{1, 2}, order)
	})
	t.Run("task that exits its goroutine", func(t *testing.T) {
		q := NewMulti(Config{Workers: 1, Blocking: 1})
		require.True(t, q.AddBlockingTask(runtime.Goexit, MayQueue))
		ran := false
		require.True(t, q.AddBlockingTask(func() { ran = true }, MayQueue))
		q.Quiesce()
		assert.True(t, ran)
		q.AddTask(runtime.Goexit)
		q.AddTask(func() { ran = false })
		q.Quiesce()
		assert.False(t, ran)
		checkGoroutines(t, q.Close)
	})
}

func TestG09TasksThatAddTasks(t *testing.T) {
	total := 1_000_000
	if testing.Short() || raceEnabled {
		total = 50_000
	}
	onEveryQueue(t, func(t *testing.T, q Queue) {
		var left, ran atomic.Int64
		left.Store(int64(total))
		var task func()
		task = func() {
			ran.Add(1)
			for range 2 {
				if left.Add(-1) >= 0 {
					q.AddTask(task)
				}
			}
		}
		left.Add(-1)
		q.AddTask(task)
		q.Quiesce()
		require.EqualValues(t, total, ran.Load(), "Quiesce returned early")
	})
}

func TestG10AwaitFromAWorker(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, q Queue) {
		never := async.MakeUnconstructed[int]()
		var inside bool
		var err error
		var quiesce any
		q.AddTask(func() {
			inside = q.IsInWorkerThread()
			err = q.Await(context.Background(), never.Value())
			defer func() { quiesce = recover() }()
			q.Quiesce()
		})
		q.Quiesce()
		assert.True(t, inside)
		assert.False(t, q.IsInWorkerThread())
		var st *async.Status
		require.ErrorAs(t, err, &st)
		assert.Equal(t, async.FailedPrecondition, st.Code)
		assert.Equal(t, quiesceOnWorker, quiesce)
	})
}

func TestAwait(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, q Queue) {
		sum := async.MakeAsync(q, func() (int, error) { return 3, nil })
		bad := async.MakeAsync(q, func() (int, error) { return 0, errors.New("no") })
		require.NoError(t, q.Await(context.Background(), sum.Value(), bad.Value()))
		assert.Equal(t, 3, sum.Get())
		assert.EqualError(t, bad.Err(), "no")

		never := async.MakeUnconstructed[int]()
		ctx, cancel := context.WithCancel(context.Background())
		q.AddTask(cancel)
		assert.ErrorIs(t, q.Await(ctx, sum.Value(), never.Value()), context.Canceled)

		late := async.MakeUnconstructed[int]()
		go func() { late.Emplace(4) }()
		require.NoError(t, q.Await(context.Background(), late.Value()))
		assert.Equal(t, 4, late.Get())
	})
}

func TestSingleIsFirstInFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewSingle()
		var order []int
		for i := range 3 {
			q.AddTask(func() {
				order = append(order, i)
				q.AddTask(func() { order = append(order, 10+i) })
			})
		}
		assert.Empty(t, order, "nothing runs by itself")
		v := async.MakeUnconstructed[int]()
		q.AddTask(func() { v.Emplace(1) })
		q.AddTask(func() { order = append(order, 99) })
		require.NoError(t, q.Await(context.Background(), v.Value()))
		assert.Equal(t, []int{0, 1, 2}, order, "Await runs no more than it needs")
		q.Quiesce()
		assert.Equal(t, []int{0, 1, 2, 99, 10, 11, 12}, order)

		// Two goroutines that wait share the work and run one task at a time.
		timed := async.MakeUnconstructed[int]()
		go func() {
			time.Sleep(time.Hour)
			q.AddTask(func() { timed.Emplace(2) })
		}()
		var running, overlaps atomic.Int32
		for range 20 {
			q.AddTask(func() {
				if running.Add(1) > 1 {
					overlaps.Add(1)
				}
				time.Sleep(time.Second)
				running.Add(-1)
			})
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { assert.NoError(t, q.Await(context.Background(), timed.Value())) })
		}
		wg.Wait()
		assert.Zero(t, overlaps.Load())
	})
}

func TestG11StealWhileOwnerPops(t *testing.T) {
	const n = 20000
	var d deque
	var taken [n]atomic.Int32
	var left atomic.Int64
	left.Store(n)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			var loot [stealLimit]func()
			for left.Load() > 0 {
				for _, task := range loot[:d.takeOldest(loot[:])] {
					task()
				}
				runtime.Gosched()
			}
		})
	}
	for i := range n {
		d.push(func() { taken[i].Add(1); left.Add(-1) })
		if i%3 == 0 {
			if task := d.popNewest(); task != nil {
				task()
			}
		}
		if i%1000 == 0 {
			runtime.Gosched()
		}
	}
	for left.Load() > 0 {
		if task := d.popOldest(); task != nil {
			task()
		}
		runtime.Gosched()
	}
	wg.Wait()
	for i := range n {
		require.EqualValues(t, 1, taken[i].Load(), "task %d", i)
	}
}

func TestDequeOrder(t *testing.T) {
	var d deque
	got := -1
	for i := range 200 {
		d.push(func() { got = i })
	}
	d.popNewest()()
	assert.Equal(t, 199, got)
	d.popOldest()()
	assert.Equal(t, 0, got)
	var loot [stealLimit]func()
	require.Equal(t, stealLimit, d.takeOldest(loot[:]))
	loot[0]()
	assert.Equal(t, 1, got)
	for d.size.Load() > 3 {
		d.popNewest()
	}
	assert.Equal(t, 2, d.takeOldest(loot[:]), "half, rounded up")
	assert.NotNil(t, d.popNewest())
	assert.Nil(t, d.popNewest())
	assert.Nil(t, d.popOldest())
}

func TestNew(t *testing.T) {
	for text, workers := range map[string]int{
		"single": 1, "s": 1, "multi": runtime.GOMAXPROCS(0), "multi:3": 3, "multi:2:5": 2, "mstd:8,256": 8,
	} {
		q, err := New(text)
		require.NoError(t, err, text)
		assert.Equal(t, workers, q.ParallelismLevel(), text)
		q.Close()
	}
	for text, want := range map[string]string{
		"":            `unknown work queue ""`,
		"many":        `unknown work queue "many"`,
		"single:1":    "single takes no argument",
		"multi:":      `malformed worker counts ""`,
		"multi:1:2:3": "malformed worker counts",
		"multi:1::2":  "malformed worker counts",
		"multi:0":     `got "0" workers, want a number from 1 to 65536`,
		"multi:-1":    `got "-1" workers`,
		"multi:2:x":   `got "x" workers`,
		"multi:99999": `got "99999" workers`,
	} {
		q, err := New(text)
		require.ErrorContains(t, err, want, text)
		assert.ErrorContains(t, err, "single, multi", "the message says what would do")
		assert.Nil(t, q)
	}
}

// TestWorkersBeginWithWork closes queues of which no worker, or some, have had anything to do.
func TestWorkersBeginWithWork(t *testing.T) {
	begun := func(q *multi) (n int) {
		q.idleMu.Lock()
		defer q.idleMu.Unlock()
		for _, w := range q.workers {
			if w.begun {
				n++
			}
		}
		return n
	}
	q := NewMulti(Config{Workers: 4}).(*multi)
	q.ParallelFor(3, 4, func(int, int) {}) // one block, for the caller
	q.Quiesce()
	require.Zero(t, begun(q))
	q.Close()

	q = NewMulti(Config{Workers: 4}).(*multi)
	ran := make(chan bool)
	q.AddTask(func() { ran <- q.IsInWorkerThread() })
	require.True(t, <-ran)
	q.Quiesce()
	require.Equal(t, 1, begun(q), "one task needs one worker")
	q.Close()
}
