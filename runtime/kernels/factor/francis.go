package factor

import (
	"math"

	"gonum.org/v1/gonum/lapack/gonum"
)

// francis finds the eigenvalues of real Hessenberg matrices H by implicit double-shift QR steps, as LAPACK's dlahqr does: it takes the same shifts, starts and ends steps where
// that does and reflects as that does, so that eigenvalues come in the same order and vectors with the same signs.
//
// A step sends a bulge of three rows down the diagonal, by reflectors I - t·v·vᵀ of three elements each. Rows lie together, and so do the columns of the accumulated
// orthogonal matrix Z, which is kept transposed: one loop reflects both.
type francis struct {
	n, stride int
	h, z      []float64 // n+1 rows each
	vectors   bool
	bulge     [3]float64
	now       reflection // here, as a call of reflect would make it escape
	reflect   reflectLoop
}

// reflection is one of three elements, the first of which is 1: the others, and the factor times each.
type reflection struct{ v1, v2, t0, t1, t2 float64 }

// lanes is what the elements of a row that are reflected are a multiple of: those of the longest vector.
const lanes = 8

// start takes the matrix, of which it reads H.
func (f *francis) start(n int, a []float64) {
	if f.reflect == nil {
		f.reflect = bestReflect()
	}
	f.n, f.stride, f.vectors = n, (n+2*lanes-1)/lanes*lanes, false
	if f.stride/lanes%2 == 0 { // columns an even number of lines apart fall on fewer lines of the cache
		f.stride += lanes
	}
	f.h = grown(f.h, (n+1)*f.stride)
	clear(f.h[:(n+1)*f.stride])
	for i := range n {
		from := max(0, i-1)
		copy(f.h[i*f.stride+from:], a[i*n+from:(i+1)*n])
	}
}

// startVectors begins with Z = Q.
func (f *francis) startVectors(q []float64) {
	f.vectors = true
	f.z = grown(f.z, (f.n+1)*f.stride)
	clear(f.z[:(f.n+1)*f.stride])
	transpose(f.z, q, f.n, f.n, f.stride, f.n)
}

// finish writes the triangle.
func (f *francis) finish(t []float64) {
	for i := range f.n {
		copy(t[i*f.n:][:f.n], f.h[i*f.stride:])
	}
}

// finishVectors writes Z.
func (f *francis) finishVectors(q []float64) { transpose(q, f.z, f.n, f.n, f.n, f.stride) }

// Constants of dlahqr: the unit of rounding times the base, the least number whose inverse is finite, after how many steps without a result the shift is another, and
// what that consists of.
const (
	ulp         = 0x1p-52
	leastNormal = 0x1p-1022
	exceptional = 10
	shiftHere   = 0.75
	shiftBeside = -0.4375
)

// run finds the eigenvalues of rows lo to hi; the rest of the matrix is triangular.
func (f *francis) run(lo, hi int, re, im []float64) bool {
	s := f.stride
	for i := range f.n {
		if i < lo || i > hi {
			re[i], im[i] = f.h[i*s+i], 0
		}
	}
	small := leastNormal * float64(hi-lo+1) / ulp
	most := 30 * max(10, hi-lo+1)
	for last := hi; last >= lo; {
		first, steps := lo, 0
		for {
			if first = f.split(lo, first, last, hi, small); first >= last-1 {
				break
			}
			if steps++; steps > most {
				return false
			}
			f.step(first, last, f.shifts(first, last, steps))
		}
		if first == last {
			re[last], im[last] = f.h[last*s+last], 0
		} else {
			f.pair(last-1, re, im)
		}
		last = first - 1
	}
	return true
}

// split is the first row of the block that ends in row last, where an element beside the diagonal is small by the test of Ahues and Tisseur (LAPACK Working Note 122), and is made zero.
func (f *francis) split(lo, first, last, hi int, small float64) int {
	h, s := f.h, f.stride
	k := last
	for ; k > first; k-- {
		at := k*s + k
		below := math.Abs(h[at-1])
		if below <= small {
			break
		}
		d0, d1 := h[at-s-1], h[at]
		sum := math.Abs(d0) + math.Abs(d1)
		if sum == 0 {
			if k-2 >= lo {
				sum += math.Abs(h[at-s-2])
			}
			if k+1 <= hi {
				sum += math.Abs(h[at+s])
			}
		}
		if below > ulp*sum {
			continue
		}
		above, d1, between := math.Abs(h[at-s]), math.Abs(d1), math.Abs(d0-d1)
		ab, ba, aa, bb := max(below, above), min(below, above), max(d1, between), min(d1, between)
		total := aa + ab
		if ab/total*ba <= max(small, aa/total*bb*ulp) {
			break
		}
	}
	if k > lo {
		h[k*s+k-1] = 0
	}
	return k
}

// shiftPair is two shifts: a conjugate pair, or one real number twice.
type shiftPair struct{ re, im float64 }

// shifts are the eigenvalues of the last two rows, or the real one nearer to the last element twice; now and then others, which end cycles.
func (f *francis) shifts(first, last, steps int) shiftPair {
	h, s := f.h, f.stride
	at := last*s + last
	var h11, h21, h12, h22 float64
	switch {
	case steps%(2*exceptional) == 0:
		size := math.Abs(h[at-1]) + math.Abs(h[at-s-2])
		h11, h12, h21 = shiftHere*size+h[at], shiftBeside*size, size
		h22 = h11
	case steps%exceptional == 0:
		at := first*s + first
		size := math.Abs(h[at+s]) + math.Abs(h[at+2*s+1])
		h11, h12, h21 = shiftHere*size+h[at], shiftBeside*size, size
		h22 = h11
	default:
		h11, h21, h12, h22 = h[at-s-1], h[at-1], h[at-s], h[at]
	}
	size := math.Abs(h11) + math.Abs(h12) + math.Abs(h21) + math.Abs(h22)
	if size == 0 {
		return shiftPair{}
	}
	h11, h21, h12, h22 = h11/size, h21/size, h12/size, h22/size
	middle := (h11 + h22) / 2
	det := (h11-middle)*(h22-middle) - h12*h21
	root := math.Sqrt(math.Abs(det))
	if det >= 0 {
		return shiftPair{middle * size, root * size}
	}
	if math.Abs(middle+root-h22) <= math.Abs(middle-root-h22) {
		return shiftPair{re: (middle + root) * size}
	}
	return shiftPair{re: (middle - root) * size}
}

// step is one on rows first to last, at least three.
func (f *francis) step(first, last int, shift shiftPair) {
	h, s := f.h, f.stride
	from := f.begin(first, last, shift)
	top, width := first, last
	if f.vectors {
		top, width = 0, f.n-1
	}
	for k := from; k < last; k++ {
		at := k*s + k
		isThree := k < last-1
		x := f.bulge[:min(3, last-k+1)]
		if k > from {
			for i := range x {
				x[i] = h[at+i*s-1]
			}
		}
		r := &f.now
		beta := f.reflection(x)
		if k > from {
			h[at-1], h[at+s-1] = beta, 0
			if isThree {
				h[at+2*s-1] = 0
			}
		} else if k > first { // beta would be wrong where the rest of the reflector vanishes
			h[at-1] *= 1 - r.t0
		}
		count := (width - k + lanes) / lanes * lanes
		f.reflect(r, count, h[at:], h[at+s:], h[at+2*s:][:count])
		if isThree {
			reflectThree(r, h[top*s+k:], s, min(k+3, last)-top+1)
		} else {
			reflectTwo(r, h[top*s+k:], s, last-top+1)
		}
		if f.vectors {
			count := (f.n + lanes - 1) / lanes * lanes
			f.reflect(r, count, f.z[k*s:], f.z[(k+1)*s:], f.z[(k+2)*s:])
		}
	}
}

// begin is the row where a step begins, which is below the first if two elements beside the diagonal are small together. It makes the bulge there.
func (f *francis) begin(first, last int, shift shiftPair) int {
	h, s := f.h, f.stride
	for row := last - 2; ; row-- {
		at := row*s + row
		d0, d1, below := h[at], h[at+s+1], h[at+s]
		size := math.Abs(d0-shift.re) + math.Abs(shift.im) + math.Abs(below)
		below /= size
		x := below*h[at+1] + (d0-shift.re)*((d0-shift.re)/size) + shift.im*(shift.im/size)
		y := below * (d0 + d1 - shift.re - shift.re)
		z := below * h[at+2*s+1]
		size = math.Abs(x) + math.Abs(y) + math.Abs(z)
		x, y, z = x/size, y/size, z/size
		f.bulge = [3]float64{x, y, z}
		if row == first {
			return row
		}
		sum := math.Abs(h[at-s-1]) + math.Abs(d0) + math.Abs(d1)
		if math.Abs(h[at-1])*(math.Abs(y)+math.Abs(z)) <= ulp*math.Abs(x)*sum {
			return row
		}
	}
}

// reflection makes the one that takes x to (beta, 0, 0), or (beta, 0) if x has two elements. It rounds as LAPACK's dlarfg does: where an element that is nothing but the
// errors of rounding decides the sign of beta, a vector would else have another sign.
func (f *francis) reflection(x []float64) (beta float64) {
	r := reflection{v1: x[1]}
	if len(x) == 3 {
		r.v2 = x[2]
	}
	if rest := hypot(r.v1, r.v2); rest != 0 {
		beta = -math.Copysign(hypot(x[0], rest), x[0])
		scale := 1 / (x[0] - beta)
		r.t0, r.v1, r.v2 = (beta-x[0])/beta, r.v1*scale, r.v2*scale
		if math.Abs(beta) < leastNormal/ulp { // whose inverse may be infinite
			var l gonum.Implementation
			beta, r.t0 = l.Dlarfg(len(x), x[0], x[1:], 1)
			r.v1 = x[1]
			if len(x) == 3 {
				r.v2 = x[2]
			}
		}
		r.t1, r.t2 = r.t0*r.v1, r.t0*r.v2
	} else {
		beta = x[0]
	}
	f.now = r
	return beta
}

// hypot is math.Hypot of finite numbers, without a call.
func hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if x == 0 {
		return 0
	}
	q := y / x
	return x * math.Sqrt(1+float64(q*q))
}

// reflectThree reflects three columns, which begin at h[0].
func reflectThree(c *reflection, h []float64, stride, rows int) {
	v1, v2, t0, t1, t2 := c.v1, c.v2, c.t0, c.t1, c.t2
	for at := 0; rows > 0; rows-- {
		x := (*[3]float64)(h[at:])
		sum := x[0] + v1*x[1] + v2*x[2]
		x[0] -= sum * t0
		x[1] -= sum * t1
		x[2] -= sum * t2
		at += stride
	}
}

// reflectTwo reflects two columns.
func reflectTwo(c *reflection, h []float64, stride, rows int) {
	for at := 0; rows > 0; rows-- {
		x := (*[2]float64)(h[at:])
		sum := x[0] + c.v1*x[1]
		x[0] -= sum * c.t0
		x[1] -= sum * c.t1
		at += stride
	}
}

// pair brings rows k and k+1, a block of their own, to standard form: equal elements on the diagonal, or a triangle.
func (f *francis) pair(k int, re, im []float64) {
	h, s := f.h, f.stride
	at := k*s + k
	var l gonum.Implementation
	var c, sn float64
	h[at], h[at+1], h[at+s], h[at+s+1], re[k], im[k], re[k+1], im[k+1], c, sn = l.Dlanv2(h[at], h[at+1], h[at+s], h[at+s+1])
	if !f.vectors {
		return
	}
	rotate := func(x, y []float64) {
		for i, a := range x {
			b := y[i]
			x[i], y[i] = c*a+sn*b, c*b-sn*a
		}
	}
	rotate(h[at+2:k*s+f.n], h[at+s+2:])
	rotate(f.z[k*s:][:f.n], f.z[(k+1)*s:])
	for i := range k {
		x := (*[2]float64)(h[i*s+k:])
		x[0], x[1] = c*x[0]+sn*x[1], c*x[1]-sn*x[0]
	}
}
