package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// points is how a gather finds elements, or short lines, which are as good as elements: with any number of components in an index vector, and with batching axes.
// There is a loop for each type of index and element.
type points struct {
	regular, between int // elements from one index vector to the next, and between components
	axes             []pointAxis
	batches          batchRuns
	words            *pointWords // or nil
}

// pointAxis is an axis that index vectors are about; the stride is in elements that are moved.
type pointAxis struct {
	highest int64
	stride  int
}

// batchRuns is what batching axes add to the offsets of windows. These come in runs: run r begins at (r mod count)·step, and each window of it is further by each.
type batchRuns struct {
	run, count, step, each int
}

// batchRunsOf finds the runs of windows over axes that add so much each; false if they are not of this kind.
func batchRunsOf(axes, dims []int64, adds []int) (batchRuns, bool) {
	inner := 1
	for len(axes) > 0 && (dims[axes[len(axes)-1]] == 1 || adds[axes[len(axes)-1]] == 0) {
		inner *= int(dims[axes[len(axes)-1]])
		axes = axes[:len(axes)-1]
	}
	for len(axes) > 0 && (dims[axes[0]] == 1 || adds[axes[0]] == 0) {
		axes = axes[1:]
	}
	t := newOffsetTable(axes, dims, adds)
	switch {
	case t.count <= 1:
		return batchRuns{run: inner * t.count, count: 1}, true
	case t.step == 0:
		return batchRuns{}, false
	case inner == 1:
		return batchRuns{run: t.count, count: 1, each: t.step}, true
	}
	return batchRuns{run: inner, count: t.count, step: t.step}, true
}

// gatherPlaces is a gather's loop over points, nil if it picks other things.
func gatherPlaces(w *windows, b *box, to *offsetTable, width int) func(f *runtime.TensorFrame, lo, hi int) {
	if len(b.dims) > 0 || b.run == 0 || !to.together(b.run/width) || w.first != nil && w.count > 1 {
		return nil
	}
	p := &points{regular: w.regular, between: w.between, batches: w.batches}
	for i, a := range w.axes {
		p.axes = append(p.axes, pointAxis{w.highest[i], w.strides[a]})
	}
	if !p.batches.known() || !p.scale(width, b.run) {
		return nil
	}
	switch w.index {
	case hlo.S32:
		p.words = newPointWords(p, w.array.NumElements())
		return pointsBy[int32](p, b.run)
	case hlo.U32:
		return pointsBy[uint32](p, b.run)
	case hlo.S64:
		return pointsBy[int64](p, b.run)
	}
	return nil
}

func (r *batchRuns) known() bool { return r.run > 0 }

// scale makes strides those of lines of so many bytes; false if lines begin elsewhere, too.
func (p *points) scale(width, line int) bool {
	strides := []*int{&p.batches.step, &p.batches.each}
	for i := range p.axes {
		strides = append(strides, &p.axes[i].stride)
	}
	for _, s := range strides {
		if *s*width%line != 0 {
			return false
		}
		*s = *s * width / line
	}
	return true
}

func pointsBy[I lineIndex](p *points, line int) func(f *runtime.TensorFrame, lo, hi int) {
	switch line {
	case 1:
		return pointLoop[I, uint8](p)
	case 2:
		return pointLoop[I, uint16](p)
	case 4:
		return pointLoop[I, uint32](p)
	case 8:
		return pointLoop[I, uint64](p)
	case 16:
		return pointLoop[I, [2]uint64](p)
	case 32:
		return pointLoop[I, [4]uint64](p)
	case 64:
		return pointLoop[I, [8]uint64](p)
	case 128:
		return pointLoop[I, [16]uint64](p)
	case 256:
		return pointLoop[I, [32]uint64](p)
	}
	return nil
}

func pointLoop[I lineIndex, T any](p *points) func(f *runtime.TensorFrame, lo, hi int) {
	r := &p.batches
	return func(f *runtime.TensorFrame, lo, hi int) {
		src, indices, dst := elems[T](f.In(0).Data), elems[I](f.In(1).Data), elems[T](f.Out(0).Data)
		for lo < hi {
			at := lo % r.run
			n := min(r.run-at, hi-lo)
			from := lo/r.run%r.count*r.step + at*r.each
			pointRun(p, dst[lo:][:n], src[from:], indices[lo*p.regular:])
			lo += n
		}
	}
}

// pointRun copies the points of part of a run. Their offsets are made first, block by block: loads are all that the second loop does, so many of them are under way at once.
func pointRun[I lineIndex, T any](p *points, dst, src []T, indices []I) {
	if p.words != nil && p.words.pick != nil {
		if d, ok := any(dst).([]uint32); ok {
			n := pickRun(p, d, any(src).([]uint32), any(indices).([]int32))
			dst, indices = dst[n:], indices[n*p.regular:]
		}
	}
	if v, ok := any(indices).([]int32); ok && p.words != nil {
		wordRun(p, dst, src, v)
		return
	}
	if len(p.axes) == 1 && p.regular <= 1 && p.batches.each == 0 {
		copyAt(dst, src, indices, p.axes[0])
		return
	}
	var buffer [block]int
	for first := 0; first < len(dst); first += block {
		d := dst[first:min(first+block, len(dst))]
		at := buffer[:len(d)]
		for i := range at {
			at[i] = (first + i) * p.batches.each
		}
		for c, x := range p.axes {
			addPlaces(at, indices[first*p.regular+c*p.between:], p.regular, x)
		}
		copyPoints(d, src, at)
	}
}

// copyAt copies points that lie on one axis.
func copyAt[I lineIndex, T any](dst, src []T, indices []I, x pointAxis) {
	for i, v := range indices[:len(dst)] {
		dst[i] = src[x.place(int64(v))]
	}
}

// copyPoints copies the elements at offsets.
//
//go:noinline
func copyPoints[T any](dst, src []T, at []int) {
	dst = dst[:len(at)]
	for i, o := range at {
		dst[i] = src[o]
	}
}

// addPlaces adds what indices, so far apart, say of an axis to offsets. Inlined it would keep its counters in memory.
//
//go:noinline
func addPlaces[I integerNumber](at []int, indices []I, apart int, x pointAxis) {
	if apart == 1 {
		for i, v := range indices[:len(at)] {
			at[i] += x.place(asIndex(v))
		}
		return
	}
	from := 0
	for i := range at {
		at[i] += x.place(asIndex(indices[from]))
		from += apart
	}
}

// place is what an index adds to the offset, moved inside of the array.
func (x pointAxis) place(v int64) int { return int(max(0, min(v, x.highest))) * x.stride }

// gatherRowsOf is gatherRows for lines of any width.
func gatherRowsOf(w *windows, b *box, line int) runtime.Bound {
	return rowGathers[line](w, b)
}

// rowGathers are the loops by the width of lines.
var rowGathers = map[int]func(w *windows, b *box) runtime.Bound{
	1: gatherRows[uint8], 2: gatherRows[uint16], 4: gatherRows[uint32], 8: gatherRows[uint64], 16: gatherRows[[2]uint64], 32: gatherRows[[4]uint64], 64: gatherRows[[8]uint64],
	3: gatherRows[[3]uint8], 6: gatherRows[[3]uint16], 12: gatherRows[[3]uint32], 24: gatherRows[[3]uint64],
}

// lineWidth is the size of what windows pick together if there is a loop that takes it for an element, and else 0: lines begin at multiples of it everywhere.
func lineWidth(w *windows, b *box) int {
	whole := b.run == b.width || w.base == nil && w.first == nil
	for i := range b.dims {
		whole = whole && b.src[i]%max(1, b.run) == 0 && b.dst[i]%max(1, b.run) == 0
	}
	for _, a := range w.axes {
		whole = whole && (b.run == b.width || w.strides[a]*b.width%max(1, b.run) == 0)
	}
	if !whole || rowGathers[b.run] == nil {
		return 0
	}
	return b.run
}

// gatherRows moves line by line where neighbouring windows have neighbouring places in the result: row after row of it, of which each has one line of every
// window. Other than by blocks of windows, rows of the array are near while they are needed.
func gatherRows[T any](w *windows, b *box) runtime.Bound {
	r := &rowsGather[T]{w: w, from: []int{0}, to: []int{0}, line: b.run / b.width}
	for i, n := range b.dims {
		r.from, r.to = expand(r.from, n, b.src[i]/b.run), expand(r.to, n, b.dst[i]/b.run)
	}
	r.offsets = r.scratch.take(int64(w.count) * 8)
	r.loop = newParallelLoop(r.rows)
	return r.bound()
}

// Rows pay if there are enough of them to share, and windows so few that their offsets stay in a near cache.
const (
	leastGatherRows  = 16
	mostWindowsOfRow = 1 << 15
)

type rowsGather[T any] struct {
	w        *windows
	line     int   // elements
	from, to []int // of each row, in the array and in the result, in lines
	scratch  scratchPlan
	offsets  section
	loop     *parallelLoop
}

func (r *rowsGather[T]) bound() runtime.Bound {
	grain := 1 + (1<<15)/r.w.count
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		at := elems[int](r.offsets.of(f))[:r.w.count]
		r.w.offsets(at, f.In(1).Data, 0, false)
		if r.line > 1 {
			for i := range at {
				at[i] /= r.line
			}
		}
		r.loop.run(f, len(r.from), grain)
		return nil
	}, Scratch: r.scratch.size}
}

func (r *rowsGather[T]) rows(f *runtime.TensorFrame, lo, hi int) {
	src, dst := elems[T](f.In(0).Data), elems[T](f.Out(0).Data)
	at := elems[int](r.offsets.of(f))[:r.w.count]
	for k := lo; k < hi; k++ {
		copyPoints(dst[r.to[k]:][:len(at)], src[r.from[k]:], at)
	}
}
