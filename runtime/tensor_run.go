package runtime

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

// RunOptions are what an execution of a tensor function may carry. The zero value runs on the program's host.
type RunOptions struct {
	// Request gives kernels data and cancellation besides the context's, may be nil. Where it is set, its host is used.
	Request *Request
	// Replica and Partition number the device that the execution stands for.
	Replica, Partition int
	// Tracer sees every kernel. Nil, the usual case, costs one test per kernel.
	Tracer Tracer
	// Meter measures what the steps take. Nil, the usual case, costs nothing more.
	Meter *Meter
	// Rounds, if set, counts the rounds of loops, but of those that are one program over scalars.
	Rounds *atomic.Int64
	// Rest, if set, is called with true when the execution comes to rest, since all parts of it have ended or wait for
	// something outside of it, and with false when it goes on. Of two calls that cross each other the later may come
	// first, so count them: an execution begins at work. It is for callers that detect that none of several executions can go on.
	Rest func(rests bool)
	// Update, if set, is called at each asynchronous update, by whatever goroutine comes there. If it returns an error, the chain is cancelled
	// there: see Update. Nil, the usual case, costs a test for each update; otherwise loops and calls run step by step.
	Update func(Update) error
	// Valid, if set, has room for one entry for each result. After an error it says which results were computed all the same, since they do
	// not depend on what failed.
	Valid []bool
}

// IsTensor reports whether f has a buffer plan and is run by Run. All other functions are run by Execute.
func (f *Function) IsTensor() bool { return f.tensor != nil }

// ArenaBytes returns the memory of one execution of a tensor function besides its arguments and results: the planned
// arena, the kernels' scratch, and what they keep for loops.
func (f *Function) ArenaBytes() int64 {
	t := f.tensor
	return alignUp(t.frame, BufferAlign) + t.working()
}

// ArgTypes returns the types of the arguments of a tensor function.
func (f *Function) ArgTypes() []TensorType {
	types := make([]TensorType, f.tensor.numArgs)
	for i := range types {
		types[i] = f.tensor.argType(i)
	}
	return types
}

// ResultTypes returns the types of the results of a tensor function.
func (f *Function) ResultTypes() []TensorType {
	types := make([]TensorType, len(f.tensor.results))
	for i := range types {
		types[i] = f.tensor.resultType(i)
	}
	return types
}

// NewResults returns zeroed buffers for the results of a tensor function.
func (f *Function) NewResults() []Buffer {
	types := f.ResultTypes()
	results := make([]Buffer, len(types))
	for i := range types {
		results[i] = types[i].NewBuffer()
	}
	return results
}

// Run executes a tensor function and returns when it is done. Arguments are read; results are written into the memory
// that the caller provides. An argument and a result may be the same memory only where the program's metadata says that
// they alias. Kernels run on the calling goroutine; async callees and parts of ParallelFor on the queue. In the steady
// state a run of a program without async starts, with a context that cannot be cancelled, allocates nothing.
//
// Cancelling ctx ends the run with a Cancelled or DeadlineExceeded error after the kernels that are running. Errors are
// of type *Error. An error of a kernel fails what depends on it: the contents of those results are undefined, and RunOptions.Valid says which
// they are. Run is safe for concurrent use; it must not be
// called on a worker of the queue, where Start is the way.
func (f *Function) Run(ctx context.Context, o RunOptions, args, results []Buffer) error {
	r, err := f.prepare(ctx, &o, args, results)
	if err != nil {
		return err
	}
	if r.entry.forks && r.ctx.Queue.ParallelismLevel() == 1 {
		r.ctx.Queue.AddTask(r.main.resume) // one thread means one: parts that run beside each other take turns on it
	} else {
		r.main.task()
	}
	r.wait()
	st := r.stop.Load()
	if o.Valid != nil {
		r.valid(o.Valid)
	}
	r.reset()
	f.instances.put(r)
	if st != nil {
		return st
	}
	return nil
}

// Start is Run for callers that do not wait: it returns a value that becomes available, as a chain or an error, when
// the run is done. Until then arguments and results belong to it. The run starts on the queue.
func (f *Function) Start(ctx context.Context, o RunOptions, args, results []Buffer) async.Ref[async.Chain] {
	done := async.MakeUnconstructed[async.Chain]()
	r, err := f.prepare(ctx, &o, args, results)
	if err != nil {
		done.SetError(err)
		return done
	}
	r.release = func(r *tensorRun) {
		st := r.stop.Load()
		if o.Valid != nil {
			r.valid(o.Valid)
		}
		r.reset()
		f.instances.put(r)
		if st != nil {
			done.SetError(st)
		} else {
			done.Emplace(async.Chain{})
		}
	}
	r.ctx.Queue.AddTask(r.main.resume)
	return done
}

// prepare takes an instance and binds it to the caller's memory.
func (f *Function) prepare(ctx context.Context, o *RunOptions, args, results []Buffer) (*tensorRun, error) {
	t := f.tensor
	if t == nil {
		return nil, async.Errorf(async.FailedPrecondition, "function %q is not a tensor function", f.name)
	}
	if len(args) != t.numArgs || len(results) != len(t.results) {
		return nil, async.Errorf(async.InvalidArgument, "function %q takes %d arguments and %d results, got %d and %d",
			f.name, t.numArgs, len(t.results), len(args), len(results))
	}
	for i := range args {
		if err := checkBuffer("argument", i, &args[i], &t.regs[i]); err != nil {
			return nil, err
		}
	}
	for i := range results {
		if err := checkBuffer("result", i, &results[i], &t.regs[t.results[i]]); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, contextStatus(ctx)
	}
	host := f.program.host
	if o.Request != nil {
		host = o.Request.host
	}
	r, err := f.instances.get(t, host)
	if err != nil {
		return nil, err
	}
	base := r.main.base
	for i := range args {
		base.bindArg(i, args[i].Data)
	}
	for i := range results {
		base.bindOut(i, results[i].Data)
	}
	r.ctx.Request, r.ctx.Queue = o.Request, host.queue
	r.ctx.Replica, r.ctx.Partition = o.Replica, o.Partition
	r.tracer = o.Tracer
	r.worked, _ = o.Tracer.(WorkTracer)
	if r.meter != o.Meter {
		r.attach(o.Meter)
	}
	r.update, r.rounds = o.Update, o.Rounds
	r.stepwise = r.tracer != nil || r.update != nil
	r.seen = r.stepwise || r.meter != nil
	r.rest = o.Rest
	r.awakened.Store(1)
	r.parent = ctx
	r.main.executor = host.queue
	r.main.start()
	r.pending.Store(1)
	r.state.Store(runRunning)
	r.watch(ctx)
	return r, nil
}

func checkBuffer(what string, i int, b *Buffer, want *Register) error {
	if b.Type != want.Type || !slices.Equal(b.Dims, want.Dims) || int64(len(b.Data)) != want.Bytes {
		return async.Errorf(async.InvalidArgument, "%s %d: got %v, want type %d%v in %d bytes", what, i, *b, want.Type, want.Dims, want.Bytes)
	}
	if len(b.Data) > 0 {
		if align := naturalAlign(want.Bytes, numElements(want.Dims)); dataAddress(b.Data)%align != 0 {
			return async.Errorf(async.InvalidArgument, "%s %d: data is not aligned to %d bytes", what, i, align)
		}
	}
	return nil
}

// watch lets the end of ctx and of the request end the run. The watcher counts as a part of the run, so the instance
// cannot be given away while it is at work.
func (r *tensorRun) watch(ctx context.Context) {
	if r.ctx.Request != nil {
		if ctx.Done() == nil {
			ctx = r.ctx.Request.Context()
			r.parent = ctx
		}
	}
	if ctx.Done() == nil {
		return
	}
	r.pending.Add(1)
	r.unwatch = context.AfterFunc(ctx, func() {
		r.fail(contextStatus(ctx))
		r.end()
	})
}

// context returns a context that ends when the run fails.
func (r *tensorRun) context() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.derived == nil {
		// The end of the caller's context arrives through fail, so that it is the run's error and not what kernels
		// make of it.
		r.derived, r.cancel = context.WithCancelCause(context.WithoutCancel(r.parent))
		if st := r.stop.Load(); st != nil && r.cancelled.Load() {
			r.cancel(st)
		}
	}
	return r.derived
}

// fail makes st the run's error unless it has one, and ends the run: every fiber notices, running ones before their
// next kernel, those that wait for an operand now, and kernels that wait for something outside by their context.
func (r *tensorRun) fail(st *async.Status) {
	r.stop.CompareAndSwap(nil, st)
	if r.cancelled.Swap(true) {
		return
	}
	r.mu.Lock()
	late, cancel := r.late, r.cancel
	r.mu.Unlock()
	if cancel != nil {
		cancel(st)
	}
	for _, op := range late {
		op.wake()
	}
}

// abandonLate fails the run if its main fiber has ended and a callee still waits for operands: they will never be bound.
func (r *tensorRun) abandonLate() {
	r.mu.Lock()
	late := r.late
	r.mu.Unlock()
	for _, op := range late {
		op.mu.Lock()
		missing := op.running.Load() && op.bound < op.callee.numArgs
		op.mu.Unlock()
		if missing {
			name, loc := r.entry.kernelName(&step{kernel: -1})
			r.fail(async.Errorf(async.FailedPrecondition, "async start of %q never gets all its operands", op.callee.fn.name).At(name, statusLocation(loc)))
			return
		}
	}
}

// end counts a fiber, or the watcher, as ended. The last one completes the run; the caller must not touch it after.
func (r *tensorRun) end() {
	if r.pending.Add(-1) != 0 {
		return
	}
	if r.release != nil {
		release := r.release
		r.release = nil
		release(r)
		return
	}
	if r.state.Swap(runFinished) == runAwaited {
		if r.done != nil {
			async.Emplace(r.done, async.Chain{})
		} else {
			r.signal <- struct{}{}
		}
	}
}

// wait returns when the run is complete.
func (r *tensorRun) wait() {
	if r.state.Load() == runFinished {
		return
	}
	if _, ok := r.ctx.Queue.(workqueue.Autonomous); ok { // without a value, which cannot be used again
		if r.signal == nil {
			r.signal = make(chan struct{}, 1)
		}
		if r.state.CompareAndSwap(runRunning, runAwaited) {
			<-r.signal
		}
		return
	}
	done := async.MakeUnconstructed[async.Chain]().Value()
	r.done = done
	if r.state.CompareAndSwap(runRunning, runAwaited) {
		// The run ends by itself when its context does, so the wait is not cut short: its memory is in use until then.
		if r.ctx.Queue.Await(context.Background(), done) != nil {
			async.BlockUntilReady(done) // on a worker, against the rules; slow is better than wrong
		}
	} else {
		async.Emplace(done, async.Chain{}) // it ended meanwhile, and the value has no other reference
	}
}

// reset makes the instance ready for the next execution.
func (r *tensorRun) reset() {
	for _, op := range r.static {
		op.running.Store(false)
	}
	for len(r.detached) > 0 {
		op := r.detached[len(r.detached)-1]
		op.running.Store(false)
		for _, n := range op.nested {
			n.running.Store(false)
		}
		r.reattach(op)
	}
	if r.cancel != nil {
		r.cancel(nil)
	}
	r.stop.Store(nil)
	r.cancelled.Store(false)
	clear(r.failed)
	for _, op := range r.late {
		op.listed = false
	}
	r.late = r.late[:0]
	r.derived, r.cancel, r.parent, r.unwatch, r.done = nil, nil, nil, nil, nil
	r.ctx.Request, r.tracer, r.worked, r.rest, r.update, r.rounds = nil, nil, nil, nil, nil, nil
	base := r.main.base
	for i := range base.fn.argRegs {
		base.bindArg(i, nil)
	}
	for i := range base.outs {
		base.bindOut(i, nil)
	}
}
