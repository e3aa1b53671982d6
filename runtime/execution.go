package runtime

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gohalo/halo/runtime/async"
)

// execution is one run of a general function: its registers and ready counts.
//
// It starts on one goroutine, and as long as nothing is outstanding, that one is the only one: counters are plain
// integers then. Before the first continuation or task that another goroutine could run, the execution becomes
// concurrent, for good; counters and contended registers are accessed atomically from there on. That makes the common case,
// a graph of synchronous kernels, free of atomic operations.
//
// References: a register holds one reference of a counted value for every use, taken when the value is stored. Each
// kernel gives back those of its arguments after it ran or was skipped; the return hands its own to the caller. So the
// last user of a value holds the only reference.
type execution struct {
	g     *generalFunction
	ctx   ExecContext
	regs  []*async.Value
	count []int32
	conts []continuation // per register; made when the execution becomes concurrent

	// locals has, for registers of local kernels, the value that the last execution put there, to be written over.
	locals []*async.Value

	concurrent bool
	holders    atomic.Int32 // loops that run, and continuations and tasks that will; counted once it is concurrent
	first      loop
}

// continuation goes on with the users of a register when its value is available.
type continuation struct {
	waiter async.Waiter
	exec   *execution
	reg    int32
	stream int32
	thread bool // hand over to the queue
}

// executionPool keeps executions of one function.
type executionPool struct{ sync.Pool }

func (g *generalFunction) newExecution(ctx *ExecContext) *execution {
	e, _ := g.pool.Get().(*execution)
	if e == nil {
		e = &execution{
			g:     g,
			regs:  make([]*async.Value, len(g.regs)),
			count: make([]int32, len(g.counts)),
		}
		if g.hasLocals {
			e.locals = make([]*async.Value, len(g.regs))
		}
		e.first.init(g)
	}
	if !g.sequential {
		copy(e.count, g.counts)
	}
	e.ctx = *ctx
	e.concurrent = false
	return e
}

// release gives up a hold. The last one makes the state available for the next execution.
func (e *execution) release() {
	if e.concurrent {
		if e.holders.Add(-1) != 0 {
			return
		}
		if h := e.ctx.Host(); h != nil {
			h.executionEnded()
		}
	}
	clear(e.regs)
	e.ctx = ExecContext{}
	e.g.pool.Put(e)
}

// share makes the execution concurrent. The caller is the only goroutine that knows it.
func (e *execution) share() {
	if e.concurrent {
		return
	}
	e.concurrent = true
	e.holders.Store(1)
	if e.conts == nil {
		e.conts = make([]continuation, len(e.regs))
	}
	if h := e.ctx.Host(); h != nil {
		h.executionStarted()
	}
}

// Execute runs f with borrowed arguments and fills results, each with one reference for the caller. It returns when every
// kernel was attempted: it has run, or waits for a value that is being computed. Results that do not exist then are values that become available
// later. With LoadOptions.Strict, as TFRT does it, it returns when all work that can be done on this goroutine is done. Where a value is known already it is returned itself, the same one for results that are the same register.
//
// Errors travel in the results. Execute itself fails only if the number of arguments or results is wrong; results are not
// touched then.
func (f *Function) Execute(ctx ExecContext, args, results []*async.Value) error {
	for _, v := range args {
		v.AddRef()
	}
	if err := f.ExecuteByValue(ctx, args, results); err != nil {
		dropAll(args)
		return err
	}
	return nil
}

// ExecuteByValue is Execute with ownership of the arguments' references given away, so that the last user of an argument
// may find it unique. If it fails they stay with the caller.
func (f *Function) ExecuteByValue(ctx ExecContext, args, results []*async.Value) error {
	if err := f.checkExecute(args, results); err != nil {
		return err
	}
	switch {
	case f.tensor != nil:
		f.executeTensor(ctx, f.program.values, args, results)
	case f.native != nil:
		f.executeNative(ctx, args, results)
	case f.sync != nil:
		f.executeSync(ctx, args, results)
	case ctx.depth > maxInlineDepth:
		f.executeDeep(ctx, args, results)
	default:
		e := f.general.newExecution(&ctx)
		l := &e.first
		l.begin(e, int(ctx.lane))
		if ctx.tracer != nil {
			ctx.tracer.Begin(int(ctx.lane), TraceFunction, f.name)
		}
		if e.g.sequential {
			l.walk(args)
		} else {
			l.start(args)
		}
		l.run()
		if l.tries != nil {
			l.tries.finish()
			l.tries = nil
		}
		if ctx.tracer != nil {
			ctx.tracer.End(int(ctx.lane), TraceFunction, f.name)
		}
		e.takeResults(results)
		e.release()
	}
	return nil
}

// ExecuteAsync makes the results at once, all of them unavailable, and starts f as a task of the queue. Arguments are
// borrowed.
func (f *Function) ExecuteAsync(ctx ExecContext, args, results []*async.Value) error {
	if err := f.checkExecute(args, results); err != nil {
		return err
	}
	for _, v := range args {
		v.AddRef()
	}
	ctx.depth = 0
	f.executeLater(ctx, args, results)
	return nil
}

func (f *Function) checkExecute(args, results []*async.Value) error {
	if len(args) != f.NumArgs() || len(results) != f.NumResults() {
		return async.Errorf(async.InvalidArgument, "function %q takes %d arguments and gives %d results, got %d and %d",
			f.name, f.NumArgs(), f.NumResults(), len(args), len(results))
	}
	return nil
}

func dropAll(vs []*async.Value) {
	for _, v := range vs {
		v.DropRef()
	}
}

// Calls nest on the goroutine's stack up to maxInlineDepth; deeper ones continue as tasks. Recursion that never ends is
// stopped at maxCallLevel, before it takes all memory.
const (
	maxInlineDepth = 200
	maxCallLevel   = 1 << 16
)

// executeDeep continues a deep recursion as a task of the queue.
func (f *Function) executeDeep(ctx ExecContext, args, results []*async.Value) {
	ctx.level += ctx.depth
	ctx.depth = 0
	if ctx.level > maxCallLevel {
		st := async.Errorf(async.ResourceExhausted, "calls are nested more than %d deep", maxCallLevel).At("", statusLocation(f.Location()))
		failAll(args, results, async.MakeError(st))
		return
	}
	f.executeLater(ctx, args, results)
}

// executeLater starts f as a task. It takes over the arguments' references.
func (f *Function) executeLater(ctx ExecContext, args, results []*async.Value) {
	d := newDeferredCall(f, ctx, args, results)
	ctx.Queue.AddTask(func() {
		// The numbers of arguments and results have been checked.
		_ = d.fn.ExecuteByValue(d.ctx, d.args, d.results)
		d.keepPromises()
	})
}

// deferredCall is a call that has not started, whose results exist. It holds the arguments' references until it starts.
type deferredCall struct {
	fn            *Function
	ctx           ExecContext
	args, results []*async.Value
	promised      []*async.Indirect
}

func newDeferredCall(f *Function, ctx ExecContext, args, results []*async.Value) *deferredCall {
	values := make([]*async.Value, len(args)+len(results))
	d := &deferredCall{fn: f, ctx: ctx, args: values[:len(args)], results: values[len(args):]}
	copy(d.args, args)
	d.promised = make([]*async.Indirect, len(results))
	for i := range results {
		d.promised[i] = async.MakeIndirect()
		results[i] = &d.promised[i].Value
		results[i].AddRef() // for the promise
	}
	return d
}

// keepPromises forwards what was promised to the results. The promise's own reference goes before the consumers run, so
// that they may find the value unique.
func (d *deferredCall) keepPromises() {
	for i, p := range d.promised {
		ready := p.ForwardLater(d.results[i])
		p.DropRef()
		ready.Run()
	}
}

// takeResults moves the registers of the return to the caller.
func (e *execution) takeResults(results []*async.Value) {
	for i, r := range e.g.results {
		if e.concurrent {
			results[i] = e.contended(r)
		} else {
			results[i] = e.regs[r]
		}
	}
}

// slot is a register for atomic access. Registers are plain pointers because the sequential part of an execution reads
// and writes them plainly.
func (e *execution) slot(r int32) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Pointer(&e.regs[r]))
}

// contended returns the value of a register that may be empty: an indirect is put there then, with a reference for every
// use and one for the writer of the register.
func (e *execution) contended(r int32) *async.Value {
	if v := (*async.Value)(atomic.LoadPointer(e.slot(r))); v != nil {
		return v
	}
	in := async.MakeIndirect()
	in.AddRefs(int(e.g.regs[r].uses))
	if atomic.CompareAndSwapPointer(e.slot(r), nil, unsafe.Pointer(&in.Value)) {
		return &in.Value
	}
	v := (*async.Value)(atomic.LoadPointer(e.slot(r)))
	v.AddRef()
	in.ForwardTo(v)
	in.DropRefs(int(e.g.regs[r].uses) + 1)
	return v
}

// store puts v, whose reference it takes over, into a register, and returns what the register's users will see: v, or the
// indirect that was there before and now stands for it. It returns nil if there are no uses.
func (e *execution) store(r int32, v *async.Value) *async.Value {
	reg := &e.g.regs[r]
	if reg.uses == 0 {
		v.DropRef()
		return nil
	}
	if v.IsCounted() {
		v.AddRefs(int(reg.uses) - 1)
	}
	if !reg.contended {
		e.regs[r] = v
		return v
	}
	var old *async.Value
	if e.concurrent {
		if !atomic.CompareAndSwapPointer(e.slot(r), nil, unsafe.Pointer(v)) {
			old = (*async.Value)(atomic.LoadPointer(e.slot(r)))
		}
	} else if old = e.regs[r]; old == nil {
		e.regs[r] = v
	}
	if old == nil {
		return v
	}
	v.DropRefs(int(reg.uses) - 1)
	in, _ := async.AsIndirect(old) // this register has no other writer
	// The writer's reference goes before the users run, so that a last one among them sees the only reference.
	ready := in.ForwardLater(v)
	in.DropRef()
	ready.Run()
	return old
}
