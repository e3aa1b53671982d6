package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// The common gathers and scatters pick lines: an index vector has one component, about one axis, the vectors lie one after the other, and
// what is picked lies together. They need no tables.

// lines is how they find theirs.
type lines struct {
	highest int64
	stride  int // of the axis, in elements
}

// lines reports whether the windows are lines.
func (w *windows) lines() (lines, bool) {
	if w.vector != 1 || w.between != 1 {
		return lines{}, false
	}
	for i := range w.first {
		if w.first[i] != i || w.base[i] != 0 {
			return lines{}, false
		}
	}
	return lines{w.highest[0], w.strides[w.axes[0]]}, true
}

// together reports whether offsets are 0, n, 2n and so on.
func together(offsets []int, n int) bool {
	for i, o := range offsets {
		if o != i*n {
			return false
		}
	}
	return true
}

// lineIndex is the types of indices that have fast loops.
type lineIndex interface{ int32 | uint32 | int64 }

// gatherLines is a gather's loop over lines, nil if it picks other things.
func gatherLines(w *windows, b *box, to []int, width int) func(f *runtime.TensorFrame, lo, hi int) {
	l, ok := w.lines()
	if !ok || len(b.dims) > 0 || b.run == 0 || !together(to, b.run/width) {
		return nil
	}
	var body func(f *runtime.TensorFrame, lo, hi int)
	switch w.index {
	case hlo.S32:
		body = gatherBy[int32](l, b.run, width)
	case hlo.U32:
		body = gatherBy[uint32](l, b.run, width)
	case hlo.S64:
		body = gatherBy[int64](l, b.run, width)
	default:
		return nil
	}
	w.first, w.base = nil, nil // the tables are not needed any more
	return body
}

func gatherBy[I lineIndex](l lines, run, width int) func(f *runtime.TensorFrame, lo, hi int) {
	if run == width {
		switch width {
		case 1:
			return gatherElements[I, uint8](l)
		case 2:
			return gatherElements[I, uint16](l)
		case 4:
			return gatherElements[I, uint32](l)
		case 8:
			return gatherElements[I, uint64](l)
		}
	}
	return func(f *runtime.TensorFrame, lo, hi int) {
		src, indices, dst := f.In(0).Data, elems[I](f.In(1).Data), f.Out(0).Data
		for i, v := range indices[lo:hi] {
			from := int(max(0, min(int64(v), l.highest))) * l.stride * width
			copy(dst[(lo+i)*run:][:run], src[from:])
		}
	}
}

func gatherElements[I lineIndex, T any](l lines) func(f *runtime.TensorFrame, lo, hi int) {
	return func(f *runtime.TensorFrame, lo, hi int) {
		src, indices, dst := elems[T](f.In(0).Data), elems[I](f.In(1).Data)[lo:hi], elems[T](f.Out(0).Data)[lo:hi]
		for i, v := range indices {
			dst[i] = src[int(max(0, min(int64(v), l.highest)))*l.stride]
		}
	}
}

// scatterLines is a scatter's loop over lines of n elements, nil if it updates other things.
func scatterLines[T any](w *windows, to, from, source []int, rows func(x, u []T), adds bool) func(x []T, indices []byte, u []T) {
	n := len(to)
	l, ok := w.lines()
	if !ok || !together(to, 1) || !together(from, 1) || !together(source, n) {
		return nil
	}
	switch w.index {
	case hlo.S32:
		return scatterBy[int32](l, n, rows, adds)
	case hlo.U32:
		return scatterBy[uint32](l, n, rows, adds)
	case hlo.S64:
		return scatterBy[int64](l, n, rows, adds)
	}
	return nil
}

func scatterBy[I lineIndex, T any](l lines, n int, rows func(x, u []T), adds bool) func(x []T, indices []byte, u []T) {
	return func(x []T, indices []byte, u []T) {
		if n == 1 && adds {
			switch x := any(x).(type) {
			case []float32:
				addElements(l, x, elems[I](indices), any(u).([]float32))
				return
			case []float64:
				addElements(l, x, elems[I](indices), any(u).([]float64))
				return
			case []int32:
				addElements(l, x, elems[I](indices), any(u).([]int32))
				return
			}
		}
		for i, v := range elems[I](indices) {
			if int64(v) >= 0 && int64(v) <= l.highest {
				rows(x[int(v)*l.stride:][:n], u[i*n:][:n])
			}
		}
	}
}

// addElements is the loop without a call for each element.
func addElements[I lineIndex, T realNumber](l lines, x []T, indices []I, u []T) {
	u = u[:len(indices)]
	for i, v := range indices {
		if int64(v) >= 0 && int64(v) <= l.highest {
			x[int(v)*l.stride] += u[i]
		}
	}
}
