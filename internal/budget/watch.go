package budget

import (
	"math"
	goruntime "runtime"
	"time"
)

// Watch calls exceeded, on a goroutine of its own, when the process has come close to what it may have: the last resort against growth in
// small steps, for which no budget is asked. It looks every few milliseconds until stop is called. exceeded should end the process, since the Go
// runtime will do so soon.
func Watch(exceeded func(*Error)) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for full := 0; ; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if left := Left(); left > reserve {
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
)

// CollectorLimit is from how much memory on the collector should work harder, or math.MaxInt64.
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
