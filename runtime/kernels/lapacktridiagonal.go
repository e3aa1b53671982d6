package kernels

import (
	"math"
	"sync"

	"github.com/gohalo/halo/runtime"
)

// gtsvAs is LAPACK's gtsv: (below, diagonal, above, B) → (below, pivots, above, X), with an info that is zero if it is asked for. Elimination, with partial pivoting, is in f64 whatever the type: it
// waits for quotients more than for anything else.
func gtsvAs[T float32 | float64](s *site) (runtime.Bound, bool) {
	r := s.in.Shape()
	if s.in.NumOperands() != 4 || !r.IsTuple() || r.NumElems() < 4 {
		return runtime.Bound{}, false
	}
	m, ok := batchOf(s.shape(3))
	if !ok || !infoFollows(r, 4, m.batch) || int(s.shape(1).NumElements()) != m.batch*m.rows {
		return runtime.Bound{}, false
	}
	for i := range 4 {
		if s.shape(i).Type() != s.shape(0).Type() || !r.Elem(i).EqualIgnoringLayout(s.shape(i)) {
			return runtime.Bound{}, false
		}
	}
	per := int(s.shape(0).NumElements()) / m.batch // of n numbers below the diagonal the first says nothing, and of n above it the last
	if per != m.rows && per != m.rows-1 || int(s.shape(2).NumElements()) != per*m.batch || int(s.shape(0).NumElements()) != per*m.batch {
		return runtime.Bound{}, false
	}
	slow := evaluated(s)
	rooms := sync.Pool{New: func() any { return newTridiagonal(m.rows, m.cols) }}
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		t := rooms.Get().(*tridiagonal)
		for k := lo; k < hi; k++ {
			below, above := elems[T](f.In(0).Data)[k*per:][:per], elems[T](f.In(2).Data)[k*per:][:per]
			fill(t.below, below[per-(m.rows-1):])
			fill(t.pivots, elems[T](f.In(1).Data)[k*m.rows:][:m.rows])
			fill(t.above, above[:m.rows-1])
			fill(t.b, elems[T](f.In(3).Data)[k*m.len():][:m.len()])
			if !t.solve() {
				t.b[0] = math.NaN() // the evaluator says where it ended
			}
			fill(elems[T](f.Out(1).Data)[k*m.rows:][:m.rows], t.pivots)
			fill(elems[T](f.Out(3).Data)[k*m.len():][:m.len()], t.b)
		}
		rooms.Put(t)
	})
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		loop.run(f, m.batch, 1+(1<<12)/m.len())
		if !allFinite(elems[T](f.Out(3).Data)) {
			return slow.Run(f)
		}
		for _, i := range []int{0, 2} {
			copy(f.Out(i).Data, f.In(i).Data)
		}
		if f.NumOut() > 4 {
			clear(f.Out(4).Data)
		}
		return nil
	}}, true
}

// fill converts numbers.
func fill[D, S float32 | float64](dst []D, src []S) {
	for i, x := range src {
		dst[i] = D(x)
	}
}

// tridiagonal is a system of n equations for several right sides, which are columns of b.
type tridiagonal struct {
	cols                 int
	below, pivots, above []float64
	second               []float64 // the diagonal above the one above, which pivoting fills
	b                    []float64
}

func newTridiagonal(n, cols int) *tridiagonal {
	return &tridiagonal{cols: cols, below: make([]float64, n-1), pivots: make([]float64, n), above: make([]float64, n-1), second: make([]float64, n), b: make([]float64, n*cols)}
}

// solve replaces b by the solution. It reports false if a pivot is zero.
func (t *tridiagonal) solve() bool {
	d, u, b, n := t.pivots, t.above, t.b, len(t.pivots)
	clear(t.second)
	for i, low := range t.below {
		here, next := b[i*t.cols:][:t.cols], b[(i+1)*t.cols:][:t.cols]
		if math.Abs(d[i]) >= math.Abs(low) {
			if d[i] == 0 {
				return false
			}
			f := low / d[i]
			d[i+1] -= float64(f * u[i])
			for c := range here {
				next[c] -= float64(f * here[c])
			}
			continue
		}
		f := d[i] / low
		d[i] = low
		d[i+1], u[i] = u[i]-float64(f*d[i+1]), d[i+1]
		if i+2 < n {
			t.second[i], u[i+1] = u[i+1], -f*u[i+1]
		}
		for c := range here {
			here[c], next[c] = next[c], here[c]-float64(f*next[c])
		}
	}
	if d[n-1] == 0 {
		return false
	}
	for i := n - 1; i >= 0; i-- {
		for c := range t.cols {
			x := b[i*t.cols+c]
			if i+1 < n {
				x -= float64(u[i] * b[(i+1)*t.cols+c])
			}
			if i+2 < n {
				x -= float64(t.second[i] * b[(i+2)*t.cols+c])
			}
			b[i*t.cols+c] = x / d[i]
		}
	}
	return true
}
