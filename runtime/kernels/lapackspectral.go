package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/factor"
)

// Eigenvalues and singular values. What an iteration cannot do, or is not finite, is the evaluator's.

// syevdAs is LAPACK's syevd: A → (V, w, info). Without vectors V is A.
func syevdAs[T factor.Number, R factor.Float](s *site) (runtime.Bound, bool) {
	m, ok := batchOf(s.shape(0))
	r := s.in.Shape()
	if !ok || m.rows != m.cols || s.in.NumOperands() != 1 || !r.IsTuple() || r.NumElems() != 3 || !r.Elem(0).EqualIgnoringLayout(s.shape(0)) ||
		!hasElements[R](r.Elem(1), m.batch*m.rows) || !infoFollows(r, 2, m.batch) {
		return runtime.Bound{}, false
	}
	n, lower, wanted := m.rows, lapackOption(s.in, "uplo", 'L') == 'L', lapackOption(s.in, "mode", 'V') == 'V'
	return spectral(s, m.batch, 4*n*n*n, func(f *factor.Eigen[T, R], frame *runtime.TensorFrame, k int) bool {
		in, out := elems[T](frame.In(0).Data)[k*n*n:][:n*n], elems[T](frame.Out(0).Data)[k*n*n:][:n*n]
		values := elems[R](frame.Out(1).Data)[k*n:][:n]
		a := factor.Dense(in, n)
		if !lower {
			a = a.Adjoint()
		}
		if wanted {
			return f.Factor(a, n, values, out)
		}
		copy(out, in)
		return f.Factor(a, n, values, nil)
	}), true
}

// gesddAs is LAPACK's gesdd: A → (A, s, U, Vᴴ, info). Without vectors U and Vᴴ are zero.
func gesddAs[T factor.Number, R factor.Float](s *site) (runtime.Bound, bool) {
	m, ok := batchOf(s.shape(0))
	r := s.in.Shape()
	k := min(m.rows, m.cols)
	if !ok || s.in.NumOperands() != 1 || !r.IsTuple() || r.NumElems() != 5 || !r.Elem(0).EqualIgnoringLayout(s.shape(0)) ||
		!hasElements[R](r.Elem(1), m.batch*k) || !infoFollows(r, 4, m.batch) {
		return runtime.Bound{}, false
	}
	u, ok := batchOf(r.Elem(2))
	v, ok2 := batchOf(r.Elem(3))
	wanted := lapackOption(s.in, "mode", 'S') != 'N'
	if !ok || !ok2 || r.Elem(2).Type() != s.shape(0).Type() || r.Elem(3).Type() != s.shape(0).Type() || u.batch != m.batch || v.batch != m.batch ||
		u.rows != m.rows || v.cols != m.cols || wanted && (u.cols < k || u.cols > m.rows || v.rows < k || v.rows > m.cols) {
		return runtime.Bound{}, false
	}
	// Of a matrix with more columns than rows the adjoint is decomposed, and so are the results exchanged.
	isWide := m.cols > m.rows
	tall, columns := max(m.rows, m.cols), u.cols
	if isWide {
		columns = v.rows
	}
	if wanted && (u.cols != k && u.cols != m.rows || v.rows != k && v.rows != m.cols) {
		return runtime.Bound{}, false
	}
	type worker struct {
		f     factor.Singular[T, R]
		u, vh []T
	}
	return spectral(s, m.batch, 8*m.len()*k, func(w *worker, f *runtime.TensorFrame, b int) bool {
		in := elems[T](f.In(0).Data)[b*m.len():][:m.len()]
		values := elems[R](f.Out(1).Data)[b*k:][:k]
		left, right := elems[T](f.Out(2).Data)[b*u.len():][:u.len()], elems[T](f.Out(3).Data)[b*v.len():][:v.len()]
		a := factor.Dense(in, m.cols)
		if isWide {
			a = a.Adjoint()
		}
		ok := true
		switch {
		case !wanted:
			ok = w.f.Factor(a, tall, k, values, nil, 0, nil)
			clear(left)
			clear(right)
		case isWide:
			if len(w.u) == 0 {
				w.u, w.vh = make([]T, tall*columns), make([]T, k*k)
			}
			if ok = w.f.Factor(a, tall, k, values, w.u, columns, w.vh); ok {
				copyAdjoint(right, w.u, tall, columns)
				copyAdjoint(left, w.vh, k, k)
			}
		default:
			ok = w.f.Factor(a, tall, k, values, left, columns, right)
		}
		if out := elems[T](f.Out(0).Data)[b*m.len():][:m.len()]; &out[0] != &in[0] {
			copy(out, in)
		}
		return ok
	}), true
}

// copyAdjoint writes the adjoint of src[m,n].
func copyAdjoint[T factor.Number](dst, src []T, m, n int) {
	a := factor.Dense(src, n).Adjoint()
	for i := range n {
		a.CopyRow(dst[i*m:][:m], i, 0)
	}
}

// spectral decomposes each matrix of a batch, with a worker for each goroutine. The last result is the info of each, which says at first which failed.
func spectral[W any](s *site, batch, work int, decompose func(w *W, f *runtime.TensorFrame, k int) bool) runtime.Bound {
	slow := evaluated(s)
	workers := sync.Pool{New: func() any { return new(W) }}
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		w := workers.Get().(*W)
		info := elems[int32](f.Out(f.NumOut() - 1).Data)
		for k := lo; k < hi; k++ {
			info[k] = 0
			if !decompose(w, f, k) {
				info[k] = 1
			}
		}
		workers.Put(w)
	})
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		loop.run(f, batch, 1+(1<<15)/(1+work))
		for _, failed := range elems[int32](f.Out(f.NumOut() - 1).Data) {
			if failed != 0 {
				return slow.Run(f)
			}
		}
		return nil
	}}
}

// hasElements reports whether an array has n elements of type T.
func hasElements[T factor.Number](s hlo.Shape, n int) bool {
	var zero T
	want := hlo.F64
	switch any(zero).(type) {
	case float32:
		want = hlo.F32
	case complex64:
		want = hlo.C64
	case complex128:
		want = hlo.C128
	}
	return s.IsArray() && s.Type() == want && s.NumElements() == int64(n)
}
