package kernels

import (
	"github.com/gohalo/halo/runtime"
)

// scatteredLong is a scatter whose windows are long lines that share no element: it goes line by line through the array, copies each where it has not the place of the operand, and does all of
// its updates, in order, while it is near. A scatter that goes through the updates would read and write lines a second time.
type scatteredLong[T any] struct {
	w     *windows
	c     *combiner[T]
	n     int // elements of a line
	lines int // of the array
	// Of each line, the updates are a list: which one is the first, and which one follows each; numbers count from 1, and 0 ends it.
	scratch     scratchPlan
	first, next section
	loop        *parallelLoop
}

// mostLongLines is how many lines of an array may be looked through for those that have updates, for each update.
const mostLongLines = 64

const linesOfTask = 16

// newScatteredLong returns nil unless lines of n elements are all that windows are.
func newScatteredLong[T any](w *windows, c *combiner[T], n, size int) *scatteredLong[T] {
	if w.base != nil || w.count == 0 || size%n != 0 || size/n > mostLongLines*w.count {
		return nil
	}
	for _, a := range w.axes {
		if w.strides[a]%n != 0 {
			return nil
		}
	}
	l := &scatteredLong[T]{w: w, c: c, n: n, lines: size / n}
	l.first, l.next = l.scratch.take(int64(l.lines)*4), l.scratch.take(int64(w.count)*4)
	l.loop = newParallelLoop(l.combine)
	return l
}

func (l *scatteredLong[T]) bound() runtime.Bound {
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		l.list(f)
		parts := l.parts(f)
		l.loop.run(f, ((l.lines-1)/linesOfTask+1)*parts, 1+leastShared*parts/(linesOfTask*l.n))
		return nil
	}, Scratch: l.scratch.size}
}

// parts is into how many parts lines are cut, so that workers share the updates even if most are of one line.
func (l *scatteredLong[T]) parts(f *runtime.TensorFrame) int {
	return max(1, min(f.Workers(), l.n*sizeOf(*new(T))/leastOfRun))
}

// list lists the updates of each line, from the last one to the first, so that lists begin with the first.
func (l *scatteredLong[T]) list(f *runtime.TensorFrame) {
	first, next := elems[int32](l.first.of(f)), elems[int32](l.next.of(f))
	clear(first)
	for end := l.w.count; end > 0; {
		lo := (end - 1) / block * block
		l.w.eachBlock(f.In(1).Data, lo, end, true, func(lo int, at []int) {
			for i := len(at) - 1; i >= 0; i-- {
				if at[i] >= 0 {
					line := at[i] / l.n
					next[lo+i], first[line] = first[line], int32(lo+i+1)
				}
			}
		})
		end = lo
	}
}

// combine does tasks [lo, hi): each is a part of some lines.
func (l *scatteredLong[T]) combine(f *runtime.TensorFrame, lo, hi int) {
	x, u, from := elems[T](f.Out(0).Data), elems[T](f.In(2).Data), elems[T](f.In(0).Data)
	first, next := elems[int32](l.first.of(f)), elems[int32](l.next.of(f))
	inPlace, parts := &x[0] == &from[0], l.parts(f)
	for task := lo; task < hi; task++ {
		part, line := task%parts, task/parts*linesOfTask
		at, end := part*l.n/parts, (part+1)*l.n/parts
		for last := min(line+linesOfTask, l.lines); line < last; line++ {
			to := x[line*l.n:][at:end]
			if !inPlace {
				copy(to, from[line*l.n+at:])
			}
			for i := first[line]; i != 0; i = next[i-1] {
				l.c.rows(to, u[int(i-1)*l.n:][at:end])
			}
		}
	}
}
