package hostkernels

import (
	"errors"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// Calls and choices are non-strict: they start when one argument is there, and the callee with those it has. Only what chooses the
// callee must be waited for; results are indirects until then.

func registerBranches(reg *runtime.Registry) {
	reg.Kernel("tfrt.call", runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(0), Results: runtime.AtLeast(0), Funcs: 1},
		NonStrict: true,
		Check:     func(u *runtime.KernelUse) error { return u.Funcs[0].CheckCall(u.NumArgs, u.NumResults) },
		Run:       func(f *runtime.Frame) { execute(f.Func(0), f.Ctx(), f.Args(), f.Results()) },
	})
	reg.Kernel("tfrt.if", choice(2, 0, byTruth))
	reg.Kernel("tfrt.cond", choice(2, 0, byTruth))
	reg.Kernel("tfrt.case", choice(runtime.AtLeast(1), 0, byIndex))
	reg.Kernel("tfrt.once", runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(0), Results: runtime.AtLeast(0), Funcs: 1},
		Check:     func(u *runtime.KernelUse) error { return u.Funcs[0].CheckCall(u.NumArgs, u.NumResults) },
		Run:       once,
	})
}

// execute runs a function and makes a failure to start it its results.
func execute(fn *runtime.Function, ctx runtime.ExecContext, args, results []*async.Value) {
	if err := fn.Execute(ctx, args, results); err != nil {
		setAll(results, async.MakeError(err))
	}
}

// A selector gives the number of a function, of n, that an available value chooses, or an error.
type selector func(v *async.Value, n int) (i int, failed *async.Value)

// byTruth chooses the first function if v is true, else the second.
func byTruth(v *async.Value, _ int) (int, *async.Value) {
	first, failed := payload[bool](v)
	if first {
		return 0, failed
	}
	return 1, failed
}

// byIndex chooses by number; a number that no function has means the last.
func byIndex(v *async.Value, n int) (int, *async.Value) {
	i, failed := payload[int32](v)
	if i >= 0 && int(i) < n {
		return int(i), failed
	}
	return n - 1, failed
}

// choice makes a kernel that calls one of its functions with the arguments after the first, which chooses.
func choice(funcs, attrs runtime.Count, choose selector) runtime.Kernel {
	return runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(1), Results: runtime.AtLeast(0), Attrs: attrs, Funcs: funcs},
		NonStrict: true,
		Check: func(u *runtime.KernelUse) error {
			for _, fn := range u.Funcs {
				if err := fn.CheckCall(u.NumArgs-1, u.NumResults); err != nil {
					return err
				}
			}
			return nil
		},
		Run: func(f *runtime.Frame) {
			if f.Arg(0).IsAvailable() {
				chosen(choose, f.Func, f.NumFuncs(), f.Ctx(), f.Args(), f.Results())
				return
			}
			fns := functions(f)
			later(f, func(ctx runtime.ExecContext, args, results []*async.Value) {
				chosen(choose, func(i int) *runtime.Function { return fns[i] }, len(fns), ctx, args, results)
			})
		},
	}
}

// chosen calls the function that the first argument chooses with the others.
func chosen(choose selector, fn func(int) *runtime.Function, n int, ctx runtime.ExecContext, args, results []*async.Value) {
	i, failed := choose(args[0], n)
	if failed != nil {
		setAll(results, failed)
		return
	}
	execute(fn(i), ctx, args[1:], results)
}

func functions(f *runtime.Frame) []*runtime.Function {
	fns := make([]*runtime.Function, f.NumFuncs())
	for i := range fns {
		fns[i] = f.Func(i)
	}
	return fns
}

// later promises the results of a call and keeps the promise when the first argument is available. run borrows the arguments.
func later(f *runtime.Frame, run func(ctx runtime.ExecContext, args, results []*async.Value)) {
	ctx, args := f.Ctx(), keep(f.Args())
	p := makePromises(f.Results())
	args[0].AndThen(func() {
		results := make([]*async.Value, len(p))
		run(ctx, args, results)
		dropAll(args)
		p.keep(results)
	})
}

// promises are results that were given out before they existed. Each holds a reference for the promise.
type promises []*async.Indirect

func makePromises(results []*async.Value) promises {
	p := make(promises, len(results))
	for i := range p {
		p[i] = async.MakeIndirect()
		p[i].AddRef()
		results[i] = &p[i].Value
	}
	return p
}

// keep forwards the promises to the results, whose references it takes over. A promise's own reference goes before the consumers run,
// so that they may find the value unique.
func (p promises) keep(results []*async.Value) {
	for i, in := range p {
		ready := in.ForwardLater(results[i])
		in.DropRef()
		ready.Run()
	}
}

// onceResults are the results of the one execution of a function in a resource context.
type onceResults struct{ values []*async.Value }

// Close releases the values.
func (r *onceResults) Close() error {
	dropAll(r.values)
	r.values = nil
	return nil
}

// once runs its function the first time it is called with a resource context, and gives the same values every time. They are promised
// before the function starts: whoever comes meanwhile gets them too, but for the function itself, which would wait for its own end.
func once(f *runtime.Frame) {
	ctx := f.Ctx()
	if ctx.Request == nil || ctx.Request.Resources() == nil {
		f.SetError(errors.New("tfrt.once requires resource context"))
		return
	}
	fn, n := f.Func(0), f.NumResults()
	var promised promises
	created := false
	r, err := runtime.GetOrCreateResource(ctx.Request.Resources(), "tfrt.once @"+fn.Name(), func() (*onceResults, error) {
		created = true
		r := &onceResults{values: make([]*async.Value, n)}
		promised = makePromises(r.values)
		return r, nil
	})
	if err == nil && ctx.IsWithin(r) {
		err = async.Errorf(async.FailedPrecondition, "tfrt.once @%s needs its own results", fn.Name())
	}
	if err == nil && len(r.values) != n {
		err = async.Errorf(async.InvalidArgument, "function %q has %d results", fn.Name(), len(r.values))
	}
	if err != nil {
		f.SetError(err)
		return
	}
	for i, v := range r.values {
		v.AddRef()
		f.Set(i, v)
	}
	if created {
		results := make([]*async.Value, n)
		execute(fn, ctx.Within(r), f.Args(), results)
		promised.keep(results)
	}
}
