package hostkernels

import (
	"errors"
	"math"

	"github.com/gohalo/halo/runtime"
)

// F16 and BF16 are the bits of numbers that Go has no type for.
type (
	F16  uint16
	BF16 uint16
)

type (
	integer interface{ int32 | int64 }
	float   interface{ float32 | float64 }
	number  interface{ integer | float }
)

var errDivideByZero = errors.New("Divide by zero")

func registerArith(reg *runtime.Registry) {
	constant[bool](reg, "i1")
	constant[int32](reg, "i32")
	constant[int64](reg, "i64")
	constant[uint32](reg, "ui32")
	constant[uint64](reg, "ui64")
	constant[float32](reg, "f32")
	constant[float64](reg, "f64")
	reg.Kernel("tfrt.constant.f16", halfConstant[F16]())
	reg.Kernel("tfrt.constant.bf16", halfConstant[BF16]())
	reg.Kernel("tfrt.constant.complex64", runtime.Params3(
		func(out runtime.Result[complex64], im, re runtime.Attribute[float32]) error {
			out.Emplace(complex(re.Get(), im.Get()))
			return nil
		}))
	reg.Kernel("tfrt.constant.complex128", runtime.Params3(
		func(out runtime.Result[complex128], im, re runtime.Attribute[float64]) error {
			out.Emplace(complex(re.Get(), im.Get()))
			return nil
		}))

	addition[int32](reg, "i32")
	addition[int64](reg, "i64")
	addition[float32](reg, "f32")
	addition[float64](reg, "f64")
	integers[int32](reg, "i32")
	integers[int64](reg, "i64")
	floats[float32](reg, "f32")
	floats[float64](reg, "f64")
	reg.Kernel("tfrt.and.i1", runtime.Pure2(func(a, b bool) bool { return a && b }))

	reg.Kernel("tfrt.cast.i64_to_f32", runtime.Pure1(func(x int64) float32 { return float32(x) }))
	reg.Kernel("tfrt.cast.i64_to_f64", runtime.Pure1(func(x int64) float64 { return float64(x) }))
	reg.Kernel("tfrt.cast.f32_to_i64", runtime.Pure1(func(x float32) int64 { return truncate(float64(x)) }))
	reg.Kernel("tfrt.cast.f64_to_i64", runtime.Pure1(truncate))
}

func identity[T any](x T) (T, error) { return x, nil }

func constant[T any](reg *runtime.Registry, suffix string) {
	reg.Kernel("tfrt.constant."+suffix, runtime.FromAttribute(identity[T]))
}

func halfConstant[T ~uint16]() runtime.Kernel {
	return runtime.FromAttribute(func(bits uint16) (T, error) { return T(bits), nil })
}

func addition[T number](reg *runtime.Registry, suffix string) {
	reg.Kernel("tfrt.add."+suffix, runtime.Pure2(func(a, b T) T { return a + b }))
}

func integers[T integer](reg *runtime.Registry, suffix string) {
	reg.Kernel("tfrt.minus."+suffix, runtime.Pure2(func(a, b T) T { return a - b }))
	reg.Kernel("tfrt.mul."+suffix, runtime.Pure2(func(a, b T) T { return a * b }))
	reg.Kernel("tfrt.div."+suffix, runtime.Try2x2(divide[T]))
	reg.Kernel("tfrt.equal."+suffix, runtime.Pure2(func(a, b T) bool { return a == b }))
	reg.Kernel("tfrt.lessequal."+suffix, runtime.Pure2(func(a, b T) bool { return a <= b }))
}

// divide rounds toward zero. The smallest number divided by -1 is itself, with remainder 0: Go defines it so.
func divide[T integer](a, b T) (quotient, remainder T, err error) {
	if b == 0 {
		return 0, 0, errDivideByZero
	}
	return a / b, a % b, nil
}

func floats[T float](reg *runtime.Registry, suffix string) {
	reg.Kernel("tfrt.multiply."+suffix, runtime.Pure2(func(a, b T) T { return a * b }))
	reg.Kernel("tfrt.div."+suffix, runtime.Try2(func(a, b T) (T, error) {
		if b == 0 {
			return 0, errDivideByZero
		}
		return a / b, nil
	}))
	reg.Kernel("tfrt.minimum."+suffix, runtime.Pure2(func(a, b T) T {
		if b < a { // not min: of two numbers that have no order the first is taken
			return b
		}
		return a
	}))
}

// truncate rounds toward zero. What no integer can hold becomes the nearest one that can, and NaN becomes 0.
func truncate(x float64) int64 {
	switch {
	case x != x:
		return 0
	case x >= 1<<63:
		return math.MaxInt64
	case x < -1<<63:
		return math.MinInt64
	}
	return int64(x)
}
