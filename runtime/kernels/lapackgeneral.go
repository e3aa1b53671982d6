package kernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/factor"
)

// geevAs is LAPACK's geev of real matrices: A → (real and imaginary parts of w, left and right eigenvectors, info), in float64. Vectors that the call does
// not want are zero. Matrices that are not finite, or whose iteration comes to no end, are the evaluator's.
func geevAs[R float32 | float64, C complex64 | complex128](s *site) (runtime.Bound, bool) {
	m, ok := batchOf(s.shape(0))
	r := s.in.Shape()
	if !ok || !m.isSquare() || s.in.NumOperands() != 1 || !r.IsTuple() || r.NumElems() != 5 || !hasElements[R](r.Elem(0), m.batch*m.rows) ||
		!hasElements[R](r.Elem(1), m.batch*m.rows) || !hasElements[C](r.Elem(2), m.batch*m.len()) || !hasElements[C](r.Elem(3), m.batch*m.len()) || !infoFollows(r, 4, m.batch) {
		return runtime.Bound{}, false
	}
	left, right := lapackOption(s.in, "compute_left", 'V') == 'V', lapackOption(s.in, "compute_right", 'V') == 'V'
	n := m.rows
	return spectral(s, m.batch, 25*n*n*n, func(w *factor.General, f *runtime.TensorFrame, k int) bool {
		a := w.Start(n)
		for i, x := range elems[R](f.In(0).Data)[k*m.len():][:m.len()] {
			if x-x != 0 {
				return false
			}
			a[i] = float64(x)
		}
		if !w.Factor(left, right) {
			return false
		}
		values, imaginary := w.Values()
		re, im := elems[R](f.Out(0).Data)[k*n:][:n], elems[R](f.Out(1).Data)[k*n:][:n]
		for i := range re {
			re[i], im[i] = R(values[i]), R(imaginary[i])
		}
		vl, vr := w.Vectors()
		vectorsOf(elems[C](f.Out(2).Data)[k*m.len():][:m.len()], vl, imaginary, left)
		vectorsOf(elems[C](f.Out(3).Data)[k*m.len():][:m.len()], vr, imaginary, right)
		return true
	}), true
}

// vectorsOf writes eigenvectors as columns. Of a pair, which comes with its positive imaginary part first, real and imaginary parts lie in two columns.
func vectorsOf[C complex64 | complex128](dst []C, src, imaginary []float64, wanted bool) {
	if !wanted {
		clear(dst)
		return
	}
	n := len(imaginary)
	for j := 0; j < n; j++ {
		if imaginary[j] == 0 {
			for i := j; i < len(dst); i += n {
				dst[i] = C(complex(src[i], 0))
			}
			continue
		}
		for i := j; i < len(dst); i += n {
			dst[i], dst[i+1] = C(complex(src[i], src[i+1])), C(complex(src[i], -src[i+1]))
		}
		j++
	}
}
