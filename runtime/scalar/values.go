package scalar

import (
	"math"
	"unsafe"
)

// Here is what instructions of the interpreter share. All of it is inlined.

// at is the register at an offset.
func at[T any](r unsafe.Pointer, offset uint16) *T { return (*T)(unsafe.Add(r, offset)) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// element is where a load or store goes.
func element(r, places unsafe.Pointer, in *instr) unsafe.Pointer {
	return unsafe.Add(*at[unsafe.Pointer](places, in.a), *at[int](r, in.b)+int(in.m))
}

func ones(b bool) uint64 { return -truth(b) }

func clamped(i, highest int64) int64 { return min(max(i, 0), highest) }

// saturated truncates toward zero and stops at the ends of the range; NaN gives 0.
func saturated(v float64) int64 {
	switch {
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v <= math.MinInt32:
		return math.MinInt32
	case v != v:
		return 0
	}
	return int64(v)
}

// rounded is the integer that x is rounded to.
func rounded(x float64, how int32) float64 {
	switch how {
	case toFloor:
		return math.Floor(x)
	case toCeil:
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}
