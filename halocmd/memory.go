package halocmd

import (
	"os"
	goruntime "runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/gohalo/halo/internal/budget"
	"github.com/gohalo/halo/internal/pages"
)

// collectAt is by how many percent the heap grows between collections. The first one waits for firstCollection, as most programs are done
// before; the collector counts from a heap of 4 MiB then.
const (
	collectAt       = 300
	firstCollection = 64 << 20
)

// available is the number of bytes that a program may need at most.
func available() int64 { return budget.Recently() }

// collectLater makes the collector work less than usual: modules are read and printed once, and most of what is made for them stays.
func collectLater() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(firstCollection / (4 << 20) * 100)
		goruntime.AddCleanup(new(*byte), func(int) { debug.SetGCPercent(collectAt) }, 0) // runs when something has been collected
	}
}

// What a module and the passes on it take, for a byte of its text; the text from which on large pages are worth asking for; and the part of the memory that is left
// which may be asked for so.
const (
	heapOfText = 24
	largeText  = 4 << 20
	heapPart   = 4
)

// enlargedFor is the longest text that the heap was enlarged for.
var enlargedFor atomic.Int64

// expectModule has the heap go on on large pages if a large module is about to be read.
func expectModule(text []byte) {
	n := int64(len(text))
	if was := enlargedFor.Load(); n >= largeText && n > was && enlargedFor.CompareAndSwap(was, n) {
		pages.EnlargeHeapBy(min(heapOfText*(n-was), available()/heapPart))
	}
}

// limitMemory makes the collector work harder before memory runs out; a limit that the user sets holds instead.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(budget.CollectorLimit())
	}
}
