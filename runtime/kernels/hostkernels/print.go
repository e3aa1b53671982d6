package hostkernels

import (
	"fmt"
	"math"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

func registerPrint(reg *runtime.Registry) {
	printer(reg, "i1", func(x bool) string {
		if x {
			return "int1 = 1"
		}
		return "int1 = 0"
	})
	printer(reg, "i32", func(x int32) string { return fmt.Sprintf("int32 = %d", x) })
	printer(reg, "i64", func(x int64) string { return fmt.Sprintf("int64 = %d", x) })
	printer(reg, "f32", func(x float32) string { return "f32 = " + FormatFloat('f', float64(x)) })
	printer(reg, "f64", func(x float64) string { return "f64 = " + FormatFloat('f', x) })
	printer(reg, "f16", func(x F16) string { return fmt.Sprintf("f16 = %d", x) })
	printer(reg, "complex64", func(x complex64) string { return "complex64 = " + sumOfParts(complex128(x)) })
	printer(reg, "complex128", func(x complex128) string { return "complex128 = " + sumOfParts(x) })
	reg.Kernel("tfrt_test.print_hello", chainPrinter(func() string { return "hello host executor!" }))
	reg.Kernel("tfrt_test.print_bool", runtime.Params4(
		func(ctx runtime.ExecContext, _ runtime.Argument[async.Chain], x runtime.Argument[bool], out runtime.Result[async.Chain]) error {
			console(ctx).Printf("%t\n", x.Get())
			out.Emplace(async.Chain{})
			return nil
		}))
}

func printer[T any](reg *runtime.Registry, suffix string, line func(T) string) {
	reg.Kernel("tfrt.print."+suffix, printing(line))
}

// printing makes a kernel that prints a line about its first argument and gives a chain. Chains may follow; the oldest programs have
// none.
func printing[T any](line func(T) string) runtime.Kernel {
	k := runtime.Params4(
		func(ctx runtime.ExecContext, x runtime.Argument[T], _ runtime.RemainingArguments, out runtime.Result[async.Chain]) error {
			console(ctx).Printf("%s\n", line(x.Get()))
			out.Emplace(async.Chain{})
			return nil
		})
	const valueAndChains = 3
	k.Check = func(u *runtime.KernelUse) error {
		if u.NumArgs > valueAndChains {
			return fmt.Errorf("takes a value and a chain, got %d arguments", u.NumArgs)
		}
		return nil
	}
	return k
}

// chainPrinter makes a kernel that prints a line when its chain comes.
func chainPrinter(line func() string) runtime.Kernel {
	return runtime.Params3(func(ctx runtime.ExecContext, _ runtime.Argument[async.Chain], out runtime.Result[async.Chain]) error {
		console(ctx).Printf("%s\n", line())
		out.Emplace(async.Chain{})
		return nil
	})
}

// FormatFloat formats a number as C's printf does with %f or %e, which is Go's way but for what is not finite.
func FormatFloat(verb byte, x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case math.IsNaN(x) && math.Signbit(x):
		return "-nan"
	case math.IsNaN(x):
		return "nan"
	case verb == 'e':
		return fmt.Sprintf("%e", x)
	}
	return fmt.Sprintf("%f", x)
}

func sumOfParts(x complex128) string {
	return FormatFloat('f', real(x)) + "+" + FormatFloat('f', imag(x)) + "i"
}
