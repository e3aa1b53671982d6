package runtime

import (
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// nativeFunction is a function of a program that is a Go function of the registry. Unlike a kernel it may be called
// before its arguments are there: it waits for all of them.
type nativeFunction struct {
	kernel planKernel
}

func (l *generalLoader) loadNative(fn *Function) error {
	impl := l.reg.natives[fn.name]
	if impl == nil {
		return async.Errorf(async.NotFound, "unable to find native function in global registry: %s", fn.name).At("", statusLocation(fn.Location()))
	}
	k := &bef.Kernel{Loc: fn.def.Loc, Args: make([]bef.RegID, len(fn.def.Args)), Results: make([]bef.RegID, len(fn.def.Results))}
	fn.native = &nativeFunction{planKernel{run: impl.Run, fn: fn, def: k}}
	return l.checkUse(fn, k, &fn.native.kernel, impl)
}

// executeNative calls a native function, now or when its arguments are available. It takes over their references.
func (f *Function) executeNative(ctx ExecContext, args, results []*async.Value) {
	f.whenAvailable(ctx, args, results, func(ctx *ExecContext, args, results []*async.Value) {
		if failed := lastError(ctx, args); failed != nil {
			failAll(args, results, failed)
			return
		}
		frame := Frame{ctx: ctx, lane: int(ctx.lane), kernel: &f.native.kernel, args: args, results: make([]*async.Value, len(results))}
		frame.call()
		dropAll(args)
		copy(results, frame.results) // only now: callers may pass one slice for both
	})
}

// call runs the kernel of a frame outside of a loop.
func (f *Frame) call() {
	defer func() {
		if r := recover(); r != nil {
			f.ReportError(panicStatus(r))
		}
		for i, v := range f.results {
			if v == nil {
				f.results[i] = async.MakeError(f.Reporter().Report(async.Errorf(async.Internal, "result %d was not set", i)))
			}
		}
	}()
	f.kernel.run(f)
}

// lastError returns the error that keeps a call with these arguments from running, or nil: the last of them, or the
// request's.
func lastError(ctx *ExecContext, args []*async.Value) *async.Value {
	failed := ctx.cancelled()
	for _, v := range args {
		if v.IsError() {
			failed = v
		}
	}
	return failed
}

// setAll makes v every result, with a reference for each.
func setAll(results []*async.Value, v *async.Value) {
	v.AddRefs(len(results))
	for i := range results {
		results[i] = v
	}
}

// failAll makes v every result and gives the arguments' references back, in this order of effects: results may be the
// arguments' slice.
func failAll(args, results []*async.Value, v *async.Value) {
	v.AddRef()
	dropAll(args)
	setAll(results, v)
	v.DropRef()
}

// whenAvailable calls run when all arguments are available: now, or later with results that are promised until then.
func (f *Function) whenAvailable(ctx ExecContext, args, results []*async.Value, run func(ctx *ExecContext, args, results []*async.Value)) {
	available := true
	for _, v := range args {
		available = available && v.IsAvailable()
	}
	if available {
		run(&ctx, args, results)
		return
	}
	d := newDeferredCall(f, ctx, args, results)
	async.RunWhenReady(d.args, func() {
		run(&d.ctx, d.args, d.results)
		d.keepPromises()
	})
}
