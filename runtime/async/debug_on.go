//go:build halodebug

package async

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// debug is true under the build tag halodebug.
const debug = true

// origins has the creation stack of every open or counted value.
var origins struct {
	sync.Mutex
	stacks map[*Value][]uintptr
}

func recordOrigin(v *Value) {
	pcs := make([]uintptr, 16)
	pcs = pcs[:runtime.Callers(4, pcs)]
	origins.Lock()
	defer origins.Unlock()
	if origins.stacks == nil {
		origins.stacks = make(map[*Value][]uintptr)
	}
	origins.stacks[v] = pcs
}

func forgetOrigin(v *Value) {
	origins.Lock()
	defer origins.Unlock()
	delete(origins.stacks, v)
}

// origin returns the creation stack of v as text to append to a message.
func origin(v *Value) string {
	origins.Lock()
	pcs := origins.stacks[v]
	origins.Unlock()
	if len(pcs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nmade at")
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		fmt.Fprintf(&b, "\n\t%s\n\t\t%s:%d", f.Function, f.File, f.Line)
		if !more {
			return b.String()
		}
	}
}

func openOrigins() map[*Value]struct{} {
	origins.Lock()
	defer origins.Unlock()
	seen := make(map[*Value]struct{}, len(origins.stacks))
	for v := range origins.stacks {
		seen[v] = struct{}{}
	}
	return seen
}

// originsSince describes the values made after seen was taken.
func originsSince(seen map[*Value]struct{}) string {
	origins.Lock()
	var fresh []*Value
	for v := range origins.stacks {
		if _, ok := seen[v]; !ok {
			fresh = append(fresh, v)
		}
	}
	origins.Unlock()
	var b strings.Builder
	for _, v := range fresh {
		fmt.Fprintf(&b, "\n%v, %d references%s", v, v.NumRefs(), origin(v))
	}
	return b.String()
}
