package hostkernels

import (
	"fmt"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// Kernels that only synchronous functions have, and those by which other functions call them.
func registerSync(reg *runtime.Registry) {
	syncConstant[int32](reg, "i32")
	syncConstant[int64](reg, "i64")
	syncConstant[float32](reg, "f32")
	syncConstant[float64](reg, "f64")
	reg.Sync("tfrt.constant_s.f16", halfConstant[F16]())
	reg.Sync("tfrt.constant_s.bf16", halfConstant[BF16]())
	syncArith[int32](reg, "i32")
	syncArith[int64](reg, "i64")
	fail := runtime.Kernel{
		Signature: &runtime.Signature{Results: 1},
		Sync:      func(*runtime.SyncFrame) error { return errBad },
	}
	reg.Sync("tfrt_test.fail_s", fail)
	reg.Sync("tfrt_test.error_s", fail)
	total := runtime.PureN(sum)
	total.Signature = &runtime.Signature{Args: runtime.AtLeast(1), Results: 1}
	reg.Sync("tfrt_test.sync_sum", total)
	reg.Sync("tfrt_test.sync_sum2", total)
	reg.Sync("tfrt_test.sync_sum_attributes", runtime.Kernel{
		Signature: &runtime.Signature{Results: 1, Attrs: runtime.AtLeast(0)},
		Sync: func(f *runtime.SyncFrame) error {
			var total int32
			for i := range f.NumAttrs() {
				x, err := runtime.AttrValue[int32](f.Pool(), f.Attr(i))
				if err != nil {
					return err
				}
				total += x
			}
			runtime.SyncReturn(f, 0, total)
			return nil
		},
	})
	for _, name := range []string{"invoke_sync_function", "sync_function_runner", "invoke_sync_function_runner"} {
		reg.Kernel("tfrt_test."+name+".i32_i32.i32", invoker(1))
		reg.Kernel("tfrt_test."+name+".i32_i32.i32_i32", invoker(2))
	}
}

func syncConstant[T any](reg *runtime.Registry, suffix string) {
	reg.Sync("tfrt.constant_s."+suffix, runtime.FromAttribute(identity[T]))
}

func syncArith[T integer](reg *runtime.Registry, suffix string) {
	reg.Sync("tfrt.add_s."+suffix, runtime.Pure2(func(a, b T) T { return a + b }))
	reg.Sync("tfrt.mul_s."+suffix, runtime.Pure2(func(a, b T) T { return a * b }))
}

// invoker makes a kernel that calls a synchronous function of two i32, with so many i32 as results.
func invoker(results int) runtime.Kernel {
	return runtime.Kernel{
		Signature: &runtime.Signature{Args: 2, Results: runtime.Count(results), Funcs: 1, Payloads: true},
		Check: func(u *runtime.KernelUse) error {
			if u.Funcs[0].Kind() != bef.Sync {
				return fmt.Errorf("function %q is not synchronous", u.Funcs[0].Name())
			}
			return u.Funcs[0].CheckCall(2, results)
		},
		Run: func(f *runtime.Frame) {
			args := [2]runtime.SyncValue{runtime.MakeSyncValue(runtime.Arg[int32](f, 0)), runtime.MakeSyncValue(runtime.Arg[int32](f, 1))}
			var out [2]runtime.SyncValue
			if err := f.Func(0).Call(f.Ctx(), args[:], out[:results]); err != nil {
				f.SetError(err) // reported where it happened
				return
			}
			for i := range out[:results] {
				runtime.Return(f, i, runtime.SyncGet[int32](&out[i]))
				out[i].Clear()
			}
		},
	}
}
