package workqueue

import (
	"context"
	"fmt"
	"runtime"
	"sort"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gohalo/halo/runtime/async"
)

// BenchmarkP9AddTask measures throughput from the workers: each task adds the
// next (P9).
func BenchmarkP9AddTask(b *testing.B) {
	for _, chains := range []int{1, 64} {
		b.Run(fmt.Sprintf("chains:%d", chains), func(b *testing.B) {
			q := NewMulti(Config{})
			defer q.Close()
			b.ReportAllocs()
			var left atomic.Int64
			left.Store(int64(b.N))
			var task func()
			task = func() {
				if left.Add(-1) >= 0 {
					q.AddTask(task)
				}
			}
			for range chains {
				q.AddTask(task)
			}
			q.Quiesce()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtasks/s")
		})
	}
}

// BenchmarkP9AddTaskToStart measures the way to a worker of an idle queue (P9): to one that searches still, a while after its last task,
// and to one that has parked, which the system has to wake.
func BenchmarkP9AddTaskToStart(b *testing.B) {
	for _, c := range []struct {
		name  string
		pause time.Duration
	}{{"searching/after:1µs", time.Microsecond}, {"searching/after:10µs", 10 * time.Microsecond}, {"parked/after:1ms", time.Millisecond}} {
		b.Run(c.name, func(b *testing.B) {
			q := NewMulti(Config{})
			defer q.Close()
			b.ReportAllocs()
			var delays []time.Duration
			for b.Loop() {
				var started atomic.Int64
				begin := time.Now()
				for time.Since(begin) < c.pause {
				}
				begin = time.Now()
				q.AddTask(func() { started.Store(int64(time.Since(begin))) })
				for started.Load() == 0 {
				}
				delays = append(delays, time.Duration(started.Load()))
			}
			sort.Slice(delays, func(i, j int) bool { return delays[i] < delays[j] })
			b.ReportMetric(float64(delays[len(delays)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(delays[len(delays)/10].Nanoseconds()), "p10-ns")
		})
	}
}

// BenchmarkParallelFor compares loops of various sizes with the same work done
// inline.
func BenchmarkParallelFor(b *testing.B) {
	work := func(units int) (s uint64) {
		for i := range units * 100 { // about 100 ns a unit
			s = s*6364136223846793005 + uint64(i)
		}
		return s
	}
	for _, units := range []int{10, 100, 1000, 10000} {
		body := func(lo, hi int) { runtime.KeepAlive(work(hi - lo)) }
		b.Run(fmt.Sprintf("units:%d/inline", units), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				body(0, units)
			}
		})
		b.Run(fmt.Sprintf("units:%d/parallel", units), func(b *testing.B) {
			q := NewMulti(Config{})
			defer q.Close()
			b.ReportAllocs()
			for b.Loop() {
				q.ParallelFor(units, 40, body)
			}
		})
	}
}

// BenchmarkParallelForAfterPause alternates loops with stretches that only the
// caller works on, as programs do: how long a worker searches before it parks
// shows here.
func BenchmarkParallelForAfterPause(b *testing.B) {
	work := func(n int) {
		s := uint64(1)
		for i := range n {
			s = s*6364136223846793005 + uint64(i)
		}
		runtime.KeepAlive(s)
	}
	for _, pause := range []int{1000, 10000, 40000} { // about as many ns
		b.Run(fmt.Sprintf("pause:%d", pause), func(b *testing.B) {
			q := NewMulti(Config{})
			defer q.Close()
			b.ReportAllocs()
			for b.Loop() {
				work(pause)
				q.ParallelFor(20, 1, func(lo, hi int) { work(1000 * (hi - lo)) })
			}
		})
	}
}

// BenchmarkFanOut is a 1024-wide fan-out and fan-in of 10 µs tasks (P10).
func BenchmarkFanOut(b *testing.B) {
	spin := func() {
		s := uint64(1)
		for i := range 10000 {
			s = s*6364136223846793005 + uint64(i)
		}
		runtime.KeepAlive(s)
	}
	const width = 1024
	b.Run("inline", func(b *testing.B) {
		for b.Loop() {
			for range width {
				spin()
			}
		}
	})
	b.Run("multi", func(b *testing.B) {
		q := NewMulti(Config{})
		defer q.Close()
		b.ReportAllocs()
		for b.Loop() {
			done := async.MakeConstructed(async.Chain{})
			count := async.NewCountDown(done.CopyRef(), width)
			task := func() {
				spin()
				count.CountDown(1, nil)
			}
			for range width {
				q.AddTask(task)
			}
			if err := q.Await(context.Background(), done.Value()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
