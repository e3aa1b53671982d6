package vec

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

// vectorsOfRun is up to how many vectors long the runs of [FindFoldRuns] are: the number in package gen, which unrolls so many. Of elements of 8 and 16 bits, and of floats
// that are multiplied, which are folded beside other runs only, other numbers are better.
const (
	vectorsOfRun = 4
	narrowRun    = 64 // bytes
	productRun   = 64
	decodedRun   = 32
)

// FindFoldRuns returns what sets element i of y to the fold of first and run i of x, as the folding loop of an op in mode [FoldingRuns] folds it, and up to how many elements long
// runs may be; or nil, if there is none at the level in use. Where assembly leaves a rest, or runs are shorter than it takes, short folds runs onto elements of y that are first
// already.
func FindFoldRuns[T Number](name Name, pair func(x, y T) T, short func(y, x []T, run int)) (fold func(y, x []T, run int, first *T), longest int) {
	k, size := find(InUse(), name.In(FoldingRuns)), int(unsafe.Sizeof(*new(T)))
	if k.loop == nil {
		return nil, 0
	}
	bytes := 32
	if InUse() == AVX512 {
		bytes = 64
	}
	call := func(y, x []T, run int, first *T) { callRuns(k.loop, y, x, run, first) }
	switch {
	case size < 4:
		longest = narrowRun / size
	case name.Op == hlo.OpMultiply && name.Types[0].IsFloat():
		longest = productRun
	default:
		return halved(name, bytes/size, pair, call), vectorsOfRun * bytes / size
	}
	return besideOthers(k.loop, bytes/max(size, wordBytes), short), longest
}

// FindDecodedRuns is [FindFoldRuns] for runs of bf16 or f16, whose elements are folded in order, as f32.
func FindDecodedRuns(name Name, short func(y []float32, x []uint16, run int)) (fold func(y []float32, x []uint16, run int, first *float32), longest int) {
	k := find(InUse(), name.In(FoldingRuns))
	if k.loop == nil {
		return nil, 0
	}
	beside := 8
	if InUse() == AVX512 {
		beside = 16
	}
	return besideOthers(k.loop, beside, short), decodedRun
}

// callRuns calls a loop for runs.
func callRuns[T, S any](loop Loop, y []T, x []S, run int, first *T) {
	if len(y) > 0 {
		loop(run, unsafe.Pointer(&y[0]), unsafe.Pointer(&x[:len(y)*run][0]), unsafe.Pointer(first), unsafe.Pointer(&y[len(y)-1]))
	}
}

// wordBytes is the size of the words that runs of narrow elements are.
const wordBytes = 4

// besideOthers folds runs by a loop that folds so many beside each other. The rest is short's, and so are runs shorter than a word.
func besideOthers[T, S any](loop Loop, beside int, short func(y []T, x []S, run int)) func(y []T, x []S, run int, first *T) {
	size := int(unsafe.Sizeof(*new(S)))
	return func(y []T, x []S, run int, first *T) {
		whole := len(y) / beside * beside
		if run*size < wordBytes {
			whole = 0
		}
		callRuns(loop, y[:whole], x, run, first)
		rest := y[whole:]
		for i := range rest {
			rest[i] = *first
		}
		short(rest, x[whole*run:], run)
	}
}

// Runs are halved some at a time, so that what is left lies in the nearest cache, and only if there are enough.
const (
	halvedSpace = 2048
	leastHalved = 16
)

// halved folds neighbours in runs of even lengths, where the order does not matter, as long as they have more than two elements. The rest is call's. Vectors have a number of lanes.
func halved[T Number](name Name, lanes int, pair func(x, y T) T, call func(y, x []T, run int, first *T)) func(y, x []T, run int, first *T) {
	k := find(InUse(), name.In(FoldingPairs))
	if k.loop == nil {
		return call
	}
	pairs := func(d, x []T) { // into d, of which x may be the memory
		whole := len(d) / lanes * lanes
		if whole > 0 {
			k.loop(whole, unsafe.Pointer(&d[0]), unsafe.Pointer(&x[:2*whole][0]), nil, nil)
		}
		for i := whole; i < len(d); i++ {
			d[i] = pair(x[2*i], x[2*i+1])
		}
	}
	spaces := sync.Pool{New: func() any { return new([halvedSpace]T) }}
	return func(y, x []T, run int, first *T) {
		if run%2 != 0 || run == 2 || len(y) < leastHalved {
			call(y, x, run, first)
			return
		}
		space := spaces.Get().(*[halvedSpace]T)
		for len(y) > 0 {
			n := min(len(y), halvedSpace/(run/2))
			left := run / 2
			halves := space[:n*left]
			pairs(halves, x[:n*run])
			for left > 2 && left%2 == 0 {
				left /= 2
				pairs(halves[:n*left], halves)
			}
			call(y[:n], halves, left, first)
			y, x = y[n:], x[n*run:]
		}
		spaces.Put(space)
	}
}
