package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// windowRuns is a window that moves over an array. Trailing axes on which it does nothing form runs, which are taken as a whole.
type windowRuns struct {
	window  []hlo.WindowDim // of the axes before the run
	in, out []int           // sizes of these axes
	stride  []int           // of the array the window is over
	run     int
	rows    int // positions of the window, runs apart
}

// newWindowRuns is for a window over in, at the positions of out.
func newWindowRuns(w *hlo.Window, in, out hlo.Shape) (r windowRuns, ok bool) {
	if w == nil || len(w.Dims) != in.Rank() || in.NumElements() == 0 {
		return r, false
	}
	axes := in.Rank()
	r.run, r.rows = 1, 1
	for axes > 0 && isIdle(&w.Dims[axes-1]) {
		axes--
		r.run *= int(in.Dim(axes))
	}
	r.window = w.Dims[:axes]
	for d := range axes {
		r.in = append(r.in, int(in.Dim(d)))
		r.out = append(r.out, int(out.Dim(d)))
		r.rows *= r.out[d]
	}
	r.stride = rowMajor(in.Dimensions())[:axes]
	return r, axes <= maxSpatial
}

// dilated reports whether the array has holes along some axis.
func (r *windowRuns) dilated() bool {
	return slices.ContainsFunc(r.window, func(w hlo.WindowDim) bool { return w.BaseDilation != 1 })
}

func isIdle(w *hlo.WindowDim) bool {
	return w.Size == 1 && w.Stride == 1 && w.PadLow == 0 && w.PadHigh == 0 && w.BaseDilation == 1
}

// windowWalk goes through the elements of one window that lie inside the array.
type windowWalk struct {
	at, count, step [maxSpatial]int
	off             int // of the element it is at
}

// windowAt is at the first element of a window. It reports false if the window has none.
func (r *windowRuns) windowAt(row int) (walk windowWalk, ok bool) {
	for d := len(r.window) - 1; d >= 0; d-- {
		w := &r.window[d]
		p := row % r.out[d]
		row /= r.out[d]
		size, step, start := int(w.Size), int(w.WindowDilation), p*int(w.Stride)-int(w.PadLow)
		if w.BaseDilation != 1 {
			size, step, start = betweenHoles(size, step, start, int(w.BaseDilation))
		}
		first, end := validRange(size, step, start, r.in[d])
		if first >= end {
			return walk, false
		}
		walk.count[d] = end - first
		walk.step[d] = step * r.stride[d]
		walk.off += start*r.stride[d] + first*walk.step[d]
	}
	return walk, true
}

// betweenHoles is the part of a window along an axis that meets elements of an array with holes: how many places, how many elements apart, from which
// on, which may lie before the array.
func betweenHoles(size, step, start, dilation int) (n, apart, first int) {
	period := dilation / gcd(step, dilation) // places from one element to the next
	for k := range min(period, size) {
		if at := start + k*step; at%dilation == 0 {
			return (size-1-k)/period + 1, step * period / dilation, at / dilation
		}
	}
	return 0, 1, 0
}

// next goes on by one along axis d, and where that is at its end along those before it.
func (w *windowWalk) next(d int) bool {
	for ; d >= 0; d-- {
		w.at[d]++
		w.off += w.step[d]
		if w.at[d] < w.count[d] {
			return true
		}
		w.off -= w.at[d] * w.step[d]
		w.at[d] = 0
	}
	return false
}

// each calls visit with the offset of every element of one window, in row-major order.
func (r *windowRuns) each(row int, visit func(off int)) {
	w, ok := r.windowAt(row)
	if !ok {
		return
	}
	axes := len(r.window)
	for {
		visit(w.off)
		if !w.next(axes - 1) {
			return
		}
	}
}

// positionsOf is which of n windows along an axis of size in have an element k: windows [first, end), element p*stride + shift for window p.
func positionsOf(w *hlo.WindowDim, k, n, in int) (first, end, shift int) {
	stride := int(w.Stride)
	shift = k*int(w.WindowDilation) - int(w.PadLow)
	if shift >= in {
		return 0, 0, shift
	}
	if shift < 0 {
		first = (-shift + stride - 1) / stride
	}
	return first, min(n, (in-1-shift)/stride+1), shift
}
