package fourier

import "math"

// Real is how lines of 2n real numbers are transformed: two neighbours are one complex number, and n of these are half the work. What they become is taken
// apart into the transforms of the even and of the odd numbers, from which follows that of all: the first n+1 elements, whose conjugates are the rest.
type Real[T Float] struct {
	half                *Plan[T]
	halves              func(n int, dst, src, twiddles, constants []T)
	twiddles, constants []T
	back                []T // the twiddles of the way back
}

// NewReal makes a plan for lines of an even number of real numbers.
func NewReal[T Float](numbers int) (*Real[T], bool) { return newReal(numbers, best[T]()) }

func newReal[T Float](numbers int, v vectors[T]) (*Real[T], bool) {
	if numbers < 2 || numbers%2 != 0 {
		return nil, false
	}
	half, ok := newPlan(numbers/2, v)
	if !ok {
		return nil, false
	}
	r := &Real[T]{half: half, halves: v.halves, constants: []T{1, 0.5}}
	for k := range half.n/2 + 1 { // roots, halved, over the imaginary unit
		sin, cos := math.Sincos(2 * math.Pi * (float64(k) / float64(numbers)))
		r.twiddles = append(r.twiddles, T(-sin/2), T(-cos/2))
		r.back = append(r.back, T(-sin/2), T(cos/2))
	}
	if r.halves == nil {
		r.halves = halvesOf[T](v.lanes)
	}
	return r, true
}

// Lanes is how many lines are transformed together.
func (r *Real[T]) Lanes() int { return r.half.lanes }

// Len is the length of a buffer.
func (r *Real[T]) Len() int { return max(r.half.Len(), 2*r.half.lanes*(r.half.n+1)) }

// Transform transforms the lines in a, and returns the buffer that holds the result: a or b, the other of which is overwritten.
func (r *Real[T]) Transform(a, b []T) []T {
	if y := r.half.Transform(a, b); &y[0] == &b[0] {
		a, b = b, a
	}
	n, row := r.half.n, 2*r.half.lanes
	copy(a[row*n:][:row], a[:row])
	r.halves(n, b, a, r.twiddles, r.constants)
	return b
}

// InverseReal is the way back: from the first n+1 elements of lines with conjugate symmetry, whose first and last are real, to 2n real numbers. The elements are taken
// apart into the transforms of the even and of the odd numbers, and these together are that of neighbours as one complex number.
type InverseReal[T Float] struct{ *Real[T] }

// NewInverseReal makes a plan for lines of an even number of real numbers.
func NewInverseReal[T Float](numbers int) (InverseReal[T], bool) {
	r, ok := NewReal[T](numbers)
	return InverseReal[T]{r}, ok
}

// Transform transforms the lines in a, and returns the buffer that holds the result, in order and divided: a or b, the other of which is overwritten.
func (r InverseReal[T]) Transform(a, b []T) []T {
	r.halves(r.half.n, b, a, r.back, r.constants)
	y := r.half.Transform(b, a)
	r.half.Backwards(y, 1)
	return y
}

// halvesOf is the assembly in Go.
func halvesOf[T Float](lanes int) func(n int, dst, src, twiddles, constants []T) {
	return func(n int, dst, src, twiddles, _ []T) {
		row := 2 * lanes
		for k := range n/2 + 1 {
			c, s := twiddles[2*k], twiddles[2*k+1]
			for i := 0; i < row; i += 2 {
				p, q := k*row+i, (n-k)*row+i
				evenRe, evenIm := (src[p]+src[q])/2, (src[p+1]-src[q+1])/2
				oddRe, oddIm := src[p]-src[q], src[p+1]+src[q+1]
				re, im := oddRe*c-oddIm*s, oddRe*s+oddIm*c
				dst[p], dst[p+1] = evenRe+re, evenIm+im
				dst[q], dst[q+1] = evenRe-re, im-evenIm
			}
		}
	}
}
