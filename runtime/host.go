package runtime

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

// Host is a place to run programs: memory, queues, and what lives as long as they do. Several hosts may coexist; there is
// no state outside of them. A Host is safe for concurrent use.
type Host struct {
	queue       workqueue.Queue
	allocator   HostAllocator
	diagnostics func(*Error)

	mu      sync.Mutex
	live    int          // executions with work outstanding
	quiet   *async.Value // becomes available when live is zero; nil if there is no waiter
	threads map[string]*executionThread
	shared  map[reflect.Type]any
}

// HostOptions configure a host. The zero value is good for sequential programs.
type HostOptions struct {
	// Queue runs tasks. The host does not close it. Nil means workqueue.NewSingle: tasks run on the goroutine that waits.
	Queue workqueue.Queue
	// Allocator gives memory for tensors. Nil means NewHeapAllocator.
	Allocator HostAllocator
	// Diagnostics is called once for every error that a kernel of a general function reports. Nil means a line on
	// standard error.
	Diagnostics func(*Error)
}

// NewHost returns a host.
func NewHost(o HostOptions) *Host {
	h := &Host{queue: o.Queue, allocator: o.Allocator, diagnostics: o.Diagnostics}
	if h.queue == nil {
		h.queue = workqueue.NewSingle()
	}
	if h.allocator == nil {
		h.allocator = NewHeapAllocator()
	}
	if h.diagnostics == nil {
		h.diagnostics = func(e *Error) { printDiagnostic(os.Stderr, e) }
	}
	return h
}

// Queue returns the host's queue.
func (h *Host) Queue() workqueue.Queue { return h.queue }

// Allocator returns the host's allocator of tensor memory.
func (h *Host) Allocator() HostAllocator { return h.allocator }

// Quiesce blocks until nothing runs on the host: no task of the queue, and no execution that waits for a value from
// elsewhere. A value that never becomes available keeps it waiting. Only goroutines outside of the queue may call it.
func (h *Host) Quiesce() {
	for {
		h.queue.Quiesce()
		h.mu.Lock()
		if h.live == 0 {
			h.mu.Unlock()
			return
		}
		if h.quiet == nil {
			h.quiet = async.MakeUnconstructed[async.Chain]().Value()
		}
		quiet := h.quiet
		h.mu.Unlock()
		// Await and not a condition variable: a queue without threads runs its tasks in there.
		if h.queue.Await(context.Background(), quiet) != nil {
			return
		}
	}
}

// executionStarted and executionEnded count the executions that are not over when Execute returns.
func (h *Host) executionStarted() {
	h.mu.Lock()
	h.live++
	h.mu.Unlock()
}

func (h *Host) executionEnded() {
	h.mu.Lock()
	h.live--
	var quiet *async.Value
	if h.live == 0 {
		quiet, h.quiet = h.quiet, nil
	}
	h.mu.Unlock()
	if quiet != nil {
		async.Emplace(quiet, async.Chain{})
	}
}

// printDiagnostic writes e the way compilers do: "file:line:col: error: runtime error: message".
func printDiagnostic(w io.Writer, e *Error) {
	where := "<unknown>"
	if e.Location.Line > 0 {
		where = e.Location.String()
	}
	fmt.Fprintf(w, "%s: error: runtime error: %s\n", where, e.Message)
}

// Shared returns the host's one value of type T, made at the first call.
func Shared[T any](h *Host, create func() T) T {
	key := reflect.TypeFor[T]()
	h.mu.Lock()
	once, ok := h.shared[key].(func() T)
	if !ok {
		once = sync.OnceValue(create)
		if h.shared == nil {
			h.shared = make(map[reflect.Type]any)
		}
		h.shared[key] = once
	}
	h.mu.Unlock()
	return once()
}

// Error is a failed execution: code, message, the kernel at fault, its source location, and the cause. It is the status
// that travels in async values.
type Error = async.Status
