package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// windowList is what a list fold reads that folds the runs of a window.
type windowList[T foldedNumber] struct {
	head    foldHead[T]
	offsets []int64         // how many bytes behind the first of them each run begins
	counts  [maxSpatial]int // along each axis, of the window that the offsets are of
	reach   int             // elements from the first run to the last
}

// findVector finds the loop for runs of several elements, unless windows are too large for a list.
func (r *windowReduction[T]) findVector() bool {
	if r.run > 1 && len(r.window) > 0 && r.canList() {
		r.vector = r.fold.list
	}
	return r.vector != nil
}

// canList reports whether there is a loop for the runs of a list, which windows are not too large for.
func (r *windowReduction[T]) canList() bool {
	const longest = 1 << 12
	n := 1
	for i := range r.window {
		if n *= int(r.window[i].Size); n > longest {
			return false
		}
	}
	r.lists.New = func() any { return &windowList[T]{offsets: make([]int64, n)} }
	return r.fold.list != nil
}

// listed folds the windows of runs [lo, hi) of the result. Those that are whole along the last axis are neighbours.
func (r *windowReduction[T]) listed(f *runtime.TensorFrame, lo, hi int) {
	x, out := elems[T](r.src.of(f)), elems[T](r.to.of(f))
	l := r.lists.Get().(*windowList[T])
	l.head.first = elems[T](r.init.of(f))[0]
	last := len(r.window) - 1
	from, end := wholeWindows(&r.window[last], r.in[last])
	if r.isDilated(last) { // the next window has others of its elements
		end = 0
	}
	step := int(r.window[last].Stride) * r.stride[last]
	for row := lo; row < hi; {
		w, ok := r.windowAt(row)
		if !ok {
			y := out[row*r.run:][:r.run]
			for i := range y {
				y[i] = l.head.first
			}
			row++
			continue
		}
		l.set(&w, len(r.window))
		n := 1
		if p := row % r.out[last]; p >= from {
			n = max(1, min(end, r.out[last], p+hi-row)-p)
		}
		for off := w.off; n > 0; n-- {
			y, runs := out[row*r.run:][:r.run], x[off:][:l.reach+r.run]
			r.vector(r.run, unsafe.Pointer(&y[0]), unsafe.Pointer(&runs[0]), unsafe.Pointer(&l.offsets[0]), unsafe.Pointer(&l.head))
			off += step
			row++
		}
	}
	r.lists.Put(l)
}

// set lists the elements of a window, in row-major order.
func (l *windowList[T]) set(w *windowWalk, axes int) {
	if l.counts == w.count {
		return
	}
	l.counts = w.count
	var size T
	walk, n := *w, 0
	for {
		l.reach = walk.off - w.off
		l.offsets[n] = int64(l.reach) * int64(unsafe.Sizeof(size))
		n++
		if !walk.next(axes - 1) {
			break
		}
	}
	l.head.count = int64(n)
}

// wholeWindows is which windows along an axis of size in have all of their elements there.
func wholeWindows(w *hlo.WindowDim, in int) (first, end int) {
	stride, low := int(w.Stride), int(w.PadLow)
	reach := int(w.Size-1) * int(w.WindowDilation)
	if room := in - 1 - reach + low; room >= 0 {
		end = room/stride + 1
	}
	return (max(low, 0) + stride - 1) / stride, end
}
