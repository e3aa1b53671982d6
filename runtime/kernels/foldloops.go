package kernels

import "sync"

// The loops of folds in Go: for processors and element types without vector loops, and for runs and rows too short to be worth a call of one.

// sumBlock is how many elements are added before their sum is: it keeps rounding errors of long sums small.
const sumBlock = 4096

// sumBlocks adds blocks, and the sums of the halves of longer runs.
func sumBlocks[T realNumber, S any](block func(x []S) T) func(x []S) T {
	return foldBlocks(func(x, y T) T { return x + y }, block)
}

// foldBlocks folds blocks, and what the halves of longer runs are folded to.
func foldBlocks[T, S any](pair func(x, y T) T, block func(x []S) T) func(x []S) T {
	var sum func(x []S) T
	sum = func(x []S) T {
		if len(x) <= sumBlock {
			return block(x)
		}
		half := halfOfBlocks(len(x))
		return pair(sum(x[:half]), sum(x[half:]))
	}
	return sum
}

// halfOfBlocks is where a run of more than a block is divided: behind a block.
func halfOfBlocks(n int) int { return (n/2 + sumBlock - 1) / sumBlock * sumBlock }

// blocksAtOnce is how many blocks are folded by one call, at most.
const blocksAtOnce = 8

// blockSums are the sums of blocks, and what each begins with.
type blockSums[T any] struct {
	sums [blocksAtOnce]T
	zero T
}

// sumLinesOfBlocks is sumBlocks that folds up to blocksAtOnce whole blocks by one call of a loop for lines, if there is one: the loop may fold several at a time.
func sumLinesOfBlocks[T realNumber](block func(x []T) T, lines func(y, x []T, run int, first *T)) func(x []T) T {
	if lines == nil {
		return sumBlocks(block)
	}
	pool := sync.Pool{New: func() any { return new(blockSums[T]) }}
	var sum func(x []T) T
	sum = func(x []T) T {
		switch n := len(x) / sumBlock; {
		case len(x) <= sumBlock:
			return block(x)
		case n <= blocksAtOnce && len(x) == n*sumBlock:
			b := pool.Get().(*blockSums[T])
			lines(b.sums[:n], x, sumBlock, &b.zero)
			r := sumHalves(b.sums[:n])
			pool.Put(b)
			return r
		}
		half := halfOfBlocks(len(x))
		return sum(x[:half]) + sum(x[half:])
	}
	return sum
}

// sumHalves adds the sums of blocks as sumBlocks does.
func sumHalves[T realNumber](x []T) T {
	if len(x) == 1 {
		return x[0]
	}
	half := (len(x) + 1) / 2
	return sumHalves(x[:half]) + sumHalves(x[half:])
}

func sumRows[T foldedNumber](x, y []T) {
	y = y[:len(x)]
	for i := range x {
		x[i] += y[i]
	}
}

func maxRun[T realNumber](x []T) T {
	r0, r1 := x[0], x[0]
	for len(x) >= 2 {
		r0 = max(r0, x[0])
		r1 = max(r1, x[1])
		x = x[2:]
	}
	if len(x) > 0 {
		r0 = max(r0, x[0])
	}
	return max(r0, r1)
}

func maxRows[T realNumber](x, y []T) {
	y = y[:len(x)]
	for i := range x {
		x[i] = max(x[i], y[i])
	}
}

func minRun[T realNumber](x []T) T {
	r0, r1 := x[0], x[0]
	for len(x) >= 2 {
		r0 = min(r0, x[0])
		r1 = min(r1, x[1])
		x = x[2:]
	}
	if len(x) > 0 {
		r0 = min(r0, x[0])
	}
	return min(r0, r1)
}

func minRows[T realNumber](x, y []T) {
	y = y[:len(x)]
	for i := range x {
		x[i] = min(x[i], y[i])
	}
}

func sumShort[T foldedNumber](y, x []T, run int) {
	for i, v := range y {
		for _, e := range x[i*run:][:run] {
			v += e
		}
		y[i] = v
	}
}

func sumColumns[T foldedNumber](y, x []T) {
	for c, v := range y {
		for i := c; i < len(x); i += len(y) {
			v += x[i]
		}
		y[c] = v
	}
}

func maxShort[T realNumber](y, x []T, run int) {
	for i, v := range y {
		for _, e := range x[i*run:][:run] {
			v = max(v, e)
		}
		y[i] = v
	}
}

func maxColumns[T realNumber](y, x []T) {
	for c, v := range y {
		for i := c; i < len(x); i += len(y) {
			v = max(v, x[i])
		}
		y[c] = v
	}
}

func minShort[T realNumber](y, x []T, run int) {
	for i, v := range y {
		for _, e := range x[i*run:][:run] {
			v = min(v, e)
		}
		y[i] = v
	}
}

func minColumns[T realNumber](y, x []T) {
	for c, v := range y {
		for i := c; i < len(x); i += len(y) {
			v = min(v, x[i])
		}
		y[c] = v
	}
}

func multiplyRun[T realNumber](x []T) T {
	r := x[0]
	for len(x) > 8 { // products of eight are independent of the one so far
		r *= x[1] * x[2] * (x[3] * x[4]) * (x[5] * x[6] * (x[7] * x[8]))
		x = x[8:]
	}
	for len(x) > 4 {
		r *= x[1] * x[2] * (x[3] * x[4])
		x = x[4:]
	}
	for _, v := range x[1:] {
		r *= v
	}
	return r
}

func multiplyRows[T foldedNumber](x, y []T) {
	y = y[:len(x)]
	for i := range x {
		x[i] *= y[i]
	}
}

func multiplyShort[T foldedNumber](y, x []T, run int) {
	for i, v := range y {
		for _, e := range x[i*run:][:run] {
			v *= e
		}
		y[i] = v
	}
}

func multiplyColumns[T foldedNumber](y, x []T) {
	for c, v := range y {
		for i := c; i < len(x); i += len(y) {
			v *= x[i]
		}
		y[c] = v
	}
}
