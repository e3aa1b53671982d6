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
	n      int  // elements of a line
	count  int  // lines of updates that may be inside
	size   int  // elements of the array
	stride int  // of an index, in elements; 0 if there is more to it than one index for each line
	direct bool // an index is the offset of an element
	shared bool // by workers that have parts of the array
	most   int  // parts of the updates, each of which but the first has an array in the scratch memory
	loop   *parallelLoop
}

// leastOfSharedLine is the bytes of lines from which on several workers, each of which reads all indices and some of the lines, are faster than one that reads all lines in order.
const leastOfSharedLine = 128

// Updates are shared if each part has several times as many as the array has elements.
const (
	leastUpdatesForElement = 4
	mostUpdateParts        = 8
)

func newScatteredLines[T any](w *windows, c *combiner[T], n, count, size int) *scatteredLines[T] {
	l := &scatteredLines[T]{w: w, c: c, n: n, count: count, size: size, most: 1}
	if by, ok := w.lines(); ok && w.regular == 1 && w.index != hlo.U32 && w.index.Bits() >= 32 {
		l.stride = by.stride
		l.direct = by.stride == 1 && int(by.highest) == size-1
	}
	if n > 1 {
		apart := w.base == nil // lines share no element with others
		for _, a := range w.axes {
			apart = apart && w.strides[a]%n == 0
		}
		var zero T
		l.shared = apart && n*sizeOf(zero) >= leastOfSharedLine
		l.loop = newParallelLoop(l.combineLines)
		return l
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
	if !l.shared {
		return 1
	}
	return f.Workers()
}

// combineLines does the updates of the lines in ranges [lo, hi) of the array.
func (l *scatteredLines[T]) combineLines(f *runtime.TensorFrame, lo, hi int) {
	x, u, indices, n := elems[T](f.Out(0).Data), elems[T](f.In(2).Data), f.In(1).Data, l.n
	ranges := l.ranges(f)
	list := lineLists.Get().(*[block]scatteredLine)
	if l.stride > 0 { // the ranges are of indices
		all := int(l.w.highest[0]) + 1
		first, end := lo*all/ranges, hi*all/ranges
		for i := 0; i < l.count; i += block {
			var k int
			if l.w.index == hlo.S32 {
				k = listLines(list, elems[int32](indices)[i:min(i+block, l.count)], first, end-first, l.stride, i*n, n)
			} else {
				k = listLines(list, elems[int](indices)[i:min(i+block, l.count)], first, end-first, l.stride, i*n, n)
			}
			if k > 0 {
				l.c.lines(x, u, n, list[:k])
			}
		}
	} else {
		rows := (l.size + n - 1) / n
		first, end := lo*rows/ranges*n, hi*rows/ranges*n
		l.w.eachBlock(indices, 0, l.count, true, func(start int, at []int) {
			if k := listLines(list, at, first, end-first, 1, start*n, n); k > 0 {
				l.c.lines(x, u, n, list[:k])
			}
		})
	}
	lineLists.Put(list)
}

// listLines lists those lines of updates, of which the first begins at from, whose indices are among the span ones from first on.
func listLines[I elementIndex](list *[block]scatteredLine, at []I, first, span, stride, from, n int) int {
	k := 0
	for _, v := range at {
		list[uint(k)%block] = scatteredLine{int(v) * stride, from}
		from += n
		i := int(v) - first
		k += int(uint(^i&(i-span)) >> 63) // 1 if it is one of them: nothing can foresee a branch
	}
	return k
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
