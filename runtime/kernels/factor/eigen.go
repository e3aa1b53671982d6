package factor

import (
	"math"
	"slices"
)

// Eigen finds the eigenvalues and eigenvectors of Hermitian matrices of T, whose parts are of type R. It keeps memory from one call to the next; the zero
// value is ready.
//
// The matrix is reduced to a tridiagonal one, whose eigenvalues the implicit QL or QR iteration finds in float64. The rotations of that iteration
// are applied to the identity, and the reflectors of the reduction to the result.
type Eigen[T Number, R Float] struct {
	reduction tridiagonal[T]
	iteration tridiagonalQL[R]
	qr        QR[T]
	d, e      []float64
	order     []int
}

// Factor writes the eigenvalues of a, in ascending order, to values[n], and unless vectors is empty the eigenvectors as columns of the row-major vectors[n,n]. It
// reads the lower triangle of a, and may be given the same memory for vectors. It reports false if the matrix is not finite, or the iteration comes to no end.
func (f *Eigen[T, R]) Factor(a Matrix[T], n int, values []R, vectors []T) bool {
	f.d, f.e, f.order = grown(f.d, n), grown(f.e, n), grown(f.order, n)
	d, e, order := f.d[:n], f.e[:n], f.order[:n]
	r := &f.reduction
	r.start(n)
	for i := range n {
		row := r.row(i)
		a.CopyRow(row[:i+1], i, 0)
		row[i] = Real[T](realPart(row[i]))
		for j, x := range row[:i] {
			if x-x != 0 {
				return false
			}
			r.row(j)[i] = conjugate(x)
		}
	}
	r.reduce(d, e)
	var rotations *rotator[R]
	if len(vectors) > 0 {
		rotations = &f.iteration.rotations
		rotations.reset(n)
	}
	if !f.iteration.run(d, e[:n-1], rotations) {
		return false
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		switch {
		case d[x] < d[y]:
			return -1
		case d[x] > d[y]:
			return 1
		}
		return 0
	})
	for i, k := range order {
		values[i] = R(d[k])
	}
	if rotations == nil {
		return true
	}
	rotations.flush()
	out := Dense(vectors, n)
	rotations.columns(order, func(i int, row []R) { setReal(vectors[i*n:][:n], row) })
	if n > 1 {
		f.qr.Multiply(out.From(1, 0), n-1, n, r.v[1:], r.stride, r.taus[:n-1])
	}
	return true
}

// tridiagonalQL finds eigenvalues of real symmetric tridiagonal matrices.
type tridiagonalQL[R Float] struct{ rotations rotator[R] }

// Limits of the iterations: sweeps for each value, and numbers that are zero beside numbers near 1.
const (
	sweepsPerValue = 60
	unit           = 0x1p-53
	tiny           = 0x1p-1000
)

// run replaces d by the eigenvalues of the matrix with diagonal d and e beside it, in no order, and e by zeros. Unless rotations is nil, the
// rotations of the iteration go there.
func (f *tridiagonalQL[R]) run(d, e []float64, rotations *rotator[R]) bool {
	scale, ok := normalise(d, e)
	if !ok {
		return false
	}
	budget := sweepsPerValue * len(d)
	var block span
	for end := len(d) - 1; end > 0; {
		if negligible(e[end-1], d[end-1], d[end]) {
			e[end-1] = 0
			end--
			continue
		}
		first := end - 1
		for first > 0 && !negligible(e[first-1], d[first-1], d[first]) {
			first--
		}
		if first > 0 {
			e[first-1] = 0
		}
		if budget--; budget < 0 {
			return false
		}
		if block.leaves(first, end) { // values are found first at the end where they are small
			block = span{first, end, math.Abs(d[first]) <= math.Abs(d[end])}
		}
		if block.upwards {
			sweepQL(d, e, first, end, rotations)
		} else {
			sweepQR(d, e, first, end, rotations)
		}
	}
	for i := range d {
		d[i] *= scale
	}
	return true
}

// span is a block that an iteration works on, in one direction until nothing of it is left.
type span struct {
	first, last int
	upwards     bool
}

func (s span) leaves(first, last int) bool { return first > s.last || last < s.first || s.last == 0 }

// normalise divides d and e by a power of two, which it returns, so that the largest is near 1.
func normalise(d, e []float64) (scale float64, ok bool) {
	largest := 0.0
	for _, v := range [][]float64{d, e} {
		for _, x := range v {
			if !(math.Abs(x) <= math.MaxFloat64) {
				return 1, false
			}
			largest = max(largest, math.Abs(x))
		}
	}
	if largest == 0 {
		return 1, true
	}
	_, exponent := math.Frexp(largest)
	for _, v := range [][]float64{d, e} {
		for i := range v {
			v[i] = math.Ldexp(v[i], -exponent)
		}
	}
	return math.Ldexp(1, exponent), true
}

func negligible(e, d0, d1 float64) bool {
	return e*e <= unit*unit*math.Abs(d0)*math.Abs(d1)+tiny
}

// wilkinson is the shift that the 2 by 2 matrix with d0 and d1 on the diagonal, and e beside it, asks for at d0.
func wilkinson(d0, e, d1 float64) float64 {
	g := (d1 - d0) / (2 * e)
	return d0 - e/(g+math.Copysign(math.Sqrt(g*g+1), g))
}

// sweepQL is an implicit step from row last up to row first.
func sweepQL[R Float](d, e []float64, first, last int, rotations *rotator[R]) {
	if rotations != nil {
		rotations.begin(last, -1)
	}
	g := d[last] - wilkinson(d[first], e[first], d[first+1])
	s, c, p := 1.0, 1.0, 0.0
	for i := last - 1; i >= first; i-- {
		f, b := s*e[i], c*e[i]
		var r float64
		c, s, r = givens(g, f)
		if i != last-1 {
			e[i+1] = r
		}
		g = d[i+1] - p
		r = (d[i]-g)*s + 2*c*b
		p = s * r
		d[i+1] = g + p
		g = c*r - b
		if rotations != nil {
			rotations.add(c, s)
		}
	}
	d[first] -= p
	e[first] = g
}

// sweepQR is an implicit step from row first down to row last.
func sweepQR[R Float](d, e []float64, first, last int, rotations *rotator[R]) {
	if rotations != nil {
		rotations.begin(first, 1)
	}
	g := d[first] - wilkinson(d[last], e[last-1], d[last-1])
	s, c, p := 1.0, 1.0, 0.0
	for i := first; i < last; i++ {
		f, b := s*e[i], c*e[i]
		var r float64
		c, s, r = givens(g, f)
		if i != first {
			e[i-1] = r
		}
		g = d[i] - p
		r = (d[i+1]-g)*s + 2*c*b
		p = s * r
		d[i] = g + p
		g = c*r - b
		if rotations != nil {
			rotations.add(c, s)
		}
	}
	d[last] -= p
	e[last-1] = g
}

// givens is the rotation with c·f + s·g = r and c·g - s·f = 0, for numbers that are not far above 1.
func givens(f, g float64) (c, s, r float64) {
	switch {
	case g == 0:
		return 1, 0, f
	case f == 0:
		return 0, 1, g
	}
	square := f*f + g*g
	if square < tiny {
		r = math.Hypot(f, g)
	} else {
		r = math.Sqrt(square)
	}
	if math.Abs(f) > math.Abs(g) && f < 0 {
		r = -r
	}
	if square < tiny { // whose inverse may be infinite
		return f / r, g / r, r
	}
	inverse := 1 / r
	return f * inverse, g * inverse, r
}
