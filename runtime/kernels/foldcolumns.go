package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/runtime/kernels/vec"
)

// Runs of very few elements are folded column by column: a vector loop takes every second, third … element of many runs, and another one folds them. So nothing is gathered, and each
// run is folded in order.

// Limits: the elements of a run, and the runs that are folded together, and are enough for that.
const (
	mostOfRun  = 4
	besideRuns = 512
	leastRuns  = 64
)

// takeFew lets runs of few elements be folded by columns. Sums and extremes of floats have loops of their own, and so have integers: those of narrow ones fold four by words, and
// others by pairs of pairs.
func takeFew[T realNumber](f *fold[T], isProduct bool) {
	switch isFloat := elementType[T]().IsFloat(); {
	case isFloat && isProduct || !isFloat && f.longest == 0:
		takeColumns(f, mostOfRun)
	case !isFloat:
		takeColumns(f, mostOfRun-1)
	}
}

// takeColumns lets runs of up to most elements be folded by columns.
func takeColumns[T foldedNumber](f *fold[T], most int) {
	size := sizeOf(*new(T))
	every := make([]vec.Loop, most+1)
	for run := 2; run <= most; run++ {
		every[run] = vec.FindEvery(size, run)
	}
	spaces := sync.Pool{New: func() any { return new([besideRuns]T) }}
	others, longest := f.runs, f.longest
	f.longest = max(longest, most)
	f.runs = func(y, x []T, run int, first *T) {
		if run <= most && every[run] != nil && len(y) >= leastRuns {
			space := spaces.Get().(*[besideRuns]T)
			for ; len(y) > besideRuns; y, x = y[besideRuns:], x[besideRuns*run:] {
				columnsOf(f, y[:besideRuns], x, run, *first, every[run], space[:])
			}
			columnsOf(f, y, x, run, *first, every[run], space[:])
			spaces.Put(space)
			return
		}
		if run <= longest {
			others(y, x, run, first)
			return
		}
		for i := range y {
			y[i] = *first
		}
		f.short(y, x, run)
	}
}

// columnsOf sets y[i] to the fold of first and run i of x. The last run is taken element by element: the loop reads what is behind an element, too.
func columnsOf[T foldedNumber](f *fold[T], y, x []T, run int, first T, every vec.Loop, space []T) {
	n, k := len(y)-1, 0
	take := func(d []T) { every(n, unsafe.Pointer(&d[0]), unsafe.Pointer(&x[k : k+n*run][0]), nil, nil) }
	y[n] = first
	switch {
	case n > 0 && first == f.identity:
		take(y)
		k++
	default:
		for i := range y {
			y[i] = first
		}
	}
	for ; k < run && n > 0; k++ {
		take(space)
		f.rows(y[:n], space[:n])
	}
	f.short(y[n:], x[n*run:], run)
}
