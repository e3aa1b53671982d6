package kernels

import (
	"encoding/binary"
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
	f.list, f.anyOrder = listOf(vec.Of(op, vec.Sized(size)), pair, itself[T]), true
	if op == hlo.OpAnd {
		f.identity = ^f.identity
	}
	f.runs, f.longest = bitRuns(op, pair), longestBitRun/size
	return f
}

// longestBitRun is the size of runs in bytes up to which calling a loop for each is most of the work.
const longestBitRun = 256

// bitRuns is fold.runs by an op on bits: words of a run, which may overlap at its end where folding an element twice does not matter, and then halves of a word.
func bitRuns[T integerNumber](op hlo.Opcode, pair func(x, y T) T) func(y, x []T, run int, first *T) {
	size := int(unsafe.Sizeof(T(0)))
	return func(y, x []T, run int, first *T) {
		data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*size)
		n := run * size
		for i := range y {
			row := data[i*n:][:n]
			v := *first
			if n >= 8 {
				var sum uint64
				sum, row = foldWords(op, row)
				v = pair(v, foldWord[T](op, sum))
			}
			for ; len(row) > 0; row = row[size:] {
				v = pair(v, *(*T)(unsafe.Pointer(&row[0])))
			}
			y[i] = v
		}
	}
}

// foldWords folds the words of a row, and returns what is left of it.
func foldWords(op hlo.Opcode, row []byte) (sum uint64, rest []byte) {
	word := binary.LittleEndian.Uint64
	sum, rest = word(row), row[8:]
	//halo:allow opswitch folds of bits
	switch op {
	case hlo.OpAnd:
		for ; len(rest) >= 8; rest = rest[8:] {
			sum &= word(rest)
		}
		if len(rest) > 0 {
			sum &= word(row[len(row)-8:])
		}
		return sum, nil
	case hlo.OpOr:
		for ; len(rest) >= 8; rest = rest[8:] {
			sum |= word(rest)
		}
		if len(rest) > 0 {
			sum |= word(row[len(row)-8:])
		}
		return sum, nil
	}
	for ; len(rest) >= 8; rest = rest[8:] {
		sum ^= word(rest)
	}
	return sum, rest
}

// foldWord folds the elements of a word.
func foldWord[T integerNumber](op hlo.Opcode, sum uint64) T {
	for half := 32; half >= 8*int(unsafe.Sizeof(T(0))); half /= 2 {
		//halo:allow opswitch folds of bits
		switch op {
		case hlo.OpAnd:
			sum &= sum >> half
		case hlo.OpOr:
			sum |= sum >> half
		default:
			sum ^= sum >> half
		}
	}
	return T(sum)
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
