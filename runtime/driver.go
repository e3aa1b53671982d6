package runtime

import (
	"fmt"
	"time"

	"github.com/gohalo/halo/internal/stack"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

// fiber is one sequence of steps: the entry function with everything it calls, or an async callee with everything that
// one calls. Its stack is the chain of activations from top to base, not the goroutine's, so it can stop anywhere, and
// whoever comes by may go on with it. At any time at most one goroutine works on a fiber.
type fiber struct {
	run    *tensorRun
	base   *activation
	top    *activation
	op     *asyncOp // nil for the main fiber
	lane   int      // for traces
	worker int      // for traces of work: its number while it runs
	resume func()   // f.task, bound once

	segment bool // the fiber of a segment, whose base is a view
	first   int  // step of its base where it begins

	fresh     bool // it has not begun, and a meter wants to know when it does
	goroutine uintptr
	spans     []span // that a meter keeps

	executor async.Executor
	waiter   async.Waiter
	waitFor  *async.Value // of the async kernel at top.pc
	waitOp   *asyncOp     // of the done at top.pc

	began, ready time.Time // for traces of work: of the async kernel at top.pc
}

// outcome is what a control step leaves to the loop.
type outcome uint8

const (
	proceed   outcome = iota // at f.top, its pc
	suspended                // another goroutine has the fiber already, or will have it
	ended                    // the base activation has returned, or the run has failed
)

// start puts the fiber at the beginning of its base activation.
func (f *fiber) start() {
	f.fresh = f.run.meter != nil
	if f.segment {
		f.base.pc, f.base.phase = f.first, 0
	} else {
		f.base.begin()
	}
	f.top = f.base
}

// task is the queue's entry: it advances the fiber, and after it the fibers that its end sets free, one after the other.
func (f *fiber) task() {
	for f != nil {
		f = f.advance()
	}
}

// advance works on the fiber until it suspends or ends. In the latter case it may return another one to go on with.
func (f *fiber) advance() (next *fiber) {
	if f.run.meter != nil {
		f.metered()
	}
	if f.run.rest != nil {
		f.run.pending.Add(1) // the run stays ours until it knows that this fiber rests
		defer f.run.rested()
	}
	if run := f.run; run.worked != nil {
		worker := run.workers.take()
		f.worker = worker
		defer run.workers.release(worker)
	}
	for {
		switch f.guarded() {
		case suspended:
			return nil
		case ended:
			return f.finish()
		}
	}
}

// guarded is loop with the recover around it, and not around each kernel: a panic is the kernel's error, and the loop goes on after it.
func (f *fiber) guarded() (o outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = f.panicked(panicStatus(r))
		}
	}()
	return f.loop()
}

// loop is the hot path. A run of plain kernels costs per kernel a load of the stop word, a test of the tracer and the call.
func (f *fiber) loop() outcome {
	run := f.run
	stop := &run.stop
	a := f.top
	seen := run.seen && run.sees(a)
	steps := a.fn.steps
	pc := a.pc
	for {
		s := &steps[pc]
		a.pc = pc
		if stop.Load() != nil {
			switch f.careful(a, s) {
			case stepped:
				pc = a.pc
				continue
			case cutShort:
				return ended
			}
		} else if s.stretch != 0 && a.often && !seen {
			if !f.stretch(a, s.stretch-1) {
				pc = a.pc
				continue
			}
			pc = a.fn.stretches[s.stretch-1].end
			continue
		}
		if s.run != nil {
			var err error
			if !seen {
				err = s.run(&a.frames[pc])
			} else {
				err = f.watched(a, s)
			}
			if err != nil {
				f.failKernel(err)
			}
			pc++
			continue
		}
		if o := f.control(a, s); o != proceed {
			return o
		}
		if seen && f.top == a && a.pc > pc && a.meter != nil && a.meter.on {
			f.tick(a, pc)
		}
		a = f.top
		seen = run.seen && run.sees(a)
		steps = a.fn.steps
		pc = a.pc
	}
}

// sees reports whether each step of a is seen: by a tracer, by somebody who sees updates, or by a meter that times this execution.
func (r *tensorRun) sees(a *activation) bool { return r.stepwise || a.meter != nil && a.meter.on }

// metered reports to the meter that the fiber runs on this goroutine now.
func (f *fiber) metered() {
	if f.run.meter.spans > 0 {
		f.goroutine = workqueue.Worker()
	}
	if f.fresh {
		f.fresh = false
		f.base.meter.begin()
	}
}

// watched runs a kernel that a tracer or a meter sees, or that is progress.
func (f *fiber) watched(a *activation, s *step) (err error) {
	if t := f.run.tracer; t != nil {
		err = f.traced(t, a, s)
	} else {
		err = s.run(&a.frames[a.pc])
	}
	if f.run.update != nil {
		f.part(a)
	}
	if a.meter != nil && a.meter.on {
		f.tick(a, a.pc)
	}
	return err
}

func (f *fiber) traced(t Tracer, a *activation, s *step) error {
	if to := f.run.worked; to != nil {
		w := f.work(a, s, time.Now())
		err := s.run(&a.frames[a.pc])
		w.End = time.Now()
		to.Work(w)
		return err
	}
	name, loc := a.fn.kernelName(s)
	if _, _, _, ok := loc.Position(); ok {
		name += " " + statusLocation(loc).String()
	}
	t.Begin(f.lane, TraceKernel, name)
	defer t.End(f.lane, TraceKernel, name)
	return s.run(&a.frames[a.pc])
}

// control runs a step that is not a plain kernel. It leaves the place to go on in f.top and its pc.
func (f *fiber) control(a *activation, s *step) outcome {
	switch s.kind {
	case stepReturn:
		return f.leave(a)
	case stepCall:
		return f.call(a, s, 0, s.in)
	case stepWhile:
		return f.while(a, s)
	case stepConditional:
		return f.conditional(a, s)
	case stepAsyncKernel:
		return f.asyncKernel(a, s)
	case stepAsyncStart:
		return f.asyncStart(a, s)
	case stepAsyncUpdate:
		return f.asyncUpdate(a, s)
	case stepAsyncDone:
		return f.asyncDone(a, s)
	case stepAwaitArgument:
		return f.awaitArgument(a, s)
	case stepNotify:
		f.notify(a, s.notices, false)
		a.pc++
		return proceed
	case stepSegmentEnd:
		if m := a.meter; m != nil && m.on {
			m.end()
		}
		return ended
	}
	panic(fmt.Sprintf("runtime: step of kind %d", s.kind))
}

// enter makes child the top activation, its arguments being the registers in of a. Results are bound by the caller.
func (f *fiber) enter(a, child *activation, in []int32) {
	for i, r := range in {
		child.bindArg(i, a.regs[r].Data)
	}
	f.again(a, child, in)
}

// passEvents hands the events among the registers in to a callee.
func (a *activation) passEvents(child *activation, in []int32) {
	if child.events == nil || a.events == nil {
		return
	}
	for i, r := range in {
		child.events[i] = a.events[r]
	}
}

// leave returns from a: results that were not computed in their place are copied there, in order.
func (f *fiber) leave(a *activation) outcome {
	if a.parallel != nil {
		if f.joinSegments(a) == suspended {
			return suspended
		}
		if m := a.meter; m != nil && m.on {
			f.joined(m)
		}
	}
	a.copyResults()
	if m := a.meter; m != nil && m.on {
		f.tick(a, a.pc)
		m.end()
	}
	if a == f.base {
		return ended
	}
	f.top = a.caller
	return proceed
}

func (a *activation) copyResults() {
	for _, c := range a.fn.copies {
		if src, dst := a.regs[c.reg].Data, a.outs[c.result]; !sameMemory(src, dst) {
			copy(dst, src)
		}
	}
}

// takeEvents moves the events among a callee's results to the caller's registers.
func (a *activation) takeEvents(child *activation, out []int32) {
	if a.events == nil || child.events == nil {
		return
	}
	for i, r := range out {
		a.events[r] = child.events[child.fn.results[i]]
	}
}

const returned = 1 // phase of a step whose callee has returned

// call runs callee number i of a step on the registers in.
func (f *fiber) call(a *activation, s *step, i int, in []int32) outcome {
	child := a.sites[s.site].children[i]
	if a.phase == returned {
		a.takeEvents(child, s.out)
		f.run.takeFailures(a, child, s.out)
		if f.run.update != nil && s.kind == stepConditional {
			f.part(a)
		}
		a.phase = 0
		a.pc++
		return proceed
	}
	for i, r := range s.out {
		child.bindOut(i, a.regs[r].Data)
	}
	a.phase = returned
	f.enter(a, child, in)
	if a.often {
		child.runsOften()
	}
	if child.fn.runs != nil && !f.run.stepwise && f.run.stop.Load() == nil {
		if !f.straight(child) {
			return proceed // with the rest of the callee
		}
		f.top, a.phase = a, 0
		a.pc++
	}
	return proceed
}

// conditional runs the branch that the first operand selects: a predicate (true is branch 0), or an index, where
// everything out of range means the last branch.
func (f *fiber) conditional(a *activation, s *step) outcome {
	selector := a.regs[s.in[0]].Data
	branch := len(s.callees) - 1
	if len(selector) == 1 {
		if selector[0] != 0 {
			branch = 0
		}
	} else if i := int32(nativeEndian.Uint32(selector)); i >= 0 && int(i) < branch {
		branch = int(i)
	}
	if a.phase == returned {
		branch = int(a.iter) // the selector's memory may have been used again
	}
	a.iter = int64(branch)
	first := 1
	for _, n := range s.control.Counts[:branch] {
		first += n
	}
	return f.call(a, s, branch, s.in[first:first+s.control.Counts[branch]])
}

const (
	whileCondition = 1 // phases of a loop: the condition is running
	whileBody      = 2
)

// while runs a loop on its results' memory: they are the state, and body and condition work on it where it lies. So both
// are bound when the loop begins, and an iteration moves nothing but the fiber.
func (f *fiber) while(a *activation, s *step) outcome {
	children := a.sites[s.site].children
	cond, body := children[0], children[1]
	trips := s.control.TripCount
	switch a.phase {
	case 0:
		a.placeState(s)
		a.iter = 0
		failed := f.run.moveFailures(a, s.in, s.out)
		if s.scalar != nil && !f.run.stepwise && !failed {
			return f.scalarLoop(a, s)
		}
		a.bindLoop(s, cond, body)
		if cond.fn.runs != nil && body.fn.runs != nil && !f.run.stepwise && f.run.stop.Load() == nil {
			return f.straightLoop(a, cond, body, trips)
		}
		if trips != UnknownTripCount {
			break
		}
		a.phase = whileCondition
		f.again(a, cond, s.out)
		return proceed
	case whileCondition:
		if f.breaks() {
			f.run.markUnfinished(a, s.out)
			return a.finishLoop()
		}
		if f.run.failedResult(cond, 0) {
			f.run.markFailed(a, s.out)
			return a.finishLoop()
		}
		if a.pred[0] == 0 {
			return a.finishLoop()
		}
		a.phase = whileBody
		f.again(a, body, s.out)
		return proceed
	case whileBody:
		a.takeEvents(body, s.out)
		f.run.takeFailures(a, body, s.out)
		if f.breaks() {
			f.run.markUnfinished(a, s.out)
			return a.finishLoop()
		}
		if f.run.update != nil {
			f.part(a)
		}
		a.iter++
		if n := f.run.rounds; n != nil {
			n.Add(1)
		}
		if trips == UnknownTripCount {
			a.phase = whileCondition
			f.again(a, cond, s.out)
			return proceed
		}
	}
	if a.iter >= trips {
		return a.finishLoop()
	}
	a.phase = whileBody
	f.again(a, body, s.out)
	return proceed
}

// placeState brings the initial values of a loop to its state's memory.
func (a *activation) placeState(s *step) {
	for i, r := range s.out {
		src, dst := a.regs[s.in[i]].Data, a.regs[r].Data
		if !sameMemory(src, dst) {
			copy(dst, src)
		}
		if a.events != nil {
			a.events[r] = a.events[s.in[i]]
		}
	}
}

// bindLoop binds condition and body to the state's memory.
func (a *activation) bindLoop(s *step, cond, body *activation) {
	for i, r := range s.out {
		dst := a.regs[r].Data
		cond.bindArg(i, dst)
		body.bindArg(i, dst)
		body.bindOut(i, dst)
	}
	cond.bindOut(0, a.pred[:])
	cond.runsOften()
	body.runsOften()
}

// runsOften prepares a, whose memory is known, for being run many times.
func (a *activation) runsOften() {
	a.often = true
	a.bindStretches()
}

// again makes child, which is bound already, the top activation. Only events change between its executions.
func (f *fiber) again(a, child *activation, in []int32) {
	a.passEvents(child, in)
	if f.run.stop.Load() != nil {
		f.run.passFailures(a, child, in)
	}
	child.begin()
	child.meterBegins()
	f.top = child
}

func (a *activation) finishLoop() outcome {
	a.phase = 0
	a.pc++
	return proceed
}

// failAt ends the run with an error of the step at the top.
func (f *fiber) failAt(st *async.Status) {
	a := f.top
	name, loc := a.fn.kernelName(&a.fn.steps[a.pc])
	f.run.fail(st.At(name, statusLocation(loc)))
}

// panicked makes a panic the error of the step at the top, if it is a kernel's.
func (f *fiber) panicked(st *async.Status) outcome {
	a := f.top
	s := &a.fn.steps[a.pc]
	if s.kind != stepKernel && s.kind != stepAsyncKernel {
		f.failAt(st)
		return ended
	}
	f.failKernel(st)
	a.phase, f.waitFor = 0, nil
	a.pc++
	return proceed
}

// panicStatus is the error that a recovered panic stands for.
func panicStatus(r any) *async.Status {
	if err, ok := r.(*async.TypeError); ok { // the program's fault, not the kernel's
		return async.Errorf(async.InvalidArgument, "%w", err)
	}
	p := stack.Caught(r)
	return &async.Status{Code: async.Internal, Message: fmt.Sprintf("kernel panicked: %v\n%s", p.Value, p.Stack), Cause: p}
}
