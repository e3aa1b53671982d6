package runtime_test

import (
	goruntime "runtime"
	"testing"
	"time"

	"github.com/gohalo/halo/runtime/async"
)

// checkLeaks fails t if at its end an async value made from now on is unpublished or still referenced, or a goroutine started from now on,
// such as a worker, still lives. Call it first, so that it looks when everything else is closed. Tensor memory is accounted for by
// ProfileAllocator, where tests use one.
func checkLeaks(t testing.TB) {
	t.Helper()
	if _, bench := t.(*testing.B); bench {
		return
	}
	async.CheckLeaks(t)
	before := goruntime.NumGoroutine()
	t.Cleanup(func() {
		t.Helper()
		// Goroutines that have been told to end need a moment for it.
		for range 2000 {
			if goruntime.NumGoroutine() <= before {
				return
			}
			time.Sleep(time.Millisecond)
		}
		stacks := make([]byte, 1<<20)
		stacks = stacks[:goruntime.Stack(stacks, true)]
		t.Errorf("%d goroutines outlive the test, %d were there before:\n%s", goruntime.NumGoroutine(), before, stacks)
	})
}

// drop gives up the caller's references to results.
func drop(results []*async.Value) {
	for _, v := range results {
		v.DropRef()
	}
}
