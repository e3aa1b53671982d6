package halocmd

import (
	"bufio"
	"fmt"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"strings"

	"github.com/gohalo/halo/runtime"
)

// collectAt is by how many percent the heap grows between collections. The first one waits for firstCollection, as most programs are done
// before; the collector counts from a heap of 4 MiB then.
const (
	collectAt       = 300
	firstCollection = 64 << 20
)

// available is the number of bytes that a program may need at most: what the system can give without swapping, less a tenth for what
// is not counted. It is 0 if it is not known.
func available() int64 {
	total := runtime.PhysicalMemory()
	if f, err := os.Open("/proc/meminfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if value, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
				var kilobytes int64
				if _, err := fmt.Sscan(value, &kilobytes); err == nil {
					total = min(total, kilobytes<<10)
				}
			}
		}
	}
	return total / 10 * 9
}

// limitMemory makes the collector work harder before memory runs out; a limit that the user sets holds instead. Before that it works less
// than usual: modules are read and printed once, and most of what is made for them stays.
func limitMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(firstCollection / (4 << 20) * 100)
		goruntime.AddCleanup(new(*byte), func(int) { debug.SetGCPercent(collectAt) }, 0) // runs when something has been collected
	}
	if total := runtime.PhysicalMemory(); total > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(total / 10 * 8)
	}
}
