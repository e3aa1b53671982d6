package hostkernels

import (
	"errors"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

var (
	errBad      = errors.New("something bad happened")
	errBadLater = errors.New("something bad happened asynchronously")
)

func registerFailures(reg *runtime.Registry) {
	reg.Kernel("tfrt_test.fail", runtime.Params1(func(runtime.Result[int32]) error { return errBad }))
	reg.Kernel("tfrt_test.partial_fail", runtime.Params2(func(good, _ runtime.Result[int32]) error {
		good.Emplace(1)
		return errBad
	}))
	reg.Kernel("tfrt_test.error_chain", runtime.Params2(func(runtime.Argument[async.Chain], runtime.Result[async.Chain]) error {
		return errors.New("error chain")
	}))
	reg.Kernel("tfrt_test.report_error_async", runtime.Params3(
		func(ctx runtime.ExecContext, rep runtime.Reporter, out runtime.Result[int32]) error {
			ref := out.Allocate()
			publishLater(ctx, rep, 1, ref.Release())
			return nil
		}))
	reg.Kernel("tfrt_test.report_error_concrete_async", runtime.Params4(
		func(ctx runtime.ExecContext, rep runtime.Reporter, in runtime.Argument[int32], out runtime.Result[int32]) error {
			ref := out.Allocate()
			publishLater(ctx, rep, in.Get(), ref.Release())
			return nil
		}))
	reg.Kernel("tfrt_test.report_error_indirect_async", runtime.Params4(
		func(ctx runtime.ExecContext, rep runtime.Reporter, in runtime.Argument[int32], out runtime.RemainingResults) error {
			publishLater(ctx, rep, in.Get(), &out.AllocateIndirect(0).Value)
			return nil
		}))
	reg.Kernel("tfrt_test.cancel", runtime.Params4(
		func(ctx runtime.ExecContext, _ runtime.Argument[async.Chain], x runtime.Result[int32], done runtime.Result[async.Chain]) error {
			if ctx.Request != nil {
				ctx.Request.Cancel()
			}
			x.Emplace(0)
			done.Emplace(async.Chain{})
			return nil
		}))
}

// publishLater makes out, whose reference it takes over, 0 or an error in a task: 0 if x is.
func publishLater(ctx runtime.ExecContext, rep runtime.Reporter, x int32, out *async.Value) {
	ctx.Queue.AddTask(func() {
		if x == 0 {
			async.Emplace(out, int32(0))
		} else {
			out.SetError(rep.Report(errBadLater))
		}
		out.DropRef()
	})
}
