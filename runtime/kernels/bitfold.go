package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// bitFold is a fold by an op on bits, which takes the elements of a run word by word.
func bitFold[T integerNumber](op hlo.Opcode, pair func(x, y T) T, words func(x, y uint64) uint64) *fold[T] {
	f := foldBy(pair)
	size := int(unsafe.Sizeof(T(0)))
	each := 8 / size
	slow := f.run
	portable := foldBy(words).run
	fold := runLoop(vec.FindFold(vec.Of(op, hlo.U64).In(vec.Folding), words, portable), portable)
	f.run = func(x []T) T {
		head := misplaced(x)
		if len(x)-head < 4*each {
			return slow(x)
		}
		sum := fold(wordsOf(x[head:]))
		r := T(sum) // the elements of the word one by one: its address would move it to the heap
		for range each - 1 {
			sum >>= 8 * size % 64
			r = pair(r, T(sum))
		}
		for _, part := range [2][]T{x[:head], x[head+(len(x)-head)/each*each:]} {
			if len(part) > 0 {
				r = pair(r, slow(part))
			}
		}
		return r
	}
	f.rows = rowsLoop(vec.Of(op, vec.Sized(size)), f.rows)
	return f
}

// misplaced is how many elements lie before the first whole word.
func misplaced[T integerNumber](x []T) int {
	size := unsafe.Sizeof(T(0))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	return min(len(x), int((-at&7)/size))
}

// wordsOf is the whole words of a slice that begins with one.
func wordsOf[T integerNumber](x []T) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0)))/8)
}
