package factor

import (
	"math"

	"gonum.org/v1/gonum/lapack/gonum"
)

// bidiagonalQR finds singular values of real upper bidiagonal matrices, and rotates the rows of left and right as it does so.
type bidiagonalQR[R Float] struct{ left, right rotator[R] }

// run replaces d by the singular values of the matrix with diagonal d and e above it, up to their signs and in no order, and e by zeros. What is small beside
// the largest element is dropped: the reduction has made errors of that size.
func (f *bidiagonalQR[R]) run(d, e []float64) bool {
	scale, ok := normalise(d, e)
	if !ok {
		return false
	}
	budget := sweepsPerValue * len(d)
	var block span
	for last := len(d) - 1; last > 0; {
		first := last
		for first > 0 && math.Abs(e[first-1]) > unit/2 {
			first--
		}
		if first > 0 {
			e[first-1] = 0
		}
		if first == last {
			last--
			continue
		}
		if budget--; budget < 0 {
			return false
		}
		if block.leaves(first, last) { // values are found first at the end where they are small
			block = span{first, last, math.Abs(d[first]) < math.Abs(d[last])}
		}
		if block.upwards {
			f.left.begin(last, -1)
			f.right.begin(last, -1)
			bidiagonalStep(d, e, last, -1, last-first, &f.left, &f.right)
		} else {
			f.left.begin(first, 1)
			f.right.begin(first, 1)
			bidiagonalStep(d, e, first, 1, last-first, &f.right, &f.left)
		}
	}
	for i := range d {
		d[i] *= scale
	}
	return true
}

// bidiagonalStep is an implicit step on the block of count+1 values that begins at place from and goes in direction step. The block is upper bidiagonal if it goes
// down. If it goes up it is seen as transposed and reversed, which exchanges left and right: near is rotated first, then far.
func bidiagonalStep[R Float](d, e []float64, from, step, count int, near, far *rotator[R]) {
	at := func(i int) *float64 { return &d[from+step*i] }
	beside := func(i int) *float64 { return &e[from+step*i+(step-1)/2] } // what is beside elements i and i+1
	shift := shiftFor(at, beside, count)
	if shift == 0 { // a form that keeps small values, and is done with one that is zero
		c, oldC, oldS := 1.0, 1.0, 0.0
		for i := range count {
			var s, r float64
			c, s, r = givens(*at(i)*c, *beside(i))
			if i > 0 {
				*beside(i - 1) = oldS * r
			}
			oldC, oldS, *at(i) = givens(oldC*r, *at(i + 1)*s)
			near.add(c, s)
			far.add(oldC, oldS)
		}
		h := *at(count) * c
		*at(count), *beside(count - 1) = h*oldC, h*oldS
		return
	}
	d0 := *at(0)
	f := (math.Abs(d0) - shift) * (math.Copysign(1, d0) + shift/d0)
	g := *beside(0)
	for i := range count {
		c, s, r := givens(f, g)
		if i > 0 {
			*beside(i - 1) = r
		}
		x, y, z := *at(i), *beside(i), *at(i + 1)
		f, y = c*x+s*y, c*y-s*x
		g, z = s*z, c*z
		near.add(c, s)
		c, s, *at(i) = givens(f, g)
		f, *at(i + 1) = c*y+s*z, c*z-s*y
		if i+1 < count {
			next := *beside(i + 1)
			g, *beside(i + 1) = s*next, c*next
		}
		far.add(c, s)
	}
	*beside(count - 1) = f
}

// shiftFor is the smaller singular value of the far end of a block, or 0 where a shift would do harm.
func shiftFor(at, beside func(int) *float64, count int) float64 {
	for i := range count + 1 {
		if math.Abs(*at(i)) <= unit {
			return 0
		}
	}
	var l gonum.Implementation
	shift, _ := l.Dlas2(*at(count - 1), *beside(count - 1), *at(count))
	if ratio := shift / math.Abs(*at(0)); ratio*ratio < unit {
		return 0
	}
	return shift
}
