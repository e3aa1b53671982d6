package kernels

import (
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// windowLanes reduces windows over any number of arrays together by any computation on scalars, with base dilation too: many windows at
// once, each in a lane of a tile program. The elements of a window are taken in row-major order; those outside of the array are left out.
type windowLanes struct {
	laneReduction // of which it has the program and the frames
	axes          []windowAxis
	windows       int // of the result
	elements      int // of a window
	running       runningAxis
	groups        *windowGroups // or nil: then axes say where elements lie
}

// runningAxis is the only axis that windows have extent along, if each reaches from the first element to its position: then each result is the
// one before it and another element. Its lanes are lines along that axis.
type runningAxis struct {
	size, stride int // elements, and from one to the next; size is 0 if there is no such axis
}

// windowAxis says where the elements of windows lie along one axis: element k of the window at position p begins at[k*out+p] elements of
// the array behind its first, or is negative if it is outside.
type windowAxis struct {
	at        []int
	size, out int
}

// absent is the place of an element outside of the array: negative whatever the other axes add.
const absent = math.MinInt >> 8

// maxWindowTable bounds the places of one axis.
const maxWindowTable = 1 << 20

func reduceWindowLanes(s *site) (runtime.Bound, bool) {
	w := hlo.AttrsOf[hlo.WindowAttrs](s.in).Window
	comp, widths, ok := lanesComputation(s)
	if !ok || w == nil || len(w.Dims) != s.shape(0).Rank() {
		return runtime.Bound{}, false
	}
	r := &windowLanes{laneReduction: laneReduction{arrays: len(widths), widths: widths, lanes: maxLanes}, windows: 1, elements: 1}
	if r.program, ok = compileLanes(s.m, comp, maxLanes); !ok {
		return runtime.Bound{}, false
	}
	in, out := s.shape(0), firstLeaf(s.in.Shape())
	stride := rowMajor(in.Dimensions())
	var sizes, positions []int
	for d := range w.Dims {
		sizes, positions = append(sizes, int(in.Dim(d))), append(positions, int(out.Dim(d)))
		if w.Dims[d].Size*out.Dim(d) > maxWindowTable {
			return runtime.Bound{}, false
		}
		a := newWindowAxis(&w.Dims[d], int(in.Dim(d)), int(out.Dim(d)), stride[d])
		r.axes = append(r.axes, a)
		r.windows *= a.out
		r.elements *= a.size
	}
	r.frames.New = func() any { return r.newFrame() }
	if r.findRunning(w, in, stride) {
		lines := r.windows / r.running.size
		r.loop = newParallelLoop(r.runLines)
		r.lanes = min(r.lanes, lines)
		r.tasks = (lines-1)/r.lanes + 1
		return r.loop.bound(r.tasks, 1+(1<<14)/(1+r.running.size*r.lanes*r.program.Weight())), true
	}
	r.loop = newParallelLoop(r.run)
	r.tasks = (r.windows-1)/r.lanes + 1
	if g, ok := newWindowGroups(w.Dims, sizes, positions, stride, r.lanes); ok {
		r.groups, r.tasks, r.loop = g, len(g.tasks), newParallelLoop(r.runGroups)
	}
	work := r.elements * min(r.windows, r.lanes) * r.program.Weight()
	return r.loop.bound(r.tasks, 1+(1<<14)/(1+work)), true
}

// firstLeaf is the shape of the first array in s.
func firstLeaf(s hlo.Shape) hlo.Shape {
	for s.IsTuple() {
		s = s.Elem(0)
	}
	return s
}

func newWindowAxis(w *hlo.WindowDim, in, out, stride int) windowAxis {
	a := windowAxis{at: make([]int, int(w.Size)*out), size: int(w.Size), out: out}
	for k := range a.size {
		for p := range out {
			place := p*int(w.Stride) + k*int(w.WindowDilation) - int(w.PadLow)
			at := absent
			if dilation := int(w.BaseDilation); place >= 0 && place%dilation == 0 && place/dilation < in {
				at = place / dilation * stride
			}
			a.at[k*out+p] = at
		}
	}
	return a
}

// run reduces tasks [lo, hi), each as many windows as there are lanes.
func (r *windowLanes) run(f *runtime.TensorFrame, lo, hi int) {
	l := r.frames.Get().(*laneFrame)
	copy(l.x, l.own)
	for task := lo; task < hi; task++ {
		first := task * r.lanes
		n := min(r.lanes, r.windows-first)
		r.begin(f, l, n)
		for k := range r.elements {
			switch inside := r.places(l.offsets[:n], first, k); {
			case inside == n:
				r.collect(f, l, n)
				r.step(l, n)
			case inside > 0:
				r.someLanes(f, l, n)
			}
		}
		r.finish(f, l, first, n)
	}
	clear(l.x)
	r.frames.Put(l)
}

// runGroups reduces tasks [lo, hi) of the sorted windows.
func (r *windowLanes) runGroups(f *runtime.TensorFrame, lo, hi int) {
	l := r.frames.Get().(*laneFrame)
	copy(l.x, l.own)
	for _, task := range r.groups.tasks[lo:hi] {
		origins := r.groups.origins[task.first:task.end]
		r.begin(f, l, len(origins))
		for _, at := range task.elements {
			for i, w := range r.widths {
				collect(l.own[i], f.In(i).Data, w, origins, at)
			}
			r.step(l, len(origins))
		}
		for i, w := range r.widths {
			deposit(f.Out(i).Data, l.acc[l.current][i], w, r.groups.windows[task.first:task.end], 0)
		}
	}
	clear(l.x)
	r.frames.Put(l)
}

// findRunning looks for an axis along which windows reach from the first element to the position. Those that reach to the last element would be
// folded from the other end, so they are not among them.
func (r *windowLanes) findRunning(w *hlo.Window, in hlo.Shape, stride []int) bool {
	var found runningAxis
	for d := range w.Dims {
		x, n := &w.Dims[d], in.Dim(d)
		switch {
		case isIdle(x):
		case found.size > 0 || n < 2 || x.Size != n || x.PadLow != n-1 || x.PadHigh != 0 || x.Stride != 1 || x.WindowDilation != 1 || x.BaseDilation != 1:
			return false
		default:
			found = runningAxis{int(n), stride[d]}
		}
	}
	r.running = found
	return found.size > 0
}

// runLines reduces tasks [lo, hi), each as many lines along the running axis as there are lanes.
func (r *windowLanes) runLines(f *runtime.TensorFrame, lo, hi int) {
	l := r.frames.Get().(*laneFrame)
	copy(l.x, l.own)
	a := r.running
	for task := lo; task < hi; task++ {
		first := task * r.lanes
		n := min(r.lanes, r.windows/a.size-first)
		for i := range n {
			line := first + i
			l.offsets[i] = line/a.stride*a.stride*a.size + line%a.stride
		}
		r.begin(f, l, n)
		for k := range a.size {
			for i, w := range r.widths {
				collect(l.own[i], f.In(i).Data, w, l.offsets[:n], k*a.stride)
			}
			r.step(l, n)
			for i, w := range r.widths {
				deposit(f.Out(i).Data, l.acc[l.current][i], w, l.offsets[:n], k*a.stride)
			}
		}
	}
	clear(l.x)
	r.frames.Put(l)
}

// places finds element k of the windows from first on, and how many of them are inside of the array.
func (r *windowLanes) places(at []int, first, k int) (inside int) {
	clear(at)
	period := 1 // windows from one position along the axis to the next
	for d := len(r.axes) - 1; d >= 0; d-- {
		a := &r.axes[d]
		along := a.at[k%a.size*a.out:][:a.out]
		k /= a.size
		if period == 1 {
			for i, p := 0, first%a.out; i < len(at); p = 0 {
				run := along[p:min(a.out, p+len(at)-i)]
				for j, place := range run {
					at[i+j] += place
				}
				i += len(run)
			}
			period = a.out
			continue
		}
		p, rest := first/period%a.out, period-first%period
		for i := 0; i < len(at); {
			run := at[i:min(len(at), i+rest)]
			for j := range run {
				run[j] += along[p]
			}
			i += rest
			if p, rest = p+1, period; p == a.out {
				p = 0
			}
		}
		period *= a.out
	}
	for _, place := range at {
		if place >= 0 {
			inside++
		}
	}
	return inside
}

func (r *windowLanes) collect(f *runtime.TensorFrame, l *laneFrame, n int) {
	for i, w := range r.widths {
		collect(l.own[i], f.In(i).Data, w, l.offsets[:n], 0)
	}
}

// someLanes is a step of the lanes whose element is inside. The others compute with the first element of the array and keep what they had.
func (r *windowLanes) someLanes(f *runtime.TensorFrame, l *laneFrame, n int) {
	var outside [maxLanes]bool
	for i, place := range l.offsets[:n] {
		if outside[i] = place < 0; outside[i] {
			l.offsets[i] = 0
		}
	}
	r.collect(f, l, n)
	r.step(l, n)
	for i, w := range r.widths {
		restore(l.acc[l.current][i], l.acc[1-l.current][i], w, outside[:n])
	}
}

// restore copies the elements of lanes.
func restore(dst, src []byte, width int, lanes []bool) {
	switch width {
	case 4:
		restoreAs(elems[uint32](dst), elems[uint32](src), lanes)
	case 8:
		restoreAs(elems[uint64](dst), elems[uint64](src), lanes)
	default:
		for i, is := range lanes {
			if is {
				copy(dst[i*width:][:width], src[i*width:])
			}
		}
	}
}

func restoreAs[T any](dst, src []T, lanes []bool) {
	dst, src = dst[:len(lanes)], src[:len(lanes)]
	for i, is := range lanes {
		if is {
			dst[i] = src[i]
		}
	}
}
