package kernels

import (
	"slices"

	"github.com/gohalo/halo/runtime"
)

// Radix sorts, from the lowest digit up: each pass keeps the order of the one before among equal digits.

// radixAbove is the length from which on counting digits pays.
const radixAbove = 256

// A pass counts digits, and then writes to as many places as there are. Counting many digits does not pay for few elements. Many places
// are too many for long arrays, where each lies on a page of its own, of which the processor finds only so many quickly.
const (
	shortDigit = 8
	longDigit  = 11
)

// digitBits is the length of a digit for n elements.
func digitBits(n int) int {
	if n < 1<<12 || n >= 1<<17 {
		return shortDigit
	}
	return longDigit
}

// keyed is a key and where it was.
type keyed struct {
	key uint64
	at  int32
}

// sortBare sorts a line of keys that carry nothing. It fails where two keys are equal but not the same, as zeros of both signs may be:
// their order has to be kept.
func (x *sorter) sortBare(f *runtime.TensorFrame, b *sortBuffers, first int) bool {
	k := &x.keys[0]
	w := x.widths[0]
	in, out := f.In(0).Data, f.Out(0).Data
	if x.stride == 1 {
		in, out = in[first*w:][:x.n*w], out[first*w:][:x.n*w]
	} else {
		b.forLine(x)
		readLine(b.line, in, w, first, x.stride, x.n)
		in = b.line[:x.n*w]
	}
	if k.canonical && hasNegativeZero(in, w) {
		return false
	}
	to := out
	if x.stride != 1 {
		to = in
	}
	if w == 4 {
		if b.short == nil {
			b.short = make([]uint32, 2*x.n)
		}
		v, swap := b.short[:x.n], b.short[x.n:]
		k.orderable32(v, elems[uint32](in))
		unorder(k, elems[uint32](to), sortNumbers(v, swap, 0, 32))
	} else {
		b.forNumbers(x)
		k.orderable(b.packed, in)
		unorder(k, elems[uint64](to), sortNumbers(b.packed, b.swap, 0, 64))
	}
	if x.stride != 1 {
		back := box{dims: []int{x.n}, src: []int{w}, dst: []int{x.stride * w}, run: w, width: w}
		back.row(out, in, first*w, 0, x.n)
	}
	return true
}

func hasNegativeZero(line []byte, width int) bool {
	switch width {
	case 2:
		return slices.Contains(elems[uint16](line), 1<<15)
	case 4:
		return slices.Contains(elems[uint32](line), 1<<31)
	}
	return slices.Contains(elems[uint64](line), 1<<63)
}

// sortPacked sorts numbers by their upper half, whose lowest bits count, and keeps the order of equal ones; they are in ascending order
// of their lower half. The result is in v or in swap.
func sortPacked(v, swap []uint64, bits int) []uint64 { return sortNumbers(v, swap, 32, 32+bits) }

// sortNumbers sorts numbers by their bits from low to high, the others being in ascending order already, or zero. The result is in v or
// in swap.
func sortNumbers[T uint32 | uint64](v, swap []T, low, high int) []T {
	if len(v) < radixAbove {
		slices.Sort(v)
		return v
	}
	width := digitBits(len(v))
	mask := T(1)<<width - 1
	for shift := low; shift < high; shift += width {
		var places [1<<longDigit + 1]int
		count := places[:1<<width+1]
		for _, x := range v {
			count[x>>shift&mask+1]++
		}
		if count[v[0]>>shift&mask+1] == len(v) {
			continue // all have the same digit
		}
		for i := range len(count) - 1 {
			count[i+1] += count[i]
		}
		for _, x := range v {
			at := &count[x>>shift&mask]
			swap[*at] = x
			*at++
		}
		v, swap = swap, v
	}
	return v
}

// sortWide sorts by keys of 64 bits. The result is in v or in swap.
func sortWide(v, swap []keyed) []keyed {
	width := digitBits(len(v))
	mask := uint64(1)<<width - 1
	for shift := 0; shift < 64; shift += width {
		var places [1<<longDigit + 1]int
		count := places[:1<<width+1]
		for i := range v {
			count[v[i].key>>shift&mask+1]++
		}
		if count[v[0].key>>shift&mask+1] == len(v) {
			continue
		}
		for i := range len(count) - 1 {
			count[i+1] += count[i]
		}
		for _, x := range v {
			at := &count[x.key>>shift&mask]
			swap[*at] = x
			*at++
		}
		v, swap = swap, v
	}
	return v
}
