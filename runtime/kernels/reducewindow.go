package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// reduceWindow serves one array and one recognised op. Narrow floats are reduced in f32.
func reduceWindow(s *site) (runtime.Bound, bool) {
	op, t, ok := s.foldOp()
	if !ok {
		return runtime.Bound{}, false
	}
	switch t {
	case hlo.F32:
		if w := narrowWindowsOf(s, op); w != nil {
			return w.bound(), true
		}
		return reduceWindowAs(s, t, foldOf[float32](op))
	case hlo.F64:
		return reduceWindowAs(s, t, foldOf[float64](op))
	case hlo.PRED:
		return reduceWindowAs(s, t, predFoldOf(op))
	case hlo.S8:
		return reduceWindowAs(s, t, integerFoldOf[int8](op))
	case hlo.U8:
		return reduceWindowAs(s, t, integerFoldOf[uint8](op))
	case hlo.S32:
		return reduceWindowAs(s, t, integerFoldOf[int32](op))
	case hlo.U32:
		return reduceWindowAs(s, t, integerFoldOf[uint32](op))
	case hlo.S64:
		return reduceWindowAs(s, t, integerFoldOf[int64](op))
	case hlo.U64:
		return reduceWindowAs(s, t, integerFoldOf[uint64](op))
	case hlo.C64:
		return reduceWindowAs(s, t, complexFoldOf[complex64](op))
	case hlo.C128:
		return reduceWindowAs(s, t, complexFoldOf[complex128](op))
	}
	return runtime.Bound{}, false
}

// windowReduction folds a window for each position: a run of the result at a time.
type windowReduction[T foldedNumber] struct {
	windowRuns
	fold          *fold[T]
	src, init, to place
	loop          *parallelLoop
	picked        sync.Pool // of *[windowPick]T
	every         vec.Loop  // picks elements of a line with a stride, by taking the low parts of wider ones, or nil
	vector        vec.Loop  // folds listed runs, if there is one
	lists         sync.Pool // of *windowList[T]
	groups        *windowGroups
	offsets       [][]int64 // of the elements of each task, in bytes, for vector
	piece, pieces int       // positions of a line that are folded together, and how many such there are
	lanes         sync.Pool // of *windowLanesOf[T]

	// scan is the axis whose window reaches from the first element to the position, or back, or -1. It is then folded one element at a time.
	scan    int
	reverse bool
}

// windowPick is how many elements of a line with a stride are brought together at a time.
const windowPick = 256

func reduceWindowAs[T foldedNumber](s *site, t hlo.PrimitiveType, f *fold[T]) (runtime.Bound, bool) {
	runs, ok := newWindowRuns(hlo.AttrsOf[hlo.WindowAttrs](s.in).Window, s.shape(0), s.in.Shape())
	if f == nil || !ok {
		return runtime.Bound{}, false
	}
	r := &windowReduction[T]{windowRuns: runs, fold: f}
	r.picked.New = func() any { return new([windowPick]T) }
	e := &convertedIO{t: t}
	if !e.plan(s) {
		return runtime.Bound{}, false
	}
	r.src, r.init, r.to = e.in[0], e.in[1], e.out
	n, work := r.rows, r.run
	if r.findScan() {
		r.loop = newParallelLoop(r.scans)
		n, work = r.rows/r.out[r.scan], r.run*r.out[r.scan]
	} else {
		for i := range r.window {
			work *= int(r.window[i].Size)
		}
		switch last, planes := len(r.window)-1, r.newWindowPlanes(); {
		case planes != nil:
			r.loop = newParallelLoop(planes.run)
			n, work = planes.tasks(), work*planes.together*planes.positions*planes.line
		case r.hasLines(leastOfLine), r.hasLinesOfRuns(t.ByteSize()):
			n, work = r.planLines(t, work)
		case last >= 0 && r.findGroups():
			n, work = len(r.groups.tasks), work*windowsTogether
			r.loop = newParallelLoop(r.grouped)
		case r.hasLines(leastWithoutGroups):
			n, work = r.planLines(t, work)
		case r.findVector():
			r.loop = newParallelLoop(r.listed)
		default:
			r.loop = newParallelLoop(r.positions)
		}
	}
	grain := 1 + (1<<14)/(1+work)
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		r.loop.run(f, n, grain)
		e.after(f)
		return nil
	}, Scratch: e.scratch.size}, true
}

// Positions along the last axis that are worth folding as a line, and where windows are too many to be sorted.
const (
	leastOfLine        = 16
	leastWithoutGroups = 4
)

// hasLines reports whether at least so many positions along the last axis can be folded together.
func (r *windowReduction[T]) hasLines(least int) bool {
	last := len(r.window) - 1
	return r.run == 1 && last >= 0 && r.out[last] >= least && !r.isDilated(last)
}

// shortRunBytes is the size of a run up to which runs side by side are folded as one line.
const shortRunBytes = 256

// hasLinesOfRuns reports whether the runs of neighbouring positions lie side by side on both sides, and are so short that they are better folded as one line.
func (r *windowReduction[T]) hasLinesOfRuns(width int) bool {
	last := len(r.window) - 1
	return r.run > 1 && r.run*width <= shortRunBytes && last >= 0 && r.window[last].Stride == 1 && r.out[last]*r.run >= leastOfLine
}

// positions folds the windows of runs [lo, hi) of the result.
func (r *windowReduction[T]) positions(f *runtime.TensorFrame, lo, hi int) {
	x, out := elems[T](r.src.of(f)), elems[T](r.to.of(f))
	init := elems[T](r.init.of(f))[0]
	for row := lo; row < hi; row++ {
		y := out[row*r.run:][:r.run]
		for i := range y {
			y[i] = init
		}
		r.position(y, x, row)
	}
}

// position folds one window, in row-major order of its positions, into y.
func (r *windowReduction[T]) position(y, x []T, row int) {
	w, ok := r.windowAt(row)
	if !ok {
		return
	}
	axes := len(r.window)
	if axes == 0 {
		r.fold.rows(y, x[:len(y)])
		return
	}
	last := axes - 1
	for {
		o := w.off
		for range w.count[last] {
			if len(y) == 1 {
				y[0] = r.fold.pair(y[0], x[o])
			} else {
				r.fold.rows(y, x[o:][:len(y)])
			}
			o += w.step[last]
		}
		if !w.next(last - 1) {
			return
		}
	}
}

// findScan recognises a running fold along one axis.
func (r *windowReduction[T]) findScan() bool {
	r.scan = -1
	for d := range r.window {
		w := &r.window[d]
		n := int64(r.in[d])
		switch {
		case isIdle(w):
		case r.isDilated(d):
			r.scan = -1
			return false
		case r.scan < 0 && w.Stride == 1 && w.WindowDilation == 1 && w.Size == n && w.PadLow == n-1 && w.PadHigh == 0:
			r.scan = d
		case r.scan < 0 && w.Stride == 1 && w.WindowDilation == 1 && w.Size == n && w.PadHigh == n-1 && w.PadLow == 0:
			r.scan, r.reverse = d, true
		default:
			r.scan = -1
			return false
		}
	}
	return r.scan >= 0
}

// scans folds lines along the axis; the lines are numbered over the other axes, runs apart.
func (r *windowReduction[T]) scans(f *runtime.TensorFrame, lo, hi int) {
	x, out := elems[T](r.src.of(f)), elems[T](r.to.of(f))
	init := elems[T](r.init.of(f))[0]
	n, stride := r.in[r.scan], r.stride[r.scan]
	inner := stride / r.run // lines between neighbours along the axis
	if stride == 1 && r.fold.scan != nil {
		r.fold.scan(out[lo*n:hi*n], x[lo*n:hi*n], n, r.reverse, init)
		return
	}
	for line := lo; line < hi; line++ {
		at := line/inner*inner*n*r.run + line%inner*r.run
		step := stride
		if r.reverse {
			at += (n - 1) * stride
			step = -stride
		}
		if r.run == 1 {
			v := init
			for range n {
				v = r.fold.pair(v, x[at])
				out[at] = v
				at += step
			}
			continue
		}
		last := out[at:][:r.run]
		for i := range last {
			last[i] = r.fold.pair(init, x[at+i])
		}
		for range n - 1 {
			at += step
			y := out[at:][:r.run]
			copy(y, last)
			r.fold.rows(y, x[at:][:r.run])
			last = y
		}
	}
}
