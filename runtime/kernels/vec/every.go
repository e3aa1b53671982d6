package vec

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

// FindEvery returns what sets d to n elements of a, of a width, of which each lies stride elements behind the one before, or nil if there is no loop for that at the level in
// use. It reads what is behind an element too, up to where the next one would be.
func FindEvery(width, stride int) Loop {
	if stride < 2 {
		return nil
	}
	var name Name
	if stride <= int(Every8-Every2)+2 {
		typ := Sized(width)
		if width == hlo.C128.ByteSize() {
			typ = hlo.C128
		}
		name = Of(hlo.OpSlice, typ).In(Every2 + Mode(stride-2))
	}
	loop, lanes := find(InUse(), name).loop, map[Level]int{AVX2: 32, AVX512: 64}[InUse()]/width
	if width == 1 || width == 2 && InUse() == AVX2 {
		lanes = chunk / width
	}
	rest := func(n int, d, a, _, _ unsafe.Pointer) {
		for i := range n {
			copy(unsafe.Slice((*byte)(unsafe.Add(d, i*width)), width), unsafe.Slice((*byte)(unsafe.Add(a, i*stride*width)), width))
		}
	}
	var low Loop // takes the low parts of wider elements
	if wide := width * stride; wide&(wide-1) == 0 && wide <= 8 && Has(Of(hlo.OpConvert, Sized(wide), Sized(width))) {
		low = Find(Of(hlo.OpConvert, Sized(wide), Sized(width)), rest)
		rest = low
	}
	if loop == nil {
		return low
	}
	return func(n int, d, a, _, _ unsafe.Pointer) {
		whole := n / lanes * lanes
		if whole > 0 {
			loop(whole, d, a, nil, nil)
		}
		switch {
		case whole == n:
		case whole > 0: // the last vector begins within the one before
			loop(lanes, unsafe.Add(d, (n-lanes)*width), unsafe.Add(a, (n-lanes)*stride*width), nil, nil)
		default:
			rest(n-whole, unsafe.Add(d, whole*width), unsafe.Add(a, whole*stride*width), nil, nil)
		}
	}
}
