// Package budget is the one rule of size: before memory is taken whose amount a file declares, somebody asks here whether the process may
// have it. What it may have is the least of a limit that the user sets, the limit of the process's control group, that of its address
// space, and the memory that the machine has free.
//
// The question matters because the Go runtime ends a process that gets no memory, and no caller can prevent that.
package budget

import (
	"fmt"
	"math"
	goruntime "runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Error says that something needs more memory than there is.
type Error struct {
	What       string // that needs it
	Need, Left int64  // in bytes
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s needs %d bytes of memory, of which %d are left; --max-memory, GOMEMLIMIT, ulimit and the control group set the limit", e.What, e.Need, e.Left)
}

// free is a number of bytes that need no request.
const free = 1 << 20

// userLimit is what SetLimit has set; 0 is none.
var userLimit atomic.Int64

// SetLimit bounds the memory of the process, in bytes; 0 takes the bound away.
func SetLimit(bytes int64) {
	userLimit.Store(bytes)
	latest.Store(nil)
}

// reading is what was left a moment ago. Asking the system takes longer than compiling a small program, so it is not asked again at once for
// what is a small part of that.
type reading struct {
	at      time.Time
	left    int64
	granted atomic.Int64 // since then, without asking
}

var latest atomic.Pointer[reading]

const (
	readingLasts = 100 * time.Millisecond
	smallPart    = 16 // of what was left, all that is granted together
)

// covers reports whether there is no doubt that bytes are left, and counts them.
func (r *reading) covers(bytes int64) bool {
	return r != nil && bytes >= 0 && bytes <= r.left/smallPart && time.Since(r.at) < readingLasts && r.granted.Add(bytes) <= r.left/smallPart
}

// Check returns an *[Error] if there are not that many bytes left for something. Small amounts are always there; a negative one is the
// result of a multiplication that has overflowed, and never is.
func Check(what string, bytes int64) error {
	if bytes >= 0 && bytes <= free {
		return nil
	}
	if latest.Load().covers(bytes) {
		return nil
	}
	left := Left()
	if bytes > left { // garbage may be enough
		goruntime.GC()
		left = Left()
	}
	if bytes < 0 || bytes > left {
		if bytes < 0 {
			bytes = math.MaxInt64
		}
		return &Error{what, bytes, left}
	}
	return nil
}

// Left is the number of bytes that the process may still take, less a tenth for what is not counted.
func Left() int64 {
	h := readHeap()
	left := int64(math.MaxInt64)
	if user := userLimit.Load(); user > 0 {
		left = user - h.used
	}
	if m := measure(); m.known {
		// Memory that the heap holds and does not use is taken first, and is counted in what the process has already.
		left = min(left, m.left+h.idle)
		if m.addressSpace < math.MaxInt64 {
			left = min(left, m.addressSpace+h.idle+h.returned)
		}
	}
	left = max(0, left/10*9)
	latest.Store(&reading{at: time.Now(), left: left})
	return left
}

// Recently is Left as it was a moment ago, less what was granted since: most of what a process does at its beginning takes less time than asking.
func Recently() int64 {
	if r := latest.Load(); r != nil && time.Since(r.at) < interval {
		return max(0, r.left-r.granted.Load())
	}
	return Left()
}

// machine is what the system says.
type machine struct {
	known        bool
	left         int64 // that the machine or the control group can give
	addressSpace int64 // that the process may still map
}

// heap is what the Go runtime has taken from the system.
type heap struct {
	used, idle, returned int64 // returned is mapped, but not backed by memory
}

func readHeap() heap {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	of := func(i int) int64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(samples[i].Value.Uint64())
	}
	return heap{used: of(0) + of(1), idle: of(2), returned: of(3)}
}
