package hostkernels

import (
	"errors"
	"sync/atomic"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

const chainType = "!tfrt.chain"

func registerParallel(reg *runtime.Registry) {
	k := runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(3), Results: 1, Funcs: 1, Payloads: true},
		Run:       parallelKernel,
	}
	reg.Kernel("tfrt.parallel_for.i32", k)
	reg.Kernel("tfrt.parallel_call.i32", k)
}

// parallelLoop runs a function on every block of a range of integers. Its chain is there when all blocks are done.
type parallelLoop struct {
	ctx               runtime.ExecContext
	body              *runtime.Function
	start, end, block int64
	leaf              int64          // blocks that are not divided further
	args              []*async.Value // after start and end of the block
	done              async.Ref[async.Chain]
	left              atomic.Int64 // blocks
	failed            atomic.Pointer[async.Status]
}

func parallelKernel(f *runtime.Frame) {
	body := f.Func(0)
	if n := body.NumResults(); n > 1 || n == 1 && body.ResultType(0) != chainType {
		f.SetError(errors.New("Invalid parallel body function result types"))
		return
	}
	start, end, block := runtime.Arg[int32](f, 0), runtime.Arg[int32](f, 1), runtime.Arg[int32](f, 2)
	if block <= 0 {
		f.SetError(errors.New("block size must be positive"))
		return
	}
	if end <= start {
		runtime.Return(f, 0, async.Chain{})
		return
	}
	l := &parallelLoop{ctx: f.Ctx(), body: body, start: int64(start), end: int64(end), block: int64(block), args: keep(f.Args()[3:])}
	if err := body.CheckCall(2+len(l.args), body.NumResults()); err != nil {
		dropAll(l.args)
		f.SetError(err)
		return
	}
	l.done = async.MakeUnconstructed[async.Chain]()
	done := l.done
	blocks := (l.end-l.start-1)/l.block + 1
	l.left.Store(blocks)
	l.leaf = (blocks-1)/maxParts + 1
	l.run(0, blocks)
	f.Set(0, done.Value())
}

// maxParts bounds the number of tasks that a loop may have in the queue at once. Up to here every block is one of its own.
const maxParts = 1 << 16

// run works on the blocks lo to hi: it hands the upper half to the queue, again and again, until one block is left.
func (l *parallelLoop) run(lo, hi int64) {
	for hi-lo > l.leaf {
		mid, top := lo+(hi-lo)/2, hi
		l.ctx.Queue.AddTask(func() { l.run(mid, top) })
		hi = mid
	}
	for ; lo < hi; lo++ {
		if l.ctx.Request != nil {
			if cancelled := l.ctx.Request.Cancelled(); cancelled != nil {
				l.finish(hi-lo, cancelled)
				return
			}
		}
		l.runBlock(lo)
	}
}

func (l *parallelLoop) runBlock(i int64) {
	lo := l.start + i*l.block
	hi := min(lo+l.block, l.end)
	args := append([]*async.Value{async.Int32(int32(lo)), async.Int32(int32(hi))}, l.args...)
	results := make([]*async.Value, l.body.NumResults(), 1)
	execute(l.body, l.ctx, args, results)
	if len(results) == 0 {
		l.finish(1, nil)
		return
	}
	chain := results[0]
	chain.AndThen(func() {
		l.finish(1, chain)
		chain.DropRef()
	})
}

// finish counts n blocks, whose outcome it borrows. An error of any block is the loop's; which one, if there are several, is a matter of
// time.
func (l *parallelLoop) finish(n int64, outcome *async.Value) {
	if outcome != nil && outcome.IsError() {
		l.failed.Store(outcome.Status())
	}
	if l.left.Add(-n) > 0 {
		return
	}
	dropAll(l.args)
	if failed := l.failed.Load(); failed != nil {
		l.done.SetError(failed)
	} else {
		l.done.Emplace(async.Chain{})
	}
}
