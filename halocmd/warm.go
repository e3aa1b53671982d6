package halocmd

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/internal/stack"
)

// warming makes on another core what compiling needs once in a process, beside the reading of the command line and of files. The goroutine that has done that
// compiles the first program: its core has the compiler's code in its caches, and its stack has grown. A program that
// is compiled beside the warming waits for the same tables and the same memory, and takes a sixth longer.
type warming struct {
	mu        sync.Mutex
	on        bool
	next      func() // what is to be done after it, or nil
	meanwhile func() // what who waits may do
}

// warm is that of this process.
var warm warming

var warmOnce sync.Once

// warmUp begins warming, the first time that it is called. Who waits for it calls meanwhile. Where nothing is measured nobody waits: the first result is there sooner if
// tables alone are made beside the reading.
func warmUp(args []string, meanwhile func()) {
	if runtime.GOMAXPROCS(0) == 1 {
		return
	}
	warmOnce.Do(func() {
		if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--bench") }) {
			warm.begin(halo.Warm, meanwhile)
			return
		}
		go func() {
			stack.Reserve()
			halo.WarmTables()
		}()
	})
}

func (w *warming) begin(work, meanwhile func()) {
	w.on, w.meanwhile = true, meanwhile
	go func() {
		stack.Reserve()
		work()
		w.mu.Lock()
		w.on = false
		next := w.next
		w.mu.Unlock()
		if next != nil {
			next()
		}
	}()
}

// do calls f: on the goroutine that warms, once it has done that, or at once if nothing warms or something is waiting already. It returns when f has returned, and panics
// when f has panicked.
func (w *warming) do(f func()) {
	w.mu.Lock()
	if !w.on || w.next != nil {
		w.mu.Unlock()
		f()
		return
	}
	done := make(chan *stack.Panic, 1)
	w.next = func() {
		var caught *stack.Panic
		defer func() { done <- caught }()
		defer func() {
			if p := recover(); p != nil {
				caught = stack.Caught(p)
			}
		}()
		f()
	}
	w.mu.Unlock()
	w.meanwhile()
	if p := <-done; p != nil {
		panic(p)
	}
}
