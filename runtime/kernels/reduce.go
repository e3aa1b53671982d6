package kernels

import (
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// reduce serves reductions of one array by one recognised op. Narrow floats are reduced in f32.
func reduce(s *site) (runtime.Bound, bool) {
	if s.in.NumOperands() != 2 || !s.in.Shape().IsArray() {
		return runtime.Bound{}, false
	}
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok {
		return runtime.Bound{}, false
	}
	op, ok := binaryOf(c)
	t := s.in.Shape().Type()
	if !ok || s.shape(0).Type() != t || s.shape(1).Type() != t || c.Root().Shape().Type() != t {
		return runtime.Bound{}, false
	}
	if t.IsFloat() && t.Bits() < 32 {
		t = hlo.F32
	}
	switch t {
	case hlo.F32:
		return reduceAs(s, t, foldOf[float32](op))
	case hlo.F64:
		return reduceAs(s, t, foldOf[float64](op))
	case hlo.PRED:
		return reduceAs(s, t, predFoldOf(op))
	case hlo.S8:
		return reduceAs(s, t, integerFoldOf[int8](op))
	case hlo.U8:
		return reduceAs(s, t, integerFoldOf[uint8](op))
	case hlo.S16:
		return reduceAs(s, t, integerFoldOf[int16](op))
	case hlo.U16:
		return reduceAs(s, t, integerFoldOf[uint16](op))
	case hlo.S32:
		return reduceAs(s, t, integerFoldOf[int32](op))
	case hlo.U32:
		return reduceAs(s, t, integerFoldOf[uint32](op))
	case hlo.S64:
		return reduceAs(s, t, integerFoldOf[int64](op))
	case hlo.U64:
		return reduceAs(s, t, integerFoldOf[uint64](op))
	}
	return runtime.Bound{}, false
}

// reduction folds an array. Axes that are neighbours and are both kept or both reduced are one. Either the last axis is reduced: then
// an element of the result folds runs of memory; or it is kept: then a run of the result folds rows element by element. What is
// folded for one element, or for one run, are strips; a long list of strips is divided into parts with a result of their own.
type reduction[T realNumber] struct {
	fold *fold[T]
	// kept are the sizes and strides of the kept axes but for a last run.
	kept, keptStride []int
	units            int // product of kept
	// strips are the offsets of the strips of a unit; each is run elements, of which a unit keeps all, or folds all if inner is set.
	strips []int
	run    int
	inner  bool
	block  int // columns computed together, when the run is kept
	blocks int
	parts  int // per unit
	split  int // strips per part; or elements per part of the only strip

	in, init, out place
	partial       section
	loop, finish  *parallelLoop
	rows          sync.Pool
}

// reduceColumns bounds the columns that are folded together: their sums stay in the nearest cache.
const reduceColumns = 1024

func reduceAs[T realNumber](s *site, t hlo.PrimitiveType, f *fold[T]) (runtime.Bound, bool) {
	if f == nil {
		return runtime.Bound{}, false
	}
	e := &endpoints{t: t}
	if !e.plan(s) {
		return runtime.Bound{}, false
	}
	r := &reduction[T]{fold: f, in: e.in[0], init: e.in[1], out: e.out}
	r.layOut(s.shape(0).Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions)
	if s.shape(0).NumElements() == 0 {
		return r.empty(e), true
	}
	r.divide()
	if r.parts > 1 {
		r.partial = e.scratch.take(int64(r.units*r.parts*r.width()) * int64(t.ByteSize()))
	}
	r.rows.New = func() any { b := make([]T, r.block); return &b }
	r.loop = newParallelLoop(r.tasks)
	r.finish = newParallelLoop(r.merge)
	tasks := r.units * r.blocks * r.parts
	work := len(r.strips) * r.run / (r.blocks * r.parts)
	grain := 1 + (1<<14)/(1+work)
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		r.loop.run(f, tasks, grain)
		if r.parts > 1 {
			r.finish.run(f, r.units, r.units)
		}
		e.after(f)
		return nil
	}, Scratch: e.scratch.size}, true
}

// empty is the reduction of an array without elements.
func (r *reduction[T]) empty(e *endpoints) runtime.Bound {
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		init := elems[T](r.init.of(f))[0]
		out := elems[T](r.out.of(f))
		for i := range out {
			out[i] = init
		}
		e.after(f)
		return nil
	}, Scratch: e.scratch.size}
}

// width is the elements of the result in a unit.
func (r *reduction[T]) width() int {
	if r.inner {
		return 1
	}
	return r.run
}

// layOut merges axes and lists the strips.
func (r *reduction[T]) layOut(dims, axes []int64) {
	type axis struct {
		size    int
		reduced bool
	}
	var merged []axis
	for i, d := range dims {
		red := slices.Contains(axes, int64(i))
		switch last := len(merged) - 1; {
		case d == 1:
		case last >= 0 && merged[last].reduced == red:
			merged[last].size *= int(d)
		default:
			merged = append(merged, axis{int(d), red})
		}
	}
	r.run, r.units, r.strips = 1, 1, []int{0}
	stride := 1
	if last := len(merged) - 1; last >= 0 {
		r.run, r.inner = merged[last].size, merged[last].reduced
		stride = r.run
		merged = merged[:last]
	}
	for i := len(merged) - 1; i >= 0; i-- {
		a := merged[i]
		if !a.reduced {
			r.kept = append(r.kept, a.size)
			r.keptStride = append(r.keptStride, stride)
			r.units *= a.size
		} else {
			strips := make([]int, 0, len(r.strips)*a.size)
			for k := range a.size {
				for _, s := range r.strips {
					strips = append(strips, s+k*stride)
				}
			}
			r.strips = strips
		}
		stride *= a.size
	}
}

// divide chooses blocks and parts, from the sizes alone.
func (r *reduction[T]) divide() {
	r.block, r.blocks, r.parts = 1, 1, 1
	if !r.inner {
		r.block = min(r.run, reduceColumns)
		r.blocks = (r.run-1)/r.block + 1
	}
	r.split = len(r.strips)
	const enough, piece = 8, 1 << 15
	if r.units*r.blocks >= enough || len(r.strips)*r.run < 2*piece {
		return
	}
	if r.inner && len(r.strips) == 1 {
		r.split = piece
		r.parts = (r.run-1)/piece + 1
		return
	}
	r.split = max(1, piece/min(r.run, reduceColumns))
	r.parts = (len(r.strips)-1)/r.split + 1
}

// offset is where unit u begins in the operand.
func (r *reduction[T]) offset(u int) int {
	off := 0
	for i, n := range r.kept {
		off += u % n * r.keptStride[i]
		u /= n
	}
	return off
}

// tasks computes blocks of columns of parts of units, in that order.
func (r *reduction[T]) tasks(f *runtime.TensorFrame, lo, hi int) {
	in, out := elems[T](r.in.of(f)), elems[T](r.out.of(f))
	init := elems[T](r.init.of(f))[0]
	if r.parts > 1 {
		out = elems[T](r.partial.of(f))
	}
	if r.isShort() {
		y := out[lo:hi]
		for i := range y {
			y[i] = init
		}
		r.fold.short(y, in[lo*r.run:hi*r.run], r.run)
		return
	}
	buffer := r.rows.Get().(*[]T)
	for task := lo; task < hi; task++ {
		up, b := task/r.blocks, task%r.blocks
		x := in[r.offset(up/r.parts):]
		part := up % r.parts * r.split
		if r.inner {
			v := r.foldRuns(x, part)
			if r.parts == 1 {
				v = r.fold.pair(init, v)
			}
			out[up] = v
			continue
		}
		cols := min(r.block, r.run-b*r.block)
		y := out[up*r.run+b*r.block:][:cols]
		r.foldRows(y, x[b*r.block:], r.strips[part:min(part+r.split, len(r.strips))], (*buffer)[:cols])
		if r.parts == 1 {
			for i, v := range y {
				y[i] = r.fold.pair(init, v)
			}
		}
	}
	r.rows.Put(buffer)
}

// isShort reports whether units are short runs, one behind the other.
func (r *reduction[T]) isShort() bool {
	return r.inner && len(r.strips) == 1 && len(r.kept) == 1 && r.run <= 32
}

// foldRuns folds the runs of a part.
func (r *reduction[T]) foldRuns(x []T, part int) T {
	if len(r.strips) == 1 && r.parts > 1 {
		return r.fold.run(x[part:min(part+r.split, r.run)])
	}
	strips := r.strips[part:min(part+r.split, len(r.strips))]
	v := r.fold.run(x[strips[0]:][:r.run])
	for _, s := range strips[1:] {
		v = r.fold.pair(v, r.fold.run(x[s:][:r.run]))
	}
	return v
}

// rowBlock is how many rows are folded before their result is.
const rowBlock = 256

// foldRows folds rows of x that begin at strips into y; sum is as long as y.
func (r *reduction[T]) foldRows(y, x []T, strips []int, sum []T) {
	for at := 0; at < len(strips); at += rowBlock {
		to := sum
		if at == 0 {
			to = y
		}
		rows := strips[at:min(at+rowBlock, len(strips))]
		copy(to, x[rows[0]:])
		for _, s := range rows[1:] {
			r.fold.rows(to, x[s:][:len(to)])
		}
		if at > 0 {
			r.fold.rows(y, sum)
		}
	}
}

// merge folds the parts of units.
func (r *reduction[T]) merge(f *runtime.TensorFrame, lo, hi int) {
	partial, out := elems[T](r.partial.of(f)), elems[T](r.out.of(f))
	init := elems[T](r.init.of(f))[0]
	w := r.width()
	for u := lo; u < hi; u++ {
		y := out[u*w:][:w]
		copy(y, partial[u*r.parts*w:])
		for p := 1; p < r.parts; p++ {
			r.fold.rows(y, partial[(u*r.parts+p)*w:][:w])
		}
		for i, v := range y {
			y[i] = r.fold.pair(init, v)
		}
	}
}
