package async

import (
	"runtime"
	"unsafe"
)

// Waiter is the list node of a continuation. Embedding one in the object that
// waits makes registration free of allocations. A node may be registered on
// one value at a time and be used again as soon as its function is called.
type Waiter struct {
	next *Waiter
	fn   func(arg any) Ready
	arg  any
}

// Ready is the list of continuations that a publication released and nobody
// has run yet. The zero Ready is empty. Every Ready must be run once: by Run,
// or by returning it from a waiter's function to the loop that called it.
type Ready struct{ head *Waiter }

// IsEmpty reports whether there is nothing to run.
func (r Ready) IsEmpty() bool { return r.head == nil }

// Join returns a Ready that runs the continuations of r and then those of s.
func (r Ready) Join(s Ready) Ready {
	if r.head == nil {
		return s
	}
	if s.head != nil {
		last(r.head).next = s.head
	}
	return r
}

// Run runs the continuations on the calling goroutine, and after each one
// those it released in turn. A panic of a continuation does not keep the
// others from running; it passes on to the caller afterwards. Only when
// thousands of continuations have called each other through Run, instead of
// returning what they released, do the rest move to a new goroutine, and Run
// may return before they have run.
func (r Ready) Run() {
	if r.head == nil {
		return
	}
	if isDepthSample(r.head) && stackIsDeep() {
		go drain(r.head)
		return
	}
	drain(r.head)
}

// Continuations that publish through Emplace instead of returning a Ready
// recurse, and nothing in Go tells a function how deep its goroutine is. So
// about one Run in 1024 measures the stack, and if it has more than maxDepth
// frames continues on a fresh one. A recursion runs different nodes at
// different levels, so the hash of a node's address serves as the die. The odds
// of going n levels too deep unnoticed are e^(-n/1024).
func isDepthSample(w *Waiter) bool {
	const golden = 0x9E3779B97F4A7C15
	return uint64(uintptr(unsafe.Pointer(w)))*golden>>(64-10) == 0
}

const maxDepth = 1 << 12 // frames

func stackIsDeep() bool {
	var pc [1]uintptr
	return runtime.Callers(maxDepth, pc[:]) > 0
}

// drain is the trampoline: a loop over a list that the called functions
// extend at its front.
func drain(w *Waiter) {
	finished := false
	defer func() {
		if !finished && w != nil {
			drain(w)
		}
	}()
	for w != nil {
		cur := w
		w = cur.next
		cur.next = nil // the node is its owner's again
		if more := cur.fn(cur.arg); more.head != nil {
			last(more.head).next = w
			w = more.head
		}
	}
	finished = true
}

func last(w *Waiter) *Waiter {
	for w.next != nil {
		w = w.next
	}
	return w
}

// AndThen runs f when v is available, with a payload or with an error: now and
// on the caller if it is already, else inside the publication, on the
// publishing goroutine. f may therefore run before AndThen returns; hold no
// lock that f takes. Among the waiters of one value no order is promised.
//
// f does not keep a counted v alive. It needs a reference of its own if it
// uses v.
func (v *Value) AndThen(f func()) {
	if v.IsAvailable() {
		f()
		return
	}
	v.andThenClosure(f)
}

func (v *Value) andThenClosure(f func()) {
	v.AndThenCall(new(Waiter), callClosure, f)
}

func callClosure(f any) Ready {
	f.(func())()
	return Ready{}
}

// AndThenCall is AndThen without allocation: it links w, usually embedded in
// the object arg points to, and calls fn(arg) when v is available. fn is meant
// to be a plain function. It may publish other values with the Later
// functions and return their joined Ready, which keeps the stack flat however
// long the chain of values is.
func (v *Value) AndThenCall(w *Waiter, fn func(arg any) Ready, arg any) {
	if v.IsAvailable() || !v.link(w, fn, arg) {
		fn(arg).Run()
	}
}

// AndThenLater is AndThenCall for use inside another waiter: if v is available
// already, it returns what fn released instead of running it.
func (v *Value) AndThenLater(w *Waiter, fn func(arg any) Ready, arg any) Ready {
	if v.IsAvailable() || !v.link(w, fn, arg) {
		return fn(arg)
	}
	return Ready{}
}

// link pushes w onto the list of v. It reports false if v has become
// available meanwhile; w is not linked then.
func (v *Value) link(w *Waiter, fn func(arg any) Ready, arg any) bool {
	w.fn, w.arg = fn, arg
	for {
		h := v.head.Load()
		if h == &concreteMark || h == &errorMark {
			w.next = nil
			return false
		}
		w.next = h
		if v.head.CompareAndSwap(h, w) {
			if v.has(bitTracked) {
				liveWaiters.Add(1)
			}
			return true
		}
	}
}

// Executor runs tasks elsewhere. Every work queue is one.
type Executor interface {
	// AddTask arranges for task to run once, and returns without waiting.
	AddTask(task func())
}

// AndThenOn hands f to ex when v is available, even if it is available
// already, and holds a reference to v until f has returned.
func (v *Value) AndThenOn(ex Executor, f func()) {
	v.AddRef()
	task := func() {
		defer v.DropRef()
		f()
	}
	v.AndThen(func() { ex.AddTask(task) })
}

// AndThenStatus is AndThen with the outcome: nil when v is concrete, its
// status when it is an error.
func (v *Value) AndThenStatus(f func(st *Status)) {
	v.AndThen(func() { f(v.Status()) })
}
