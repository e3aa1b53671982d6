package kernels

import (
	"bytes"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// complexSums adds up rows of complex numbers, which lie together: as rows of real numbers, of which the even ones belong to real parts. Lines of a row are added to a line of sums, whose
// halves are added until one number is left.
type complexSums[T float32 | float64] struct {
	units, run int // rows, and the complex numbers of each
	parts      int // of a row, each of complexPart numbers but for the last
	partial    section
	rows       func(x, y []T)
	lines      sync.Pool
	loop       *parallelLoop
}

// Complex numbers in a line of sums, and in a part of a row, which is a task of its own: the order of sums depends on the length alone.
const (
	complexLine = 64
	complexPart = 1 << 14
)

// mostComplexTerms is how many numbers of a row are added one by one.
const mostComplexTerms = 16

// reduceComplex serves sums of complex numbers.
func reduceComplex(s *site) (runtime.Bound, bool) {
	op, t, ok := s.foldOp()
	if !ok || op != hlo.OpAdd {
		return runtime.Bound{}, false
	}
	switch t {
	case hlo.C64:
		return complexSumsOf[float32](s)
	case hlo.C128:
		return complexSumsOf[float64](s)
	}
	return runtime.Bound{}, false
}

func complexSumsOf[T float32 | float64](s *site) (runtime.Bound, bool) {
	var l reduceLayout
	l.layOut(s.shape(0).Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions)
	if s.shape(0).NumElements() == 0 {
		return runtime.Bound{}, false
	}
	if !l.inner {
		return complexColumns[T](s)
	}
	if !l.isContiguous() {
		return runtime.Bound{}, false
	}
	r := &complexSums[T]{units: l.units, run: l.run, parts: (l.run-1)/complexPart + 1, rows: foldOf[T](hlo.OpAdd).rows}
	r.lines.New = func() any { return new([2 * complexLine]T) }
	r.loop = newParallelLoop(r.tasks)
	var scratch scratchPlan
	tasks, grain := r.units, 1+reduceGrain/(2*r.run)
	if r.parts > 1 {
		r.partial = scratch.take(int64(r.units * r.parts * s.in.Shape().Type().ByteSize()))
		tasks *= r.parts
	}
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		r.loop.run(f, tasks, grain)
		if r.parts > 1 {
			r.merge(f)
		}
		return nil
	}, Scratch: scratch.size}, true
}

// complexColumns adds up rows element by element: as rows of twice as many real numbers, from an initial value both of whose parts are the same.
func complexColumns[T float32 | float64](s *site) (runtime.Bound, bool) {
	r, e := &reduction[T]{fold: foldOf[T](hlo.OpAdd)}, &reduceEnds{t: s.in.Shape().Type()}
	r.layOut(append(slices.Clone(s.shape(0).Dimensions()), 2), hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions)
	first := s.in.OperandInstr(1).Literal()
	if first == nil || first.IsElided() || !e.plan(s, operandsOf(s.in)) {
		return runtime.Bound{}, false
	}
	if parts := elems[T](first.Bytes()); !bytes.Equal(bytesOf(parts[:1]), bytesOf(parts[1:])) {
		return runtime.Bound{}, false
	}
	r.init, r.out, r.in = e.init, e.out, place{kind: inInput, index: 0}
	r.divide()
	r.takeRows(r.fold.list, sizeOf(*new(T)))
	return r.bound(e, 2*int(s.shape(0).NumElements())), true
}

// tasks computes parts [lo, hi) of all rows.
func (r *complexSums[T]) tasks(f *runtime.TensorFrame, lo, hi int) {
	x, y, init := elems[T](f.In(0).Data), elems[T](f.Out(0).Data), elems[T](f.In(1).Data)
	if r.parts > 1 {
		y = elems[T](r.partial.of(f))
	}
	if r.run <= mostComplexTerms {
		for u := lo; u < hi; u++ {
			re, im := init[0], init[1]
			for row := x[2*u*r.run:][:2*r.run]; len(row) >= 2; row = row[2:] {
				re, im = re+row[0], im+row[1]
			}
			y[2*u], y[2*u+1] = re, im
		}
		return
	}
	line := r.lines.Get().(*[2 * complexLine]T)
	for task := lo; task < hi; task++ {
		u, part := task/r.parts, task%r.parts
		row := x[2*u*r.run:][:2*r.run]
		row = row[2*part*complexPart : 2*min(r.run, (part+1)*complexPart)]
		re, im := r.sum(row, line)
		if r.parts == 1 {
			re, im = init[0]+re, init[1]+im
		}
		y[2*task], y[2*task+1] = re, im
	}
	r.lines.Put(line)
}

// sum adds up the numbers of a row.
func (r *complexSums[T]) sum(row []T, line *[2 * complexLine]T) (re, im T) {
	n := len(line)
	for n > 2 && n > len(row) {
		n /= 2
	}
	sums := line[:n]
	copy(sums, row)
	for row = row[n:]; len(row) >= n; row = row[n:] {
		r.rows(sums, row[:n])
	}
	if len(row) > 0 {
		r.rows(sums[:len(row)], row)
	}
	for ; n > 2*shortRun; n /= 2 {
		r.rows(sums[:n/2], sums[n/2:n])
	}
	for ; n > 2; n /= 2 {
		for i, v := range sums[n/2 : n] {
			sums[i] += v
		}
	}
	return sums[0], sums[1]
}

// merge adds up the parts of each row.
func (r *complexSums[T]) merge(f *runtime.TensorFrame) {
	y, init, partial := elems[T](f.Out(0).Data), elems[T](f.In(1).Data), elems[T](r.partial.of(f))
	for u := range r.units {
		re, im := init[0], init[1]
		for p := range r.parts {
			at := 2 * (u*r.parts + p)
			re, im = re+partial[at], im+partial[at+1]
		}
		y[2*u], y[2*u+1] = re, im
	}
}
