package runtime

import (
	"context"
	"sync/atomic"

	"github.com/gohalo/halo/runtime/async"
)

// Update is one execution of an asynchronous update: a checkpoint of a chain, at which it can be seen how far the chain has got, and at which it
// can be cancelled.
type Update struct {
	Function string
	// Instr is what the update's first attribute says: in lowered programs the id of its instruction, else -1.
	Instr int64
	// Replica and Partition are the device.
	Replica, Partition int
	// Bound of Operands are there, those that this update brings included.
	Bound, Operands int
	// Done of Parts parts of the callee have ended: a part is a kernel, a branch or a round of a loop, but none within a loop or a branch. Parts is -1 if some loop
	// does not say how many rounds it has.
	Done, Parts int64
	// BlocksDone of Blocks ranges of the kernel have ended that began last to divide its work. Both are 0 before the first.
	BlocksDone, Blocks int64
	// Ended reports that the callee has ended, and Cancelled that the chain was cancelled before.
	Ended, Cancelled bool
}

// progress counts what an async callee has done. It is kept only where somebody looks.
type progress struct {
	parts, blocksDone, blocks atomic.Int64
}

func (p *progress) reset() {
	p.parts.Store(0)
	p.blocksDone.Store(0)
	p.blocks.Store(0)
}

// part counts a step of a, which has ended, if it is a part of an async callee.
func (f *fiber) part(a *activation) {
	if f.op == nil {
		return
	}
	for caller := a.caller; caller != nil; caller = caller.caller {
		if caller.fn.steps[caller.pc].kind != stepCall {
			return
		}
	}
	f.op.progress.parts.Add(1)
}

// countParts sums up what part will count in an execution of the function.
func (t *tensorFunction) countParts() (n int64) {
	for i := range t.steps {
		s := &t.steps[i]
		more := int64(0)
		switch s.kind {
		case stepKernel, stepAsyncKernel, stepConditional:
			more = 1
		case stepCall:
			more = s.callees[0].parts
		case stepWhile:
			more = s.control.TripCount
			if more == UnknownTripCount {
				return -1
			}
		}
		if more < 0 {
			return -1
		}
		n = saturatingAdd(n, more)
	}
	return n
}

// checkpoint shows an update to whoever watches, who may cancel the chain there.
func (f *fiber) checkpoint(a *activation, s *step, op *asyncOp) {
	op.mu.Lock()
	bound := op.bound
	op.mu.Unlock()
	p := &op.progress
	err := f.run.update(Update{
		Function:  a.fn.fn.name,
		Instr:     a.fn.fn.KernelInstr(int(s.kernel)),
		Replica:   f.run.ctx.Replica,
		Partition: f.run.ctx.Partition,
		Bound:     bound, Operands: op.callee.numArgs,
		Done: p.parts.Load(), Parts: op.callee.parts,
		BlocksDone: p.blocksDone.Load(), Blocks: p.blocks.Load(),
		Ended: op.event.Value().IsAvailable(), Cancelled: op.isCancelled(),
	})
	if err == nil {
		return
	}
	name, loc := a.fn.kernelName(s)
	f.run.cancelChain(op, async.Errorf(async.Cancelled, "the chain was cancelled: %w", err).At(name, statusLocation(loc)))
}

// cancelChain cancels one chain: its callee passes over the kernels that are left, blocks and waits end, and its results fail. What does not
// depend on them goes on. Where devices meet, others may wait for what will never come, so there it ends the run.
func (r *tensorRun) cancelChain(op *asyncOp, st *async.Status) {
	if r.rest != nil {
		r.fail(st)
		return
	}
	op.cancelled.Store(true)
	r.stop.CompareAndSwap(nil, st)
	op.mu.Lock()
	cancel := op.cancel
	op.mu.Unlock()
	if cancel != nil {
		cancel(st)
	}
	op.wake()
}

// isCancelled reports whether a chain, or one that began it, was cancelled. No op is no chain.
func (op *asyncOp) isCancelled() bool {
	for ; op != nil; op = op.parent {
		if op.cancelled.Load() {
			return true
		}
	}
	return false
}

// context is the context of the kernels of a chain: the run's, until the chain is cancelled.
func (op *asyncOp) context() context.Context {
	outer := op.fiber.run.context()
	if op.parent != nil {
		outer = op.parent.context()
	}
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.derived == nil {
		op.derived, op.cancel = context.WithCancelCause(outer)
		if op.cancelled.Load() {
			op.cancel(nil)
		}
	}
	return op.derived
}

// begin makes a chain ready for its next execution, which a fiber of the chain parent, or of none, begins.
func (op *asyncOp) begin(parent *asyncOp) {
	run := op.fiber.run
	op.parent = parent
	op.ctx = run.ctx
	op.ctx.op = op
	op.cancelled.Store(false)
	if run.update != nil {
		op.progress.reset()
	}
}

// endContext frees the context of an execution that has ended.
func (op *asyncOp) endContext() {
	op.mu.Lock()
	cancel := op.cancel
	op.derived, op.cancel = nil, nil
	op.mu.Unlock()
	if cancel != nil {
		cancel(nil)
	}
}

// takeResults makes the results of a chain that has ended the registers out of a, which has to know whether they failed.
func (op *asyncOp) takeResults(a *activation, out []int32) {
	run := op.fiber.run
	if run.stop.Load() != nil && op.isCancelled() {
		run.markFailed(a, out)
		return
	}
	run.takeFailures(a, op.fiber.base, out)
}

// counted is body, the blocks of a kernel of the chain, with each one counted.
func (p *progress) counted(n, grain int, body func(lo, hi int)) func(lo, hi int) {
	p.blocksDone.Store(0)
	p.blocks.Store(int64((n + grain - 1) / grain))
	return func(lo, hi int) {
		body(lo, hi)
		p.blocksDone.Add(1)
	}
}
