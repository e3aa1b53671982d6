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
		} else if s.stretch != 0 && a.often && !seen && a.stretches[s.stretch-1].end > pc {
			if !f.stretch(a, s.stretch-1) {
				pc = a.pc
				continue
			}
			pc = a.stretches[s.stretch-1].end
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
