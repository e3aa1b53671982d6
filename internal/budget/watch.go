package budget

import (
	"math"
	goruntime "runtime"
	"time"
)

// Watch calls exceeded, on a goroutine of its own, when the process has come close to what it may have: the last resort against growth in
// small steps, for which no budget is asked. It looks every few milliseconds until stop is called, and less often while much is left. exceeded
// should end the process, since the Go runtime will do so soon.
func Watch(exceeded func(*Error)) (stop func()) {
	done := make(chan struct{})
	go func() {
		timer := time.NewTimer(interval)
		defer timer.Stop()
		for full := 0; ; {
			select {
			case <-done:
				return
			case <-timer.C:
			}
			left := Left()
			timer.Reset(pause(left))
			if left > reserve {
				full = 0
				continue
			} else if full++; full == 1 {
				goruntime.GC()
				continue
			}
			exceeded(&Error{What: "the program", Need: readHeap().used, Left: max(0, Left())})
			return
		}
	}()
	return func() { close(done) }
}

const (
	interval = 20 * time.Millisecond
	// reserve is about what a fast program takes in two intervals.
	reserve = 128 << 20
	// rarest is the longest time between two looks: others may take memory, too.
	rarest = 10 * interval
)

// pause is after what time to look again: before a fast program has taken a sixteenth of what is left.
func pause(left int64) time.Duration {
	return max(interval, min(rarest, time.Duration(left/(8*reserve))*interval))
}

// CollectorLimit is the memory, in bytes, from which the collector should work harder, or math.MaxInt64.
func CollectorLimit() int64 {
	limit := int64(math.MaxInt64)
	if total := Total(); total > 0 {
		limit = total / 10 * 8
	}
	if user := userLimit.Load(); user > 0 {
		limit = min(limit, user/10*8)
	}
	if space := AddressSpace(); space > 0 {
		limit = min(limit, space/2)
	}
	return limit
}
