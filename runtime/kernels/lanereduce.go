package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// laneReduction reduces any number of arrays together by any computation on scalars: many elements of the result at once, each in a lane
// of a tile program. What is folded is taken in row-major order, so the computation has to be associative and no more.
//
// Where few elements of the result fold long runs each, a run is cut into pieces, one for each lane; the lanes are then folded in order.
type laneReduction struct {
	arrays  int
	program *tile.Program
	widths  []int
	layout  reduceLayout
	mode    laneMode
	lanes   int // at most, in a task
	piece   int // elements of a run per lane
	tasks   int
	loop    *parallelLoop
	frames  sync.Pool
}

type laneMode uint8

const (
	columnLanes laneMode = iota // lanes are neighbours in the result and in memory
	unitLanes                   // lanes are units
	pieceLanes                  // lanes are pieces of one run
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
	k := s.in.NumOperands() / 2
	comp, ok := s.m.Computation(s.in.Callee(0))
	if !ok || comp.NumParameters() != 2*k || s.shape(0).NumElements() == 0 || s.in.Shape().NumLeaves() != k {
		return runtime.Bound{}, false
	}
	r := &laneReduction{arrays: k}
	i := 0
	same := true
	s.in.Shape().Leaves(func(_ hlo.ShapeIndex, leaf hlo.Shape) bool {
		t := leaf.Type()
		same = same && s.shape(i).Type() == t && s.shape(k+i).Type() == t && comp.Parameter(i).Shape().Type() == t &&
			comp.Parameter(k+i).Shape().Type() == t && leaf.NumElements() > 0
		r.widths = append(r.widths, t.ByteSize())
		i++
		return true
	})
	if !same {
		return runtime.Bound{}, false
	}
	if r.program, ok = compileLanes(s.m, comp, maxLanes); !ok {
		return runtime.Bound{}, false
	}
	roots, _ := fusionRoots(comp)
	for i, root := range roots {
		if root.Shape().Type() != comp.Parameter(i).Shape().Type() {
			return runtime.Bound{}, false
		}
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
	case l.units < 64 && len(l.strips) == 1 && l.run >= 64:
		r.mode = pieceLanes
		r.piece = max(8, (l.run-1)/maxLanes+1)
		r.lanes = l.run / r.piece
		r.tasks = l.units
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
		switch r.mode {
		case columnLanes:
			r.columns(f, l, task)
		case unitLanes:
			r.units(f, l, task)
		default:
			r.pieces(f, l, task)
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

func (r *laneReduction) pieces(f *runtime.TensorFrame, l *laneFrame, u int) {
	first := r.layout.offset(u)
	for i := range r.lanes {
		l.offsets[i] = first + i*r.piece
	}
	copy(l.x, l.own)
	for i, w := range r.widths {
		collect(l.acc[l.current][i], f.In(i).Data, w, l.offsets, 0)
	}
	for k := 1; k < r.piece; k++ {
		for i, w := range r.widths {
			collect(l.own[i], f.In(i).Data, w, l.offsets, k)
		}
		r.step(l, r.lanes)
	}
	// Fold neighbouring lanes until one is left; an odd one out stays last.
	for n := r.lanes; n > 1; n = (n + 1) / 2 {
		even := n / 2
		for i, w := range r.widths {
			acc := l.acc[l.current][i]
			if n%2 != 0 {
				copy(l.acc[1-l.current][i][even*w:], acc[(n-1)*w:n*w])
			}
			spread(l.own[i], acc, w, 1, even)
			spread(acc, acc, w, 0, even)
		}
		r.step(l, even)
	}
	// What the pieces left over, one by one, and the initial value in front.
	for k := r.lanes * r.piece; k < r.layout.run; k++ {
		for i, w := range r.widths {
			copy(l.own[i], f.In(i).Data[(first+k)*w:][:w])
		}
		r.step(l, 1)
	}
	for i, w := range r.widths {
		copy(l.own[i], l.acc[l.current][i][:w])
		copy(l.acc[l.current][i], f.In(r.arrays + i).Data[:w])
	}
	r.step(l, 1)
	r.finish(f, l, u, 1)
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

// spread copies every second element from first on to the front of dst.
func spread(dst, src []byte, width, first, n int) {
	for i := range n {
		copy(dst[i*width:][:width], src[(2*i+first)*width:])
	}
}
