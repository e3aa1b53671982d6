//go:build race || halodebug

package hlo

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
)

// holder is the goroutine that a session belongs to: the first one that uses it. Builds with the race detector, or the tag halodebug, find
// the use by another one even when the two calls happen not to overlap.
type holder struct {
	id    atomic.Uint64
	first atomic.Pointer[string] // where it used the session first
}

// claim panics when the session belongs to another goroutine.
func (h *holder) claim() {
	id := goroutineID()
	if h.id.CompareAndSwap(0, id) {
		where := callSite()
		h.first.Store(&where)
		return
	}
	if other := h.id.Load(); other != id {
		where := "elsewhere"
		if p := h.first.Load(); p != nil {
			where = *p
		}
		panic(fmt.Sprintf("hlo: an Editor that goroutine %d uses (%s) is used by goroutine %d; Fork it, or hand it over as an Owned", other, where, id))
	}
}

// release lets another goroutine claim the session.
func (h *holder) release() { h.id.Store(0) }

func goroutineID() uint64 {
	var buf [64]byte
	text := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	text, _, _ = bytes.Cut(text, []byte(" "))
	id, _ := strconv.ParseUint(string(text), 10, 64)
	return id
}

// callSite is the first place outside this package.
func callSite() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !more || !strings.Contains(f.Function, "/hlo.") || strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
}
