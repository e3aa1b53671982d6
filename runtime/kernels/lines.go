package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// The common gathers pick lines: an index vector has one component, about one axis, the vectors lie one after the other, and what is
// picked lies together. They need no tables. Short lines are points.

// lines is how they find theirs.
type lines struct {
	highest int64
	stride  int // of the axis, in elements
}

// lines reports whether the windows are lines.
func (w *windows) lines() (lines, bool) {
	if w.vector != 1 || w.regular > 1 || w.first != nil && w.count > 1 || w.base != nil {
		return lines{}, false
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
func gatherLines(w *windows, b *box, to *offsetTable, width int) func(f *runtime.TensorFrame, lo, hi int) {
	l, ok := w.lines()
	if !ok || len(b.dims) > 0 || b.run == 0 || !to.together(b.run/width) {
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
	return body
}

func gatherBy[I lineIndex](l lines, run, width int) func(f *runtime.TensorFrame, lo, hi int) {
	return func(f *runtime.TensorFrame, lo, hi int) {
		src, indices, dst := f.In(0).Data, elems[I](f.In(1).Data), f.Out(0).Data
		for i, v := range indices[lo:hi] {
			from := int(max(0, min(int64(v), l.highest))) * l.stride * width
			copy(dst[(lo+i)*run:][:run], src[from:])
		}
	}
}
