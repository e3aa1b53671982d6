package runtime

import "github.com/gohalo/halo/runtime/async"

// An error of a kernel fails what depends on it, and nothing else. So after the first error the driver goes on, carefully: it keeps a list of
// the registers whose values failed, passes over the steps that would read them, and carries failures in and out of what it calls.
// Only the end of the caller's context, or a fault that is no kernel's, ends everything.

// care says what carefulness makes of a step.
type care uint8

const (
	usual    care = iota // do it
	stepped              // it was passed over: its results failed
	cutShort             // the run ends here
)

// careful looks at a step of a run in which something has failed.
func (f *fiber) careful(a *activation, s *step) care {
	r := f.run
	if r.cancelled.Load() {
		return cutShort
	}
	if a.phase != 0 {
		return usual // it is under way
	}
	if (s.kind == stepKernel || s.kind == stepAsyncKernel) && f.op.isCancelled() {
		r.markFailed(a, s.out)
		a.pc++
		return stepped
	}
	switch s.kind {
	case stepKernel, stepAsyncKernel, stepAsyncDone:
		if !r.anyFailed(a, s.in) {
			return usual
		}
	case stepConditional, stepAsyncUpdate:
		if !r.anyFailed(a, s.in[:1]) { // the selector, or the event: other operands fail what reads them
			return usual
		}
	default:
		return usual
	}
	r.markFailed(a, s.out)
	a.pc++
	return stepped
}

// failKernel makes err the error of the step at the top, whose results have failed with it. Where devices meet, others may wait for what
// will never come, so there it ends the run.
func (f *fiber) failKernel(err error) {
	r := f.run
	if r.rest != nil {
		f.failAt(async.StatusOf(err))
		return
	}
	a := f.top
	s := &a.fn.steps[a.pc]
	r.markFailed(a, s.out)
	name, loc := a.fn.kernelName(s)
	r.stop.CompareAndSwap(nil, async.StatusOf(err).At(name, statusLocation(loc)))
}

// markFailed notes that the values of registers are not to be had.
func (r *tensorRun) markFailed(a *activation, regs []int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = make(map[*Buffer]bool)
	}
	for _, reg := range regs {
		r.failed[&a.regs[reg]] = true
	}
}

// breaks reports whether the loops of a fiber end after the present round, since its chain was cancelled.
func (f *fiber) breaks() bool { return f.run.stop.Load() != nil && f.op.isCancelled() }

// markUnfinished notes that the values of a loop that was broken off are not to be had. The chains that it carries are: they end, and their
// dones wait for that.
func (r *tensorRun) markUnfinished(a *activation, regs []int32) {
	for _, reg := range regs {
		if a.events == nil || a.events[reg] == nil {
			r.markFailed(a, []int32{reg})
		}
	}
}

func (r *tensorRun) anyFailed(a *activation, regs []int32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, reg := range regs {
		if r.isFailed(a, reg) {
			return true
		}
	}
	return false
}

// isFailed reports whether the value of a register failed, or of the one whose memory it is. The run's lock is held.
func (r *tensorRun) isFailed(a *activation, reg int32) bool {
	for len(r.failed) > 0 {
		if r.failed[&a.regs[reg]] {
			return true
		}
		from, ok := a.fn.same[reg]
		if !ok {
			break
		}
		reg = from
	}
	return false
}

// failedResult reports whether result i of a failed.
func (r *tensorRun) failedResult(a *activation, i int) bool {
	if r.stop.Load() == nil {
		return false
	}
	return r.anyFailed(a, a.fn.results[i:i+1])
}

// passFailures marks the arguments of a callee that failed, and clears those of its last execution.
func (r *tensorRun) passFailures(a, child *activation, in []int32) {
	r.forgetFailures(child)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, reg := range in {
		if r.isFailed(a, reg) {
			r.failed[&child.regs[i]] = true
		}
	}
}

func (r *tensorRun) forgetFailures(child *activation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failed) == 0 {
		return
	}
	for i := range child.regs {
		delete(r.failed, &child.regs[i])
	}
}

// takeFailures gives the registers out of a what became of the results of child.
func (r *tensorRun) takeFailures(a, child *activation, out []int32) {
	if r.stop.Load() == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, reg := range out {
		if r.isFailed(child, child.fn.results[i]) {
			r.failed[&a.regs[reg]] = true
		} else if r.failed != nil {
			delete(r.failed, &a.regs[reg])
		}
	}
}

// moveFailures hands failures on from registers to others, and reports whether there are some.
func (r *tensorRun) moveFailures(a *activation, in, out []int32) (some bool) {
	if r.stop.Load() == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, reg := range in {
		if r.isFailed(a, reg) {
			r.failed[&a.regs[out[i]]] = true
			some = true
		}
	}
	return some
}

// valid says which results of a finished run were computed.
func (r *tensorRun) valid(to []bool) {
	st := r.stop.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	base := r.main.base
	for i, reg := range base.fn.results {
		to[i] = st == nil || !r.cancelled.Load() && !r.isFailed(base, reg)
	}
}
