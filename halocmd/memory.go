package halocmd

import (
	"os"
	goruntime "runtime"
	"runtime/debug"

	"github.com/gohalo/halo/internal/budget"
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

// limitMemory makes the collector work harder before memory runs out; a limit that the user sets holds instead.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(budget.CollectorLimit())
	}
}
