package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/factor"
)

// geqrfAs is LAPACK's geqrf: A → (R above reflectors, tau), with an info that is zero if it is asked for.
func geqrfAs[T factor.Number](s *site) (runtime.Bound, bool) {
	m, ok := batchOf(s.shape(0))
	r, k := s.in.Shape(), min(m.rows, m.cols)
	if !ok || k == 0 || !r.IsTuple() || r.NumElems() < 2 || !r.Elem(0).EqualIgnoringLayout(s.shape(0)) ||
		r.Elem(1).Type() != s.shape(0).Type() || r.Elem(1).NumElements() != int64(m.batch*k) || !infoFollows(r, 2, m.batch) {
		return runtime.Bound{}, false
	}
	var zero T
	switch any(zero).(type) {
	case float32:
		if small := newSmallQR[float32](m, k, hlo.F32); small != nil {
			return finiteReflectors[T](s, newParallelLoop(small.factor), small.tasks(), small.grain()), true
		}
	case float64:
		if small := newSmallQR[float64](m, k, hlo.F64); small != nil {
			return finiteReflectors[T](s, newParallelLoop(small.factor), small.tasks(), small.grain()), true
		}
	}
	return reflectors[T](s, m.batch, m.len()*k, func(qr *factor.QR[T], f *runtime.TensorFrame, b int) {
		out := elems[T](f.Out(0).Data)[b*m.len():][:m.len()]
		copy(out, elems[T](f.In(0).Data)[b*m.len():])
		qr.Factor(factor.Dense(out, m.cols), m.rows, m.cols, elems[T](f.Out(1).Data)[b*k:][:k])
	}), true
}

// orgqrAs is LAPACK's orgqr: (A, tau) → the first columns of Q, with an info that is zero if it is asked for.
func orgqrAs[T factor.Number](s *site) (runtime.Bound, bool) {
	if s.in.NumOperands() != 2 || s.shape(1).Type() != s.shape(0).Type() {
		return runtime.Bound{}, false
	}
	m, ok := batchOf(s.shape(0))
	r, first := s.in.Shape(), s.in.Shape()
	if r.IsTuple() && r.NumElems() > 0 {
		first = r.Elem(0)
	}
	taus := int(s.shape(1).NumElements())
	if !ok || m.cols == 0 || m.cols > m.rows || taus%m.batch != 0 || taus/m.batch > m.cols || !first.EqualIgnoringLayout(s.shape(0)) ||
		r.IsTuple() && !infoFollows(r, 1, m.batch) {
		return runtime.Bound{}, false
	}
	k := taus / m.batch
	var zero T
	switch any(zero).(type) {
	case float32:
		if small := newSmallQR[float32](m, k, hlo.F32); small != nil {
			return finiteReflectors[T](s, newParallelLoop(small.expand), small.tasks(), small.grain()), true
		}
	case float64:
		if small := newSmallQR[float64](m, k, hlo.F64); small != nil {
			return finiteReflectors[T](s, newParallelLoop(small.expand), small.tasks(), small.grain()), true
		}
	}
	return reflectors[T](s, m.batch, m.len()*m.cols, func(qr *factor.QR[T], f *runtime.TensorFrame, b int) {
		out, in := elems[T](f.Out(0).Data)[b*m.len():][:m.len()], elems[T](f.In(0).Data)[b*m.len():][:m.len()]
		qr.Expand(factor.Dense(out, m.cols), factor.Dense(in, m.cols), m.rows, m.cols, elems[T](f.In(1).Data)[b*k:][:k])
	}), true
}

// ormqrAs is LAPACK's ormqr from the left: (A, taus, C) → Q·C, or Qᴴ·C, with an info if wanted.
func ormqrAs[T factor.Number](s *site) (runtime.Bound, bool) {
	left, says := hlo.LapackFlag(s.in, "left")
	adjoint, saysAdjoint := hlo.LapackFlag(s.in, "transpose")
	if !left || !says || !saysAdjoint || s.in.NumOperands() != 3 || s.shape(1).Type() != s.shape(0).Type() || s.shape(2).Type() != s.shape(0).Type() {
		return runtime.Bound{}, false
	}
	a, ok := batchOf(s.shape(0))
	c, okC := batchOf(s.shape(2))
	r, first := s.in.Shape(), s.in.Shape()
	if r.IsTuple() && r.NumElems() > 0 {
		first = r.Elem(0)
	}
	taus := int(s.shape(1).NumElements())
	if !ok || !okC || a.batch != c.batch || a.rows != c.rows || taus%a.batch != 0 || taus/a.batch > min(a.rows, a.cols) || !first.EqualIgnoringLayout(s.shape(2)) ||
		r.IsTuple() && !infoFollows(r, 1, a.batch) {
		return runtime.Bound{}, false
	}
	k := taus / a.batch
	return reflectors[T](s, a.batch, c.len()*max(1, k), func(qr *factor.QR[T], f *runtime.TensorFrame, b int) {
		out, in := elems[T](f.Out(0).Data)[b*c.len():][:c.len()], elems[T](f.In(0).Data)[b*a.len():][:a.len()]
		copy(out, elems[T](f.In(2).Data)[b*c.len():])
		qr.Apply(factor.Dense(out, c.cols), factor.Dense(in, a.cols), a.rows, c.cols, elems[T](f.In(1).Data)[b*k:][:k], adjoint)
	}), true
}

// reflectors runs a step of a QR factorisation on each matrix of a batch.
func reflectors[T factor.Number](s *site, batch, work int, step func(qr *factor.QR[T], f *runtime.TensorFrame, b int)) runtime.Bound {
	workers := sync.Pool{New: func() any { return new(factor.QR[T]) }}
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		qr := workers.Get().(*factor.QR[T])
		for b := lo; b < hi; b++ {
			step(qr, f, b)
		}
		workers.Put(qr)
	})
	return finiteReflectors[T](s, loop, batch, 1+(1<<15)/(1+work))
}

// finiteReflectors is a kernel that runs a loop. Results that are not finite are the evaluator's.
func finiteReflectors[T factor.Number](s *site, loop *parallelLoop, tasks, grain int) runtime.Bound {
	slow := evaluated(s)
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		loop.run(f, tasks, grain)
		if !allFinite(elems[T](f.Out(0).Data)) {
			return slow.Run(f)
		}
		for i := range f.NumOut() {
			if d := f.Out(i); d.Type == uint8(hlo.S32) {
				clear(d.Data)
			}
		}
		return nil
	}}
}

// infoFollows reports whether the results from i on are at most an info for each matrix of a batch.
func infoFollows(r hlo.Shape, i, batch int) bool {
	return r.NumElems() == i || r.NumElems() == i+1 && r.Elem(i).Type() == hlo.S32 && r.Elem(i).NumElements() == int64(batch)
}
