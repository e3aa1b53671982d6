package runtime

import (
	"context"
	"reflect"
	"sync/atomic"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

// ExecContext is what a kernel may know about the execution it is part of. It is a value: asynchronous work keeps a copy.
type ExecContext struct {
	// Request is the request that the execution serves. It is nil only in frames made by hand.
	Request *Request
	// Queue takes tasks. A nil queue means that everything runs on the goroutine that is there.
	Queue workqueue.Queue
	// Replica and Partition number the device that the execution stands for.
	Replica, Partition int

	tracer Tracer
	within *scope // innermost first

	// The context is copied for every call, so these are short.
	lane  int32 // of the trace
	depth int32 // calls on this goroutine's stack
	level int32 // calls in all, but for the last depth

	// run is set in executions of tensor functions: they have a context of their own, cancelled by the first failure. So has op, the chain
	// that a kernel is part of.
	run *tensorRun
	op  *asyncOp
}

// Context returns the context of the execution. It is cancelled when the request is, and in tensor functions also when
// another part of the same execution has failed, or when the chain that the kernel is part of is cancelled.
func (c *ExecContext) Context() context.Context {
	switch {
	case c.op != nil:
		return c.op.context()
	case c.run != nil:
		return c.run.context()
	case c.Request != nil:
		return c.Request.Context()
	}
	return context.Background()
}

// Stopped reports whether the execution was cancelled or cannot go on, so that the results of running kernels are not used. It costs an
// atomic load, and may be asked once for every few microseconds of work.
func (c *ExecContext) Stopped() bool {
	return c.run != nil && (c.run.cancelled.Load() || c.op.isCancelled())
}

// NewExecContext returns the context in which a request starts: on its host's queue, with its tracer.
func (r *Request) NewExecContext() ExecContext {
	return ExecContext{Request: r, Queue: r.host.queue, tracer: r.tracer, lane: r.newLane()}
}

// scope is something that an execution is part of.
type scope struct {
	key   any
	outer *scope
}

// Within returns the context of executions that are part of what key names, for kernels that must know when they come
// around to themselves.
func (c ExecContext) Within(key any) ExecContext {
	c.within = &scope{key, c.within}
	return c
}

// IsWithin reports whether the execution is part of what key names.
func (c *ExecContext) IsWithin(key any) bool {
	for s := c.within; s != nil; s = s.outer {
		if s.key == key {
			return true
		}
	}
	return false
}

// cancelled returns the error that skips kernels, or nil.
func (c *ExecContext) cancelled() *async.Value {
	if c.Request == nil {
		return nil
	}
	return c.Request.cancelled.Load()
}

// newLane returns an unused trace lane.
func (c *ExecContext) newLane() int32 {
	if c.tracer == nil {
		return 0
	}
	return c.Request.newLane()
}

// Host returns the host that the execution runs on, or nil in a frame made by hand.
func (c *ExecContext) Host() *Host {
	switch {
	case c.Request != nil:
		return c.Request.host
	case c.run != nil:
		return c.run.host
	}
	return nil
}

// Data returns the datum of type T that the request was made with, as in
//
//	group, ok := runtime.Data[*collective.Group](f.Ctx())
func Data[T any](c *ExecContext) (T, bool) {
	if c.Request != nil {
		if v, ok := c.Request.data[reflect.TypeFor[T]()]; ok {
			return v.(T), true
		}
	}
	var zero T
	return zero, false
}

// Request is the unit of cancellation and of shared data: one call from outside, with everything that it sets in motion.
// It wraps a context.Context; cancelling either cancels both.
type Request struct {
	host *Host
	ctx  context.Context
	data map[reflect.Type]any

	tracer Tracer
	lanes  atomic.Int32

	stopCtx   context.CancelCauseFunc
	unwatch   func() bool
	cancelled atomic.Pointer[async.Value] // error value; nil while the request lives

	resources *ResourceContext
}

// RequestOptions are what a request may carry. The zero value is a plain request.
type RequestOptions struct {
	// Data can be found by type with Data; of several with one type the last counts.
	Data []any
	// Resources are named values that outlive the request. Nil means none: kernels that need them fail.
	Resources *ResourceContext
	// Tracer sees functions and kernels that the request runs. Nil costs one test per kernel.
	Tracer Tracer
}

// NewRequest starts a request on host. Close it when its work is done.
func NewRequest(ctx context.Context, host *Host, o RequestOptions) *Request {
	r := &Request{host: host, resources: o.Resources, tracer: o.Tracer}
	if len(o.Data) > 0 {
		r.data = make(map[reflect.Type]any, len(o.Data))
		for _, d := range o.Data {
			r.data[reflect.TypeOf(d)] = d
		}
	}
	// The end of ctx arrives through cancelWith, so that the request is cancelled before the context is seen to be done.
	r.ctx, r.stopCtx = context.WithCancelCause(context.WithoutCancel(ctx))
	if ctx.Done() != nil {
		r.unwatch = context.AfterFunc(ctx, func() { r.cancelWith(contextStatus(ctx)) })
	}
	return r
}

func (r *Request) newLane() int32 { return r.lanes.Add(1) - 1 }

// Context returns the request's context.
func (r *Request) Context() context.Context { return r.ctx }

// Host returns the host the request runs on.
func (r *Request) Host() *Host { return r.host }

// Resources returns the named values of the request, or nil.
func (r *Request) Resources() *ResourceContext { return r.resources }

// Cancel cancels the request: kernels that have not started are skipped with the error "Cancelled". The first
// cancellation counts. Cancel is safe for concurrent use.
func (r *Request) Cancel() {
	r.cancelWith(&async.Status{Code: async.Cancelled, Message: "Cancelled"})
}

// Cancelled returns the error value that skipped kernels get, or nil while the request lives. It costs one atomic load.
func (r *Request) Cancelled() *async.Value { return r.cancelled.Load() }

func (r *Request) cancelWith(st *async.Status) {
	if r.cancelled.Load() == nil && r.cancelled.CompareAndSwap(nil, async.MakeError(st)) {
		r.stopCtx(st)
	}
}

// Close gives back what the request holds. It does not cancel it in the sense of Cancel, but its context ends.
func (r *Request) Close() {
	if r.unwatch != nil {
		r.unwatch()
	}
	r.stopCtx(nil)
}

// contextStatus is the status of work that ctx has ended.
func contextStatus(ctx context.Context) *async.Status {
	if st, ok := context.Cause(ctx).(*async.Status); ok {
		return st
	}
	if ctx.Err() == context.DeadlineExceeded {
		return &async.Status{Code: async.DeadlineExceeded, Message: "Deadline exceeded", Cause: context.DeadlineExceeded}
	}
	return &async.Status{Code: async.Cancelled, Message: "Cancelled", Cause: context.Cause(ctx)}
}
