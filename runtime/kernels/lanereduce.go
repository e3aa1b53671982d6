package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// laneReduction reduces any number of arrays together by any computation on scalars: many elements of the result at once, each in a lane
// of a tile program. Elements are folded in row-major order, so the computation has to be associative and no more. Rows that lie together are rowLanes' affair.
type laneReduction struct {
	arrays  int
	program *tile.Program
	widths  []int
	layout  reduceLayout
	mode    laneMode
	lanes   int // at most, in a task
	tasks   int
	loop    *parallelLoop
	frames  sync.Pool
}

type laneMode uint8

const (
	columnLanes laneMode = iota // lanes are neighbours in the result and in memory
	unitLanes                   // lanes are units
)

// laneFrame is the state of one task: accumulators, twice, and elements.
type laneFrame struct {
	acc     [2][][]byte
	current int
	x       [][]byte // what the program reads
	own     [][]byte // memory for x
	offsets []int
}

func (l *laneFrame) In(i int) []byte {
	if k := len(l.x); i >= k {
		return l.x[i-k]
	}
	return l.acc[l.current][i]
}
func (l *laneFrame) Out(i int) []byte { return l.acc[1-l.current][i] }

const maxLanes = 512

func reduceLanes(s *site) (runtime.Bound, bool) {
	comp, widths, ok := lanesComputation(s)
	if !ok {
		return runtime.Bound{}, false
	}
	r := &laneReduction{arrays: len(widths), widths: widths}
	if r.program, ok = compileLanes(s.m, comp, maxLanes); !ok {
		return runtime.Bound{}, false
	}
	r.layout.layOut(s.shape(0).Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions)
	r.plan()
	r.frames.New = func() any { return r.newFrame() }
	r.loop = newParallelLoop(r.run)
	work := len(r.layout.strips) * r.layout.run * r.layout.units / r.tasks * r.program.Weight()
	return r.loop.bound(r.tasks, 1+(1<<14)/(1+work)), true
}

func (r *laneReduction) plan() {
	l := &r.layout
	switch {
	case !l.inner:
		r.mode, r.lanes = columnLanes, min(l.run, maxLanes)
		l.block = r.lanes
		l.blocks = (l.run-1)/r.lanes + 1
		r.tasks = l.units * l.blocks
	default:
		r.mode, r.lanes = unitLanes, min(l.units, 256)
		r.tasks = (l.units-1)/r.lanes + 1
	}
}

func (r *laneReduction) newFrame() *laneFrame {
	f := &laneFrame{x: make([][]byte, r.arrays), offsets: make([]int, r.lanes)}
	for _, w := range r.widths {
		for i := range f.acc {
			f.acc[i] = append(f.acc[i], runtime.AlignedBytes(int64(maxLanes*w)))
		}
		f.own = append(f.own, runtime.AlignedBytes(int64(maxLanes*w)))
	}
	return f
}

// step folds what is in x into n accumulators.
func (r *laneReduction) step(l *laneFrame, n int) {
	r.program.Run(0, n, l)
	l.current = 1 - l.current
}

func (r *laneReduction) run(f *runtime.TensorFrame, lo, hi int) {
	l := r.frames.Get().(*laneFrame)
	for task := lo; task < hi; task++ {
		if r.mode == columnLanes {
			r.columns(f, l, task)
		} else {
			r.units(f, l, task)
		}
	}
	clear(l.x)
	r.frames.Put(l)
}

// begin sets n accumulators to the initial values.
func (r *laneReduction) begin(f *runtime.TensorFrame, l *laneFrame, n int) {
	for i, w := range r.widths {
		fillBytes(l.acc[l.current][i][:n*w], f.In(r.arrays + i).Data[:w])
	}
}

// finish stores n accumulators from element at of the results on.
func (r *laneReduction) finish(f *runtime.TensorFrame, l *laneFrame, at, n int) {
	for i, w := range r.widths {
		copy(f.Out(i).Data[at*w:], l.acc[l.current][i][:n*w])
	}
}

func (r *laneReduction) columns(f *runtime.TensorFrame, l *laneFrame, task int) {
	u, b := task/r.layout.blocks, task%r.layout.blocks*r.lanes
	n := min(r.lanes, r.layout.run-b)
	first := r.layout.offset(u) + b
	r.begin(f, l, n)
	for _, s := range r.layout.strips {
		for i, w := range r.widths {
			l.x[i] = f.In(i).Data[(first+s)*w:][:n*w]
		}
		r.step(l, n)
	}
	r.finish(f, l, u*r.layout.run+b, n)
}

func (r *laneReduction) units(f *runtime.TensorFrame, l *laneFrame, task int) {
	u := task * r.lanes
	n := min(r.lanes, r.layout.units-u)
	for i := range n {
		l.offsets[i] = r.layout.offset(u + i)
	}
	r.begin(f, l, n)
	copy(l.x, l.own)
	for _, s := range r.layout.strips {
		for k := range r.layout.run {
			for i, w := range r.widths {
				collect(l.own[i], f.In(i).Data, w, l.offsets[:n], s+k)
			}
			r.step(l, n)
		}
	}
	r.finish(f, l, u, n)
}

// collect gathers one element for each offset.
func collect(dst, src []byte, width int, offsets []int, plus int) {
	switch width {
	case 1:
		collectAs(dst, src, offsets, plus)
	case 2:
		collectAs(elems[uint16](dst), elems[uint16](src), offsets, plus)
	case 4:
		collectAs(elems[uint32](dst), elems[uint32](src), offsets, plus)
	case 8:
		collectAs(elems[uint64](dst), elems[uint64](src), offsets, plus)
	default:
		for i, o := range offsets {
			copy(dst[i*width:][:width], src[(o+plus)*width:])
		}
	}
}

func collectAs[T any](dst, src []T, offsets []int, plus int) {
	dst = dst[:len(offsets)]
	for i, o := range offsets {
		dst[i] = src[o+plus]
	}
}

// deposit stores one element at each offset.
func deposit(dst, src []byte, width int, offsets []int, plus int) {
	switch width {
	case 1:
		depositAs(dst, src, offsets, plus)
	case 2:
		depositAs(elems[uint16](dst), elems[uint16](src), offsets, plus)
	case 4:
		depositAs(elems[uint32](dst), elems[uint32](src), offsets, plus)
	case 8:
		depositAs(elems[uint64](dst), elems[uint64](src), offsets, plus)
	default:
		for i, o := range offsets {
			copy(dst[(o+plus)*width:][:width], src[i*width:])
		}
	}
}

func depositAs[T any](dst, src []T, offsets []int, plus int) {
	src = src[:len(offsets)]
	for i, o := range offsets {
		dst[o+plus] = src[i]
	}
}

// spread copies every second element from first on to the front of dst.
func spread(dst, src []byte, width, first, n int) {
	switch width {
	case 4:
		spreadAs(elems[uint32](dst), elems[uint32](src), first, n)
	case 8:
		spreadAs(elems[uint64](dst), elems[uint64](src), first, n)
	default:
		for i := range n {
			copy(dst[i*width:][:width], src[(2*i+first)*width:])
		}
	}
}

func spreadAs[T any](dst, src []T, first, n int) {
	src = src[:2*n]
	for i := range dst[:n] {
		dst[i] = src[2*i+first]
	}
}
