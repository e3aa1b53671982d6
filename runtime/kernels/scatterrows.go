package kernels

import (
	"github.com/gohalo/halo/runtime"
)

// scatteredRows is a scatter whose windows are single elements of many rows, as columns of a matrix are: it goes row after row, in each of which the places of all windows are the
// same and near. Rows have no element in common, so workers share them, and updates of an element are applied in order.
type scatteredRows[T any] struct {
	w        *windows
	c        *combiner[T]
	to, from []int // of each row, in the array and in the updates
	scratch  scratchPlan
	offsets  section
	loop     *parallelLoop
}

// newScatteredRows returns nil unless windows move only along axes on which they have one element, and their updates in a row lie together.
func newScatteredRows[T any](w *windows, c *combiner[T], to, from, source []int) *scatteredRows[T] {
	if len(to) < leastGatherRows || len(source) != w.count || w.count == 0 || w.count > mostWindowsOfRow || w.base != nil || !together(source, 1) {
		return nil
	}
	for _, a := range w.axes {
		if w.sizes[a] != 1 {
			return nil
		}
	}
	r := &scatteredRows[T]{w: w, c: c, to: to, from: from}
	r.offsets = r.scratch.take(int64(w.count) * 8)
	r.loop = newParallelLoop(r.rows)
	return r
}

func (r *scatteredRows[T]) bound() runtime.Bound {
	base, grain := newBaseCopy(0), 1+leastShared/r.w.count
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		base.run(f)
		r.w.offsets(elems[int](r.offsets.of(f))[:r.w.count], f.In(1).Data, 0, true)
		r.loop.run(f, len(r.to), grain)
		return nil
	}, Scratch: r.scratch.size}
}

func (r *scatteredRows[T]) rows(f *runtime.TensorFrame, lo, hi int) {
	x, u := elems[T](f.Out(0).Data), elems[T](f.In(2).Data)
	at := elems[int](r.offsets.of(f))[:r.w.count]
	for k := lo; k < hi; k++ {
		r.c.s64(x[r.to[k]:], at, u[r.from[k]:][:len(at)])
	}
}
