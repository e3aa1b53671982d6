package tile

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

// compareLoop compares elements of type t, giving bytes 0 and 1.
func compareLoop(t hlo.PrimitiveType, dir hlo.Direction, typ hlo.CompareType) loop {
	if typ == hlo.CompareDefault {
		typ = hlo.DefaultCompareType(t)
	}
	switch lane(t) {
	case hlo.F32:
		if typ == hlo.CompareTotalOrder {
			if isWide(t) {
				return nil // widening makes NaNs quiet, which moves them
			}
			return totalOrder[int32](dir)
		}
		return ordered[float32](dir)
	case hlo.F64:
		if typ == hlo.CompareTotalOrder {
			return totalOrder[int64](dir)
		}
		return ordered[float64](dir)
	case hlo.PRED, hlo.U8:
		return ordered[uint8](dir)
	case hlo.U16:
		return ordered[uint16](dir)
	case hlo.U32:
		return ordered[uint32](dir)
	case hlo.U64:
		return ordered[uint64](dir)
	case hlo.C64:
		return equality[complex64](dir)
	case hlo.C128:
		return equality[complex128](dir)
	}
	if typ != hlo.CompareSigned {
		return nil
	}
	switch t {
	case hlo.S8:
		return ordered[int8](dir)
	case hlo.S16:
		return ordered[int16](dir)
	case hlo.S32:
		return ordered[int32](dir)
	case hlo.S64:
		return ordered[int64](dir)
	}
	return nil
}

func ordered[T real](dir hlo.Direction) loop {
	switch dir {
	case hlo.LT:
		return less[T]
	case hlo.LE:
		return lessEqual[T]
	case hlo.GT:
		return func(n int, d, a, b, c unsafe.Pointer) { less[T](n, d, b, a, c) }
	case hlo.GE:
		return func(n int, d, a, b, c unsafe.Pointer) { lessEqual[T](n, d, b, a, c) }
	}
	return equality[T](dir)
}

func equality[T number](dir hlo.Direction) loop {
	switch dir {
	case hlo.EQ:
		return func(n int, d, a, b, _ unsafe.Pointer) {
			z, x, y := vec[bool](d, n), vec[T](a, n), vec[T](b, n)
			for i := range z {
				z[i] = x[i] == y[i]
			}
		}
	case hlo.NE:
		return func(n int, d, a, b, _ unsafe.Pointer) {
			z, x, y := vec[bool](d, n), vec[T](a, n), vec[T](b, n)
			for i := range z {
				z[i] = x[i] != y[i]
			}
		}
	}
	return nil
}

func less[T real](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[bool](d, n), vec[T](a, n), vec[T](b, n)
	for i := range z {
		z[i] = x[i] < y[i]
	}
}

func lessEqual[T real](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[bool](d, n), vec[T](a, n), vec[T](b, n)
	for i := range z {
		z[i] = x[i] <= y[i]
	}
}

// totalOrder compares -NaN < -inf < … < -0 < +0 < … < inf < NaN: codes as integers, the negative ones mirrored. K is the signed integer
// as wide as the numbers.
func totalOrder[K int32 | int64](dir hlo.Direction) loop {
	switch dir {
	case hlo.EQ, hlo.NE:
		return equality[K](dir)
	case hlo.LT:
		return totalLess[K]
	case hlo.LE:
		return totalLessEqual[K]
	case hlo.GT:
		return func(n int, d, a, b, c unsafe.Pointer) { totalLess[K](n, d, b, a, c) }
	case hlo.GE:
		return func(n int, d, a, b, c unsafe.Pointer) { totalLessEqual[K](n, d, b, a, c) }
	}
	return nil
}

func totalLess[K int32 | int64](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[bool](d, n), vec[K](a, n), vec[K](b, n)
	for i := range z {
		z[i] = totalKey(x[i]) < totalKey(y[i])
	}
}

func totalLessEqual[K int32 | int64](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[bool](d, n), vec[K](a, n), vec[K](b, n)
	for i := range z {
		z[i] = totalKey(x[i]) <= totalKey(y[i])
	}
}

func totalKey[K int32 | int64](x K) K {
	w := int(unsafe.Sizeof(x))*8 - 1
	return x ^ x>>w&^(1<<w)
}

func isFiniteLoop(t hlo.PrimitiveType) loop {
	switch t {
	case hlo.F32:
		return isFinite[float32]
	case hlo.F64:
		return isFinite[float64]
	}
	return nil
}

func isFinite[T float](n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[bool](d, n), vec[T](a, n)
	for i := range z {
		z[i] = x[i]-x[i] == 0
	}
}
