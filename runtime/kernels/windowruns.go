package kernels

import "github.com/gohalo/halo/hlo"

// windowRuns is a window that moves over an array. Trailing axes on which it does nothing form runs, which are taken as a whole.
type windowRuns struct {
	window  []hlo.WindowDim // of the axes before the run
	in, out []int           // sizes of these axes
	stride  []int           // of the array the window is over
	run     int
	rows    int            // positions of the window, runs apart
	spans   [][]windowSpan // along each axis, at each position; or nil for an axis with very many
}

// newWindowRuns is for a window over in, at the positions of out.
func newWindowRuns(w *hlo.Window, in, out hlo.Shape) (r windowRuns, ok bool) {
	if w == nil || len(w.Dims) != in.Rank() || in.NumElements() == 0 {
		return r, false
	}
	for i := range w.Dims {
		if w.Dims[i].BaseDilation > 1 && w.Dims[i].Size > maxDilatedWindow {
			return r, false
		}
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
	r.spans = make([][]windowSpan, axes)
	for d, n := range r.out {
		if n > maxWindowTable {
			continue
		}
		r.spans[d] = make([]windowSpan, n)
		for p := range n {
			r.spans[d][p] = spanOf(&r.window[d], p, r.in[d])
		}
	}
	return r, axes <= maxSpatial
}

// maxDilatedWindow bounds the elements of which betweenZeros looks for the first.
const maxDilatedWindow = 1 << 10

func isIdle(w *hlo.WindowDim) bool {
	return w.Size == 1 && w.Stride == 1 && w.PadLow == 0 && w.PadHigh == 0 && w.BaseDilation == 1
}

// windowSpan is what a window has along one axis inside of the array.
type windowSpan struct{ count, first, step int }

// spanOf is the span of the window at position p along an axis of size in, in elements along that axis.
func spanOf(w *hlo.WindowDim, p, in int) windowSpan {
	start, size, step := p*int(w.Stride)-int(w.PadLow), int(w.Size), int(w.WindowDilation)
	if w.BaseDilation > 1 {
		if start, size, step = betweenZeros(start, size, step, int(w.BaseDilation)); size == 0 {
			return windowSpan{step: step}
		}
	}
	first, end := validRange(size, step, start, in)
	return windowSpan{max(end-first, 0), start + first*step, step}
}

// windowWalk goes through the elements of one window that lie inside the array.
type windowWalk struct {
	at, count, step [maxSpatial]int
	off             int // of the element it is at
}

// windowAt is at the first element of a window. It reports false if the window has none.
func (r *windowRuns) windowAt(row int) (walk windowWalk, ok bool) {
	for d := len(r.window) - 1; d >= 0; d-- {
		p := row
		if d > 0 {
			p = int(uint(row) % uint(r.out[d]))
			row = int(uint(row) / uint(r.out[d]))
		}
		var s windowSpan
		if spans := r.spans[d]; spans != nil {
			s = spans[p]
		} else {
			s = spanOf(&r.window[d], p, r.in[d])
		}
		if s.count == 0 {
			return walk, false
		}
		walk.count[d] = s.count
		walk.step[d] = s.step * r.stride[d]
		walk.off += s.first * r.stride[d]
	}
	return walk, true
}

// betweenZeros is a window over an array that is dilated, as one over the array itself: of the elements start, start+step, … of the former it has those that
// are multiples of the dilation.
func betweenZeros(start, size, step, dilation int) (int, int, int) {
	first := 0
	for (start+first*step)%dilation != 0 {
		if first++; first == min(size, dilation) {
			return 0, 0, 1
		}
	}
	each := dilation / gcd(dilation, step) // elements of the window from one of them to the next
	return (start + first*step) / dilation, (size-1-first)/each + 1, each * step / dilation
}

// isDilated reports whether there are zeros between the elements along an axis.
func (r *windowRuns) isDilated(axis int) bool { return r.window[axis].BaseDilation > 1 }

func (r *windowRuns) anyDilated() bool {
	for d := range r.window {
		if r.isDilated(d) {
			return true
		}
	}
	return false
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

// firstDilated is the first element of a dilated array that is element k of a window with stride 1, and the position of that window.
func firstDilated(w *hlo.WindowDim, k int) (element, position int) {
	shift, dilation := k*int(w.WindowDilation)-int(w.PadLow), int(w.BaseDilation)
	element = max(0, (shift+dilation-1)/dilation)
	return element, element*dilation - shift
}
