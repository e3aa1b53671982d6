package hostkernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// Device is a place where ops run, by name. Host programs see one: the processor.
type Device struct{ Name string }

const hostDevice = "CPU:0"

func registerChains(reg *runtime.Registry) {
	reg.Kernel("tfrt.new.chain", runtime.PureNone(func() async.Chain { return async.Chain{} }))
	reg.Kernel("tfrt.merge.chains", whenAll())
	reg.Kernel("tfrt_test.as_chain", whenAll())
	reg.Kernel("tfrt.alias.value", forward(1, 1))
	reg.Kernel("tfrt_test.identity", forward(1, -1))
	reg.Kernel("tfrt_test.multi_arg_result", forward(0, -1))
	reg.Kernel("tfrt.get_device", runtime.Params3(
		func(_ runtime.Argument[async.Chain], out runtime.Result[Device], name runtime.StringAttribute) error {
			if name.Get() != hostDevice {
				return async.Errorf(async.Internal, "cannot find device %s", name.Get())
			}
			out.Emplace(Device{name.Get()})
			return nil
		}))
}

// whenAll makes a chain of any values. It is there when they all are.
func whenAll() runtime.Kernel {
	return runtime.Params2(func(args runtime.RemainingArguments, out runtime.Result[async.Chain]) error {
		for _, v := range args.Values {
			if v.IsUnavailable() {
				chainLater(args.Values, out)
				return nil
			}
		}
		out.Emplace(async.Chain{})
		return nil
	})
}

// chainLater is for uses that the program has marked as not strict.
func chainLater(values []*async.Value, out runtime.Result[async.Chain]) {
	kept := keep(values)
	chain := out.Allocate()
	async.RunWhenReady(kept, func() {
		if failed := lastError(kept); failed != nil {
			chain.SetError(failed.Status())
		} else {
			chain.Emplace(async.Chain{})
		}
		chain.Drop()
		dropAll(kept)
	})
}

// forward hands on the arguments from number first; n is their number, or -1 for any.
func forward(first, n int) runtime.Kernel {
	count := runtime.Count(n)
	if n < 0 {
		count = runtime.AtLeast(0)
	}
	args := runtime.Count(first + n)
	if n < 0 {
		args = runtime.AtLeast(first)
	}
	return runtime.Kernel{
		Signature: &runtime.Signature{Args: args, Results: count},
		Check: func(u *runtime.KernelUse) error {
			if u.NumArgs < first+u.NumResults {
				return async.Errorf(async.InvalidArgument, "%d results need %d arguments, got %d", u.NumResults, first+u.NumResults, u.NumArgs)
			}
			return nil
		},
		Run: func(f *runtime.Frame) {
			for i := range f.NumResults() {
				v := f.Arg(first + i)
				v.AddRef()
				f.Set(i, v)
			}
		},
	}
}

// payload reads a value that decides what happens. Its type is the program's word, which a file may break.
func payload[T any](v *async.Value) (x T, failed *async.Value) {
	if v.IsError() {
		return x, v
	}
	x, ok := async.GetIfPresent[T](v)
	if !ok {
		return x, async.MakeError(async.Errorf(async.InvalidArgument, "got a %v, want one of %T", v, x))
	}
	return x, nil
}

// keep copies a frame's arguments with a reference to each.
func keep(values []*async.Value) []*async.Value {
	kept := append([]*async.Value(nil), values...)
	for _, v := range kept {
		v.AddRef()
	}
	return kept
}

func dropAll(values []*async.Value) {
	for _, v := range values {
		v.DropRef()
	}
}

// setAll makes v every result, with a reference for each; v itself stays the caller's.
func setAll(results []*async.Value, v *async.Value) {
	v.AddRefs(len(results))
	for i := range results {
		results[i] = v
	}
}

// lastError returns the last error among available values, or nil.
func lastError(values []*async.Value) (failed *async.Value) {
	for _, v := range values {
		if v.IsError() {
			failed = v
		}
	}
	return failed
}
