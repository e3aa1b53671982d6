package kernels

import "unsafe"

// bitFold is a fold by an op on bits, which takes elements word by word.
func bitFold[T integerNumber](pair func(x, y T) T, words func(x, y uint64) uint64, rows func(x, y []uint64)) *fold[T] {
	f := foldBy(pair)
	each := int(8 / unsafe.Sizeof(T(0)))
	slowRun, slowRows := f.run, f.rows
	f.run = func(x []T) T {
		head := misplaced(x)
		if len(x)-head < 4*each {
			return slowRun(x)
		}
		body := wordsOf(x[head:])
		sum := body[0]
		for len(body) > 4 {
			sum = words(words(sum, words(body[1], body[2])), words(body[3], body[4]))
			body = body[4:]
		}
		for _, w := range body[1:] {
			sum = words(sum, w)
		}
		r := slowRun(unsafe.Slice((*T)(unsafe.Pointer(&sum)), each))
		for _, part := range [2][]T{x[:head], x[head+(len(x)-head)/each*each:]} {
			if len(part) > 0 {
				r = pair(r, slowRun(part))
			}
		}
		return r
	}
	f.rows = func(x, y []T) {
		head := misplaced(x)
		if len(x)-head < 4*each || misplaced(y) != head {
			slowRows(x, y)
			return
		}
		slowRows(x[:head], y)
		body := wordsOf(x[head:])
		rows(body, wordsOf(y[head:len(x)]))
		head += len(body) * each
		slowRows(x[head:], y[head:])
	}
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

func andWords(x, y []uint64) {
	y = y[:len(x)]
	for i := range x {
		x[i] &= y[i]
	}
}

func orWords(x, y []uint64) {
	y = y[:len(x)]
	for i := range x {
		x[i] |= y[i]
	}
}

func xorWords(x, y []uint64) {
	y = y[:len(x)]
	for i := range x {
		x[i] ^= y[i]
	}
}
