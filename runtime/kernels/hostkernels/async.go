package hostkernels

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

func registerAsync(reg *runtime.Registry) {
	reg.Kernel("tfrt_test.async_add.i32", runtime.Params4(asyncAdd))
	reg.Kernel("tfrt_test.async_constant.i1", asyncConstant[bool]())
	reg.Kernel("tfrt_test.async_constant.i32", asyncConstant[int32]())
	reg.Kernel("tfrt_test.async_copy.i32", runtime.Params3(asyncCopy[int32]))
	reg.Kernel("tfrt_test.async_copy_2.i32", runtime.Params3(asyncCopyInPlace[int32]))
	copiesWithDelay[int32](reg, "i32")
	copiesWithDelay[int64](reg, "i64")
	reg.Kernel("tfrt_test.do.async", runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(0), Results: runtime.AtLeast(0), Funcs: 1},
		Check:     func(u *runtime.KernelUse) error { return u.Funcs[0].CheckCall(u.NumArgs, u.NumResults) },
		Run: func(f *runtime.Frame) {
			if err := f.Func(0).ExecuteAsync(f.Ctx(), f.Args(), f.Results()); err != nil {
				f.SetError(err)
			}
		},
	})
	reg.Kernel("tfrt_test.usleep", runtime.Params2(sleepUnseen))
	reg.Kernel("tfrt_test.blocking.usleep", runtime.Params4(sleepSeen))
	reg.Kernel("tfrt.async.read.from.mars", runtime.Params3(readFromMars))
	reg.Kernel("tfrt_test.quiesce", runtime.Params3(quiesce))
	registerAtomics(reg)
}

func asyncAdd(ctx runtime.ExecContext, a, b runtime.Argument[int32], out runtime.Result[int32]) error {
	x, y := a.Get(), b.Get()
	out.Set(async.MakeAsync(ctx.Queue, func() (int32, error) { return x + y, nil }))
	return nil
}

func asyncConstant[T any]() runtime.Kernel {
	return runtime.Params3(func(ctx runtime.ExecContext, out runtime.Result[T], value runtime.Attribute[T]) error {
		x := value.Get()
		out.Set(async.MakeAsync(ctx.Queue, func() (T, error) { return x, nil }))
		return nil
	})
}

func asyncCopy[T any](ctx runtime.ExecContext, in runtime.Argument[T], out runtime.Result[T]) error {
	x := in.Get()
	out.Set(async.MakeAsync(ctx.Queue, func() (T, error) { return x, nil }))
	return nil
}

// asyncCopyInPlace fills a result that the kernel has allocated.
func asyncCopyInPlace[T any](ctx runtime.ExecContext, in runtime.Argument[T], out runtime.Result[T]) error {
	src, dst := in.Ref(), out.Allocate()
	ctx.Queue.AddTask(func() {
		dst.Emplace(src.Get())
		src.Drop()
		dst.Drop()
	})
	return nil
}

// delay sleeps for 1 to 10 ms.
func delay() { time.Sleep(time.Millisecond + rand.N(9*time.Millisecond)) }

func copiesWithDelay[T any](reg *runtime.Registry, suffix string) {
	reg.Kernel("tfrt_test.copy.with_delay."+suffix, runtime.Pure1(func(x T) T { delay(); return x }))
	reg.Kernel("tfrt_test.async_copy.with_delay."+suffix, runtime.Params3(
		func(ctx runtime.ExecContext, in runtime.Argument[T], out runtime.Result[T]) error {
			x := in.Get()
			out.Set(async.MakeAsync(ctx.Queue, func() (T, error) { delay(); return x, nil }))
			return nil
		}))
}

const queueIsFull = "Failed to enqueue blocking work. Maximum number of pending blocking tasks reached."

var errQueueIsFull = async.Errorf(async.Internal, queueIsFull)

// block runs work outside of the compute workers, and then publish on one of them. It reports whether the work was taken.
func block(queue workqueue.Queue, work, publish func()) bool {
	return queue.AddBlockingTask(func() {
		work()
		if queue.IsInWorkerThread() { // a queue that has but one thread
			publish()
		} else {
			queue.AddTask(publish)
		}
	}, workqueue.MayQueue)
}

// sleep sleeps and says so, or ends with the request.
func sleep(ctx runtime.ExecContext, us int32) {
	timer := time.NewTimer(time.Duration(us) * time.Microsecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		console(ctx).Printf("Slept for %d microseconds\n", us)
	case <-ctx.Context().Done():
	}
}

// sleepUnseen sleeps without a result that anybody could wait for.
func sleepUnseen(ctx runtime.ExecContext, us runtime.Argument[int32]) error {
	n := us.Get()
	if !ctx.Queue.AddBlockingTask(func() { sleep(ctx, n) }, workqueue.MayQueue) {
		console(ctx).Errorf("%s\n", queueIsFull)
	}
	return nil
}

func sleepSeen(ctx runtime.ExecContext, rep runtime.Reporter, us runtime.Argument[int32], out runtime.Result[async.Chain]) error {
	n, done := us.Get(), out.Allocate()
	if !block(ctx.Queue, func() { sleep(ctx, n) }, func() { done.Emplace(async.Chain{}) }) {
		console(ctx).Errorf("%s\n", queueIsFull)
		done.SetError(rep.Status(errQueueIsFull))
	}
	return nil
}

// readFromMars is the design text's example of a value that is far away.
func readFromMars(ctx runtime.ExecContext, rep runtime.Reporter, out runtime.Result[int32]) error {
	done := out.Allocate()
	if !block(ctx.Queue, func() { time.Sleep(time.Millisecond) }, func() { done.Emplace(42) }) {
		return errQueueIsFull
	}
	return nil
}

// quiesce waits for the queue, not for the host: the execution that it is part of cannot end before it does.
func quiesce(ctx runtime.ExecContext, _ runtime.Argument[async.Chain], out runtime.Result[async.Chain]) error {
	if ctx.Queue.IsInWorkerThread() {
		return async.Errorf(async.FailedPrecondition, "tfrt_test.quiesce in a worker of the queue, which would wait for itself")
	}
	ctx.Queue.Quiesce()
	out.Emplace(async.Chain{})
	return nil
}

// registerAtomics adds an integer that many kernels may change.
func registerAtomics(reg *runtime.Registry) {
	type cell = *atomic.Int32
	type chain = async.Chain
	reg.Kernel("tfrt_test.atomic.create.i32", runtime.PureNone(func() cell { return new(atomic.Int32) }))
	reg.Kernel("tfrt_test.atomic.inc.i32", runtime.Pure2(func(c cell, _ chain) chain { c.Add(1); return chain{} }))
	reg.Kernel("tfrt_test.atomic.add.i32", runtime.Pure3(func(c cell, x int32, _ chain) chain { c.Add(x); return chain{} }))
	reg.Kernel("tfrt_test.atomic.get.i32", runtime.Params4(
		func(c runtime.Argument[cell], _ runtime.Argument[chain], x runtime.Result[int32], done runtime.Result[chain]) error {
			x.Emplace(c.Get().Load())
			done.Emplace(chain{})
			return nil
		}))
}
