package async

import (
	"context"
	"sync/atomic"
)

// Promise is the write end of a value that is set once; [Future] is its read
// end. The pair is for code outside the executor that wants the two
// responsibilities apart. A Promise must not be copied.
type Promise[T any] struct {
	ref     Ref[T]
	set     atomic.Bool
	futures atomic.Int32
}

// Future is the read end of a [Promise], or of any [Ref]. It may be copied
// freely, and owns no reference of its own: its payload is borrowed from the
// value, which a counted payload's producer keeps alive. The zero Future is
// invalid.
type Future[T any] struct{ ref Ref[T] }

// NewPromise returns a promise that is not set.
func NewPromise[T any]() *Promise[T] {
	return &Promise[T]{ref: MakeUnconstructed[T]()}
}

// Future returns the read end.
func (p *Promise[T]) Future() Future[T] {
	p.futures.Add(1)
	return Future[T]{p.ref}
}

// Set keeps the promise. It panics if it was set before.
func (p *Promise[T]) Set(x T) {
	p.claim()
	p.ref.Emplace(x)
}

// SetError keeps the promise with an error. It panics if it was set before.
func (p *Promise[T]) SetError(err error) {
	p.claim()
	p.ref.SetError(err)
}

func (p *Promise[T]) claim() {
	if !p.set.CompareAndSwap(false, true) {
		panic("async: promise set twice")
	}
}

// Close ends the promise: if it was not set, its futures get an Aborted error.
// Deferring it makes sure that no waiter waits for ever.
func (p *Promise[T]) Close() {
	if p.set.CompareAndSwap(false, true) {
		p.ref.SetError(Errorf(Aborted, "promise was not kept"))
	}
}

// IsSet reports whether Set, SetError or Close has been called.
func (p *Promise[T]) IsSet() bool { return p.set.Load() }

// IsUnique reports whether the promise has no observers: no
// future was taken.
func (p *Promise[T]) IsUnique() bool { return p.futures.Load() == 0 }

// FutureOf returns a future for the value of r, which another reference must keep alive
// if it is counted.
func FutureOf[T any](r Ref[T]) Future[T] { return Future[T]{r} }

// IsValid reports whether f has a value to wait for.
func (f Future[T]) IsValid() bool { return !f.ref.IsEmpty() }

// IsReady reports whether the result is there.
func (f Future[T]) IsReady() bool { return f.ref.IsAvailable() }

// Ref returns the value behind f, borrowed, for use with [Map] and the like.
func (f Future[T]) Ref() Ref[T] { return f.ref }

// Await blocks until the result is there or ctx ends. It is for goroutines
// outside the worker pools.
func (f Future[T]) Await(ctx context.Context) (x T, err error) {
	if !f.IsValid() {
		return x, errInvalidFuture
	}
	if err := Await(ctx, f.ref.v); err != nil {
		return x, err
	}
	return f.ref.Result()
}

// OnReady runs do with the result: now if it is there, else on the goroutine
// that sets the promise.
func (f Future[T]) OnReady(do func(x T, err error)) { f.ref.AndThenResult(do) }

// Detach returns a future with the same result that becomes ready on ex, so
// that its callbacks do not run on the goroutine that sets the promise.
func (f Future[T]) Detach(ex Executor) Future[T] {
	in := MakeIndirectOf[T]()
	src := f.ref.CopyRef()
	src.AndThenOn(ex, func() { in.ForwardTo(src.v) })
	return Future[T]{Ref[T]{&in.Value}}
}

var errInvalidFuture = &Status{Code: InvalidArgument, Message: "future without a value"}

// JoinFutures returns a future that is ready when all of fs are. It is an
// error if any of them is: the first one in argument order, and at once if
// one is invalid.
func JoinFutures[T any](fs ...Future[T]) Future[Chain] {
	vs := make([]*Value, len(fs))
	for i, f := range fs {
		if !f.IsValid() {
			return Future[Chain]{MakeErrorRef[Chain](errInvalidFuture)}
		}
		vs[i] = f.ref.v
	}
	out := MakeUnconstructed[Chain]()
	RunWhenReady(vs, func() {
		for _, v := range vs {
			if st := v.Status(); st != nil {
				out.SetError(st)
				return
			}
		}
		out.Emplace(Chain{})
	})
	return Future[Chain]{out}
}
