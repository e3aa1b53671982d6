package runtime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gohalo/halo/runtime/async"
)

// asyncOp is an asynchronous operation: the callee as a fiber of its own, and the event that becomes available when it ends, for which the
// done leaves its fiber as a waiter.
type asyncOp struct {
	fiber  fiber
	step   *step
	callee *tensorFunction
	outs   [][]byte   // where the results are written
	nested []*asyncOp // static starts inside of a detached one

	running  atomic.Bool            // from the start to the done
	event    async.Ref[async.Chain] // of the present execution
	handOff  atomic.Pointer[fiber]  // while the event is published: open, then a fiber that was waiting for it
	executor async.Executor

	mu      sync.Mutex
	bound   int      // arguments that have their operand
	waiting []*fiber // of the callee, suspended until bound grows

	ctx       ExecContext // of its kernels
	parent    *asyncOp    // the chain that began the present execution, or nil
	cancelled atomic.Bool
	derived   context.Context // made on demand for kernels that ask
	cancel    context.CancelCauseFunc
	progress  progress

	listed bool // among the run's late ops; guarded by the run's lock

	site *site    // of a detached op: where it goes when it is done
	args [][]byte // memory for the copies of its operands
}

// asyncKernel runs a kernel that may finish later.
func (f *fiber) asyncKernel(a *activation, s *step) outcome {
	const waited = 1
	v := f.waitFor
	if a.phase != waited {
		if f.run.worked != nil {
			f.began, f.ready = time.Now(), time.Time{}
		}
		if v = s.runAsync(&a.frames[a.pc]); v != nil && v.IsUnavailable() {
			a.phase = waited
			f.waitFor = v
			v.AndThenCall(&f.waiter, resumeFiber, f)
			return suspended
		}
	}
	if to := f.run.worked; to != nil {
		w := f.work(a, s, f.began)
		w.Waits = a.phase == waited
		if w.End = f.ready; w.End.IsZero() {
			w.End = time.Now()
		}
		to.Work(w)
	}
	if f.run.update != nil {
		f.part(a)
	}
	a.phase, f.waitFor = 0, nil
	if v != nil {
		st := v.Status()
		v.DropRef()
		if st != nil {
			f.failKernel(st)
		}
	}
	a.pc++
	return proceed
}

// resumeFiber hands a fiber to its queue: the goroutine that made the value available has other work.
func resumeFiber(arg any) async.Ready {
	f := arg.(*fiber)
	if f.run.worked != nil {
		f.ready = time.Now()
	}
	f.wake()
	return async.Ready{}
}

// wake gives a suspended fiber to its queue.
func (f *fiber) wake() {
	f.run.awake()
	f.executor.AddTask(f.resume)
}

// awake counts a fiber as at work, from when it is handed to its queue on.
func (r *tensorRun) awake() {
	if r.rest != nil && r.awakened.Add(1) == 1 {
		r.rest(false)
	}
}

// rested ends what awake began, and the hold on the run that its fiber had meanwhile.
func (r *tensorRun) rested() {
	if r.awakened.Add(-1) == 0 {
		r.rest(true)
	}
	r.end()
}

// asyncStart starts the callee on its execution thread and goes on.
func (f *fiber) asyncStart(a *activation, s *step) outcome {
	run := f.run
	site := &a.sites[s.site]
	op := site.op
	if s.control.Detached {
		var err error
		if op, err = run.detach(site, s); err != nil {
			f.failAt(async.StatusOf(err))
			return ended
		}
	} else if op.running.Load() {
		f.failAt(async.Errorf(async.FailedPrecondition, "async start runs again before its done"))
		return ended
	}
	op.begin(f.op)
	base := op.fiber.base
	op.mu.Lock()
	op.bound, op.waiting = 0, op.waiting[:0]
	if run.stop.Load() != nil {
		run.forgetFailures(base)
	}
	op.bind(a, s.in)
	op.mu.Unlock()
	if !s.control.Detached {
		for i, r := range s.control.Outputs {
			base.bindOut(i, a.regs[r].Data)
		}
	}
	op.event = async.MakeUnconstructed[async.Chain]()
	op.executor = run.host.thread(s.control.Thread, run.ctx.Queue)
	op.fiber.executor = op.executor
	op.fiber.start()
	op.running.Store(true)
	a.events[s.out[0]] = op
	a.pc++
	run.pending.Add(1)
	if s.callees[0].lateFrom > 0 {
		run.mu.Lock()
		if !op.listed { // a loop starts it again and again
			op.listed = true
			run.late = append(run.late, op)
		}
		run.mu.Unlock()
	}
	if op.executor == async.Executor(run.ctx.Queue) && run.ctx.Queue.ParallelismLevel() == 1 && s.callees[0].steps[0].kind == stepAsyncKernel {
		// A collective asks other devices for something, and suspends. With one worker it would not ask before what comes here is done.
		op.fiber.task()
		return proceed
	}
	op.fiber.wake()
	return proceed
}

// bind binds the next operands of the callee, in order. The op's lock is held.
func (op *asyncOp) bind(a *activation, in []int32) {
	base := op.fiber.base
	for i, r := range in {
		data := a.regs[r].Data
		if op.args != nil {
			copy(op.args[op.bound], data)
			data = op.args[op.bound]
		}
		base.bindArg(op.bound, data)
		if r := op.fiber.run; r.stop.Load() != nil && r.anyFailed(a, in[i:i+1]) {
			r.markFailed(base, []int32{int32(op.bound)})
		}
		if base.events != nil && a.events != nil {
			base.events[op.bound] = a.events[r]
		}
		op.bound++
	}
}

// event returns the op of the event in the first operand of an update or done, or fails.
func (f *fiber) event(a *activation, s *step) *asyncOp {
	op := a.events[s.in[0]]
	if op == nil || !op.running.Load() {
		f.failAt(async.Errorf(async.FailedPrecondition, "the operand is not the event of a running async start"))
		return nil
	}
	return op
}

// asyncUpdate passes the event on, and late operands to the callee.
func (f *fiber) asyncUpdate(a *activation, s *step) outcome {
	op := f.event(a, s)
	if op == nil {
		return ended
	}
	a.events[s.out[0]] = op
	late := s.in[1:]
	if len(late) > 0 {
		op.mu.Lock()
		if op.bound+len(late) > op.callee.numArgs {
			op.mu.Unlock()
			f.failAt(async.Errorf(async.InvalidArgument, "function %q takes %d operands, update binds number %d",
				op.callee.fn.name, op.callee.numArgs, op.bound+len(late)))
			return ended
		}
		for i, r := range late {
			if got, want := len(a.regs[r].Data), op.callee.regs[op.bound+i].Bytes; int64(got) != want {
				op.mu.Unlock()
				f.failAt(async.Errorf(async.InvalidArgument, "operand %d has %d bytes, want %d", op.bound+i, got, want))
				return ended
			}
		}
		op.bind(a, late)
		op.mu.Unlock()
	}
	if f.run.update != nil {
		f.checkpoint(a, s, op)
	}
	if len(late) > 0 {
		op.wake()
	}
	a.pc++
	return proceed
}

// wake resumes what of the callee waits for an operand.
func (op *asyncOp) wake() {
	op.mu.Lock()
	waiting := op.waiting
	op.waiting = nil
	op.mu.Unlock()
	for _, f := range waiting {
		f.wake()
	}
}

// awaitArgument suspends an async callee until an operand is bound.
func (f *fiber) awaitArgument(a *activation, s *step) outcome {
	op := f.op
	op.mu.Lock()
	defer op.mu.Unlock()
	if f.run.cancelled.Load() {
		return ended
	}
	if op.bound <= int(s.argument) && !op.isCancelled() {
		op.waiting = append(op.waiting, f)
		return suspended
	}
	a.pc++
	return proceed
}

// asyncDone waits for the callee and hands out its results.
func (f *fiber) asyncDone(a *activation, s *step) outcome {
	const waited = 1
	op := f.event(a, s)
	if op == nil {
		return ended
	}
	if a.phase != waited {
		if o := f.awaitOp(a, s, op); o != proceed {
			return o
		}
	}
	a.phase = 0
	if f.run.cancelled.Load() {
		return ended
	}
	for i, r := range s.out {
		if dst := a.regs[r].Data; !sameMemory(op.outs[i], dst) {
			copy(dst, op.outs[i])
		}
	}
	a.takeEvents(op.fiber.base, s.out)
	op.takeResults(a, s.out)
	if !op.running.Swap(false) {
		f.failAt(async.Errorf(async.FailedPrecondition, "two dones wait for one async start"))
		return ended
	}
	if op.site != nil {
		f.run.reattach(op)
	}
	a.pc++
	return proceed
}

// awaitOp suspends in a done if the callee has not ended.
func (f *fiber) awaitOp(a *activation, s *step, op *asyncOp) outcome {
	const waited = 1
	if err := op.checkDone(a, s); err != nil {
		f.failAt(err)
		return ended
	}
	event := op.event.Value()
	if event.IsAvailable() {
		return proceed
	}
	a.phase = waited
	f.waitOp = op
	event.AndThenCall(&f.waiter, opEnded, f)
	return suspended
}

// checkDone checks what could not be checked before the event was known.
func (op *asyncOp) checkDone(a *activation, s *step) *async.Status {
	op.mu.Lock()
	bound := op.bound
	op.mu.Unlock()
	if bound < op.callee.numArgs {
		return async.Errorf(async.FailedPrecondition, "done of an async start with %d of %d operands bound", bound, op.callee.numArgs)
	}
	if len(s.out) != len(op.outs) {
		return async.Errorf(async.InvalidArgument, "function %q gives %d results, the done %d", op.callee.fn.name, len(op.outs), len(s.out))
	}
	for i, r := range s.out {
		if got, want := len(a.regs[r].Data), len(op.outs[i]); got != want {
			return async.Errorf(async.InvalidArgument, "result %d of the done has %d bytes, want %d", i, got, want)
		}
	}
	return nil
}

// finish ends a fiber and returns the one that its end sets free, if that may go on here.
func (f *fiber) finish() (next *fiber) {
	run := f.run
	if f.segment {
		next = f.endSegment()
	} else if op := f.op; op != nil {
		op.endContext()
		if next = op.publish(); next != nil {
			run.awake()
		}
	} else {
		run.abandonLate()
		if run.unwatch != nil && run.unwatch() {
			run.end()
		}
	}
	run.end()
	return next
}

// open marks an op whose event is being published by a fiber that can go on with a waiting one.
var open fiber

// publish makes the event available, and returns a fiber that waited for it, to go on with. Once that is done the op may be in use again.
func (op *asyncOp) publish() *fiber {
	event := op.event
	op.handOff.Store(&open)
	event.Emplace(async.Chain{})
	next := op.handOff.Swap(nil)
	if next == &open {
		return nil
	}
	return next
}

// opEnded goes on with a fiber that waits in a done: on the goroutine that ended the callee, if that can take it.
func opEnded(arg any) async.Ready {
	f := arg.(*fiber)
	op := f.waitOp
	f.waitOp = nil
	if f.executor == op.executor && op.handOff.CompareAndSwap(&open, f) {
		return async.Ready{}
	}
	f.wake()
	return async.Ready{}
}
