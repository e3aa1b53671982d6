package hostkernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// Native functions of the test set. Programs declare them and call them by name.
func registerNatives(reg *runtime.Registry) {
	reg.Native("native_add", runtime.Pure2(func(a, b int32) int32 { return a + b }))
	reg.Native("native_async_add", runtime.Params4(asyncAdd))
	reg.Native("native_sink", runtime.Params1(func(runtime.RemainingArguments) error { return nil }))
	reg.Native("native_async_sink", runtime.Params2(func(_ runtime.RemainingArguments, out runtime.Result[async.Chain]) error {
		out.Emplace(async.Chain{})
		return nil
	}))
	reg.Native("native_error", runtime.Kernel{
		Signature: &runtime.Signature{Results: 1},
		Run:       func(f *runtime.Frame) { f.SetError(errBad) },
	})
}
