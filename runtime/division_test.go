package runtime

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime/workqueue"
)

// TestDivision: a loop that is faster on its own goroutine stays there, and the other way around; long ones are always shared.
func TestDivision(t *testing.T) {
	for _, c := range []struct {
		name                string
		first, shared, only time.Duration
		alone               bool
	}{
		{"waking costs more than it saves", 90, 60, 50, true},
		{"sharing saves", 90, 30, 50, false},
		{"workers came too late to help", 90, 50, 49, false},
		{"the first turn is a cold one", 900, 60, 50, true},
		{"long", 900, 400, 100, false},
	} {
		d := &division{n: 10, grain: 1}
		tried := 0
		for turn := range 3 * maxPause {
			alone, timed := d.next()
			if timed {
				took := c.shared
				switch {
				case alone:
					took = c.only
					tried++
				case turn == 0:
					took = c.first
				}
				d.took(alone, took*time.Microsecond)
				continue
			}
			require.Equal(t, c.alone, alone, "%s: turn %d", c.name, turn)
		}
		assert.Equal(t, c.shared < 200, tried > 0, c.name)
	}
}

// TestParallelForInBody: loops of any number and size, within one another and on several goroutines, cover their ranges in every turn.
func TestParallelForInBody(t *testing.T) {
	queue := workqueue.NewMulti(workqueue.Config{Workers: 2})
	defer queue.Close()
	f := NewTensorFrame(&ExecContext{Queue: queue}, nil, nil, nil)
	for range 3 * tryTurns {
		for _, n := range []int{0, 1, 7, 64, 100} {
			var sum atomic.Int64
			f.ParallelFor(n, 3, func(lo, hi int) {
				assert.Zero(t, lo%3)
				f.ParallelFor(hi-lo, 1, func(first, last int) { sum.Add(int64(last - first)) })
			})
			assert.EqualValues(t, n, sum.Load())
		}
	}
}
