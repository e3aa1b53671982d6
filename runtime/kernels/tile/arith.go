package tile

import (
	"math"
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

type signedInt interface{ int8 | int16 | int32 | int64 }
type unsignedInt interface {
	uint8 | uint16 | uint32 | uint64
}
type integer interface{ signedInt | unsignedInt }
type float interface{ float32 | float64 }
type real interface{ integer | float }
type number interface{ real | complex64 | complex128 }

func add[T number](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	for len(z) >= 4 && len(x) >= 4 && len(y) >= 4 {
		z[0] = x[0] + y[0]
		z[1] = x[1] + y[1]
		z[2] = x[2] + y[2]
		z[3] = x[3] + y[3]
		z, x, y = z[4:], x[4:], y[4:]
	}
	for i := range z {
		z[i] = x[i] + y[i]
	}
}

func subtract[T number](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	for len(z) >= 4 && len(x) >= 4 && len(y) >= 4 {
		z[0] = x[0] - y[0]
		z[1] = x[1] - y[1]
		z[2] = x[2] - y[2]
		z[3] = x[3] - y[3]
		z, x, y = z[4:], x[4:], y[4:]
	}
	for i := range z {
		z[i] = x[i] - y[i]
	}
}

func multiply[T number](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	for len(z) >= 4 && len(x) >= 4 && len(y) >= 4 {
		z[0] = x[0] * y[0]
		z[1] = x[1] * y[1]
		z[2] = x[2] * y[2]
		z[3] = x[3] * y[3]
		z, x, y = z[4:], x[4:], y[4:]
	}
	for i := range z {
		z[i] = x[i] * y[i]
	}
}

func divide[T float](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	for i := range z {
		z[i] = x[i] / y[i]
	}
}

// The built-in max and min are IEEE 754-2019 maximum and minimum: NaN from either side, -0 below +0.

func maximum[T real](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	for i := range z {
		z[i] = max(x[i], y[i])
	}
}

func minimum[T real](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	for i := range z {
		z[i] = min(x[i], y[i])
	}
}

func negate[T number](n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[T](d, n), vec[T](a, n)
	for i := range z {
		z[i] = -x[i]
	}
}

// map1 and map2 are loops over a function; what is hot has a loop of its own.

func map1[T any](f func(T) T) loop {
	return func(n int, d, a, _, _ unsafe.Pointer) {
		z, x := vec[T](d, n), vec[T](a, n)
		for i := range z {
			z[i] = f(x[i])
		}
	}
}

func map2[T any](f func(x, y T) T) loop {
	return func(n int, d, a, b, _ unsafe.Pointer) {
		z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
		for i := range z {
			z[i] = f(x[i], y[i])
		}
	}
}

// selectLoop chooses elements of a width by a mask of bytes.
func selectLoop(width int) loop {
	switch width {
	case 1:
		return choose[uint8]
	case 2:
		return choose[uint16]
	case 4:
		return choose[uint32]
	case 8:
		return choose[uint64]
	case 16:
		return choose[[2]uint64]
	}
	return nil
}

func choose[T any](n int, d, p, a, b unsafe.Pointer) {
	z, m, x, y := vec[T](d, n), vec[uint8](p, n), vec[T](a, n), vec[T](b, n)
	for i := range z {
		v := y[i]
		if m[i] != 0 {
			v = x[i]
		}
		z[i] = v
	}
}

func clampLoop(t hlo.PrimitiveType) loop {
	switch t {
	case hlo.F32:
		return clamp[float32]
	case hlo.F64:
		return clamp[float64]
	case hlo.PRED, hlo.U8:
		return clamp[uint8]
	case hlo.U16:
		return clamp[uint16]
	case hlo.U32:
		return clamp[uint32]
	case hlo.U64:
		return clamp[uint64]
	case hlo.S8:
		return clamp[int8]
	case hlo.S16:
		return clamp[int16]
	case hlo.S32:
		return clamp[int32]
	case hlo.S64:
		return clamp[int64]
	}
	return nil
}

func clamp[T real](n int, d, lo, a, hi unsafe.Pointer) {
	z, l, x, h := vec[T](d, n), vec[T](lo, n), vec[T](a, n), vec[T](hi, n)
	for i := range z {
		z[i] = min(h[i], max(x[i], l[i]))
	}
}

func complexLoop(t hlo.PrimitiveType) loop {
	switch t {
	case hlo.C64:
		return func(n int, d, a, b, _ unsafe.Pointer) {
			z, x, y := vec[complex64](d, n), vec[float32](a, n), vec[float32](b, n)
			for i := range z {
				z[i] = complex(x[i], y[i])
			}
		}
	case hlo.C128:
		return joinParts()
	}
	return nil
}

// partLoop takes real or imaginary parts, which lie side by side in memory.
func partLoop(op hlo.Opcode, t hlo.PrimitiveType) loop {
	k := 0
	if op == hlo.OpImag {
		k = 1
	}
	switch t {
	case hlo.C64:
		return func(n int, d, a, _, _ unsafe.Pointer) {
			z, x := vec[float32](d, n), vec[[2]float32](a, n)
			for i := range z {
				z[i] = x[i][k]
			}
		}
	case hlo.C128:
		return partOf(k)
	}
	return nil
}

// magnitudeLoop is the absolute value of complex numbers, NaN if a part is. That of c64 is computed in f64, where squares of f32 neither overflow
// nor round.
func magnitudeLoop(t hlo.PrimitiveType) loop {
	if t == hlo.C64 {
		return func(n int, d, a, _, _ unsafe.Pointer) {
			z, x := vec[float32](d, n), vec[[2]float32](a, n)
			for i := range z {
				re, im := float64(x[i][0]), float64(x[i][1])
				z[i] = float32(math.Sqrt(re*re + im*im))
			}
		}
	}
	return magnitude128()
}
