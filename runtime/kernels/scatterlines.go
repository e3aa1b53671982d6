package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// scatteredLines is a scatter whose windows are lines: elements that lie together, as their updates do. Updates of an element are applied in order: workers have parts of the
// array, each of which sees all updates; or, if lines are single elements and the order does not show, parts of the updates.
type scatteredLines[T any] struct {
	w      *windows
	c      *combiner[T]
	n      int // elements of a line
	count  int // lines of updates that may be inside
	size   int // elements of the array
	direct bool
	apart  bool
	most   int // parts of the updates, each of which but the first has an array in the scratch memory
	loop   *parallelLoop
}

// Updates are shared if each part has several times as many as the array has elements.
const (
	leastUpdatesForElement = 4
	mostUpdateParts        = 8
)

func newScatteredLines[T any](w *windows, c *combiner[T], n, count, size int) *scatteredLines[T] {
	l := &scatteredLines[T]{w: w, c: c, n: n, count: count, size: size, apart: true, most: 1}
	for _, a := range w.axes {
		l.apart = l.apart && w.strides[a]%n == 0
	}
	if n > 1 {
		l.apart = l.apart && w.base == nil
		l.loop = newParallelLoop(l.combineLines)
		return l
	}
	if by, ok := w.lines(); ok && by.stride == 1 && int(by.highest) == size-1 && w.regular == 1 { // an index is the offset
		l.direct = w.index == hlo.S32 || w.index == hlo.S64 || w.index == hlo.U64
	}
	if c.begin != nil {
		l.most = max(1, min(mostUpdateParts, count/max(leastShared, leastUpdatesForElement*size)))
	}
	l.loop = newParallelLoop(l.combineParts)
	return l
}

func (l *scatteredLines[T]) bound() runtime.Bound {
	base := newBaseCopy(0)
	var zero T
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		base.run(f)
		if l.n == 1 {
			l.runElements(f)
		} else {
			l.loop.run(f, l.ranges(f), 1+leastShared/(1+l.count*l.n))
		}
		return nil
	}, Scratch: int64((l.most-1)*l.size) * int64(sizeOf(zero))}
}

// ranges is how many parts of the array there are.
func (l *scatteredLines[T]) ranges(f *runtime.TensorFrame) int {
	if !l.apart {
		return 1
	}
	return f.Workers()
}

// combineLines does the updates of the lines in ranges [lo, hi) of the array.
func (l *scatteredLines[T]) combineLines(f *runtime.TensorFrame, lo, hi int) {
	ranges, rows, n := l.ranges(f), l.size/l.n, l.n
	first, end := lo*rows/ranges*n, hi*rows/ranges*n
	if hi == ranges {
		end = l.size
	}
	x, u, span := elems[T](f.Out(0).Data), elems[T](f.In(2).Data), end-first
	list := lineLists.Get().(*[block]scatteredLine)
	l.w.eachBlock(f.In(1).Data, 0, l.count, true, func(start int, at []int) {
		k := 0
		for i, o := range at {
			list[k] = scatteredLine{o, (start + i) * n}
			o -= first
			k += int(uint(^o&(o-span)) >> 63) // 1 if it is in the range, without a branch that nothing can foresee
		}
		if k > 0 {
			l.c.lines(x, u, n, list[:k])
		}
	})
	lineLists.Put(list)
}

var lineLists = sync.Pool{New: func() any { return new([block]scatteredLine) }}

// runElements is for lines that are single elements.
func (l *scatteredLines[T]) runElements(f *runtime.TensorFrame) {
	x := elems[T](f.Out(0).Data)
	parts := l.parts(f)
	for p := 1; p < parts; p++ {
		l.c.begin(l.partial(f, p), x)
	}
	l.loop.run(f, parts, 1)
	for p := 1; p < parts; p++ {
		if y := l.partial(f, p); l.c.isLost != nil && l.c.isLost(y) {
			l.combine(f, x, p*l.count/parts, (p+1)*l.count/parts)
		} else {
			l.c.rows(x, y)
		}
	}
}

func (l *scatteredLines[T]) parts(f *runtime.TensorFrame) int { return min(l.most, f.Workers()) }

// partial is the array of a part of the updates behind the first.
func (l *scatteredLines[T]) partial(f *runtime.TensorFrame, part int) []T {
	return elems[T](f.Scratch())[(part-1)*l.size:][:l.size]
}

// combineParts does parts [lo, hi) of the updates.
func (l *scatteredLines[T]) combineParts(f *runtime.TensorFrame, lo, hi int) {
	parts := l.parts(f)
	for p := lo; p < hi; p++ {
		x := elems[T](f.Out(0).Data)
		if p > 0 {
			x = l.partial(f, p)
		}
		l.combine(f, x, p*l.count/parts, (p+1)*l.count/parts)
	}
}

// combine does updates [lo, hi) of x.
func (l *scatteredLines[T]) combine(f *runtime.TensorFrame, x []T, lo, hi int) {
	indices, u := f.In(1).Data, elems[T](f.In(2).Data)
	switch {
	case lo == hi:
	case !l.direct:
		l.w.eachBlock(indices, lo, hi, true, func(first int, at []int) { l.c.s64(x, at, u[first:]) })
	case l.w.index == hlo.S32:
		l.c.s32(x, elems[int32](indices)[lo:hi], u[lo:hi])
	default:
		l.c.s64(x, elems[int](indices)[lo:hi], u[lo:hi])
	}
}
