package factor

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// General finds eigenvalues and eigenvectors of real matrices as LAPACK's dgeev does, in its order and with its signs. It keeps memory from one call to the next; the
// zero value is ready.
//
//  1. The matrix is scaled if its elements are near the ends of the range, and balanced.
//  2. It is reduced to Hessenberg form, H, by the matrix Q.
//  3. The implicit double-shift iteration makes H triangular but for blocks of two rows, and rotates Q as it does so.
//  4. Substitution in that triangle gives eigenvectors, which become those of the matrix, of length 1, the largest element of each real.
//
// Steps 1 and 2 and the substitution are gonum's translation of LAPACK; the iteration, which takes most of the time and in gonum allocates, is ours.
type General struct {
	n                   int
	a                   []float64
	iteration           francis
	balance, tau, work  []float64
	re, im, left, right []float64
}

// Start makes room for a matrix of n rows, which the caller writes to the slice it returns, row by row.
func (f *General) Start(n int) []float64 {
	f.n, f.a = n, grown(f.a, n*n)
	f.re, f.im, f.balance, f.tau, f.work = grown(f.re, n), grown(f.im, n), grown(f.balance, n), grown(f.tau, n), grown(f.work, 3*n)
	return f.a[:n*n]
}

// Values are the real and imaginary parts of the eigenvalues. Of a pair the one with the positive imaginary part comes first.
func (f *General) Values() (re, im []float64) { return f.re[:f.n], f.im[:f.n] }

// Vectors are the left and right eigenvectors, as columns, where they were asked for. Of a pair, real and imaginary parts lie in two columns.
func (f *General) Vectors() (left, right []float64) { return f.left[:f.n*f.n], f.right[:f.n*f.n] }

// Factor decomposes the matrix, which is finite. It reports false if the iteration comes to no end.
func (f *General) Factor(left, right bool) bool {
	var l gonum.Implementation
	n := f.n
	if n == 0 {
		return true
	}
	a, work := f.a[:n*n], f.work[:3*n]
	re, im := f.Values()
	f.left, f.right = grown(f.left, n*n), grown(f.right, n*n)
	vl, vr := f.Vectors()
	const (
		least = 0x1p-511 / ulp // the root of the least number, over the unit
		most  = 1 / least
	)
	largest, scaled := l.Dlange(lapack.MaxAbs, n, n, a, n, nil), 0.0
	switch {
	case 0 < largest && largest < least:
		scaled = least
	case largest > most:
		scaled = most
	}
	if scaled != 0 {
		l.Dlascl(lapack.General, 0, 0, largest, scaled, n, n, a, n)
	}
	balance, tau := f.balance[:n], f.tau[:n-1]
	lo, hi := l.Dgebal(lapack.PermuteScale, n, a, n, balance)
	l.Dgehrd(n, lo, hi, a, n, tau, work, n)
	it := &f.iteration
	it.start(n, a)
	if left || right {
		l.Dlacpy(blas.Lower, n, n, a, n, vr, n)
		l.Dorghr(n, lo, hi, vr, n, tau, work, n)
		it.startVectors(vr)
	}
	if !it.run(lo, hi, re, im) {
		return false
	}
	if left || right {
		side := lapack.EVBoth
		switch {
		case !right:
			side = lapack.EVLeft
		case !left:
			side = lapack.EVRight
		}
		it.finish(a)
		if right {
			it.finishVectors(vr)
		}
		if left {
			it.finishVectors(vl)
		}
		l.Dtrevc3(side, lapack.EVAllMulQ, nil, n, a, n, vl, n, vr, n, n, work, 3*n)
	}
	if left {
		l.Dgebak(lapack.PermuteScale, lapack.EVLeft, n, lo, hi, balance, n, vl, n)
		normaliseColumns(vl, im, work)
	}
	if right {
		l.Dgebak(lapack.PermuteScale, lapack.EVRight, n, lo, hi, balance, n, vr, n)
		normaliseColumns(vr, im, work)
	}
	if scaled != 0 {
		l.Dlascl(lapack.General, 0, 0, scaled, largest, n, 1, re, 1)
		l.Dlascl(lapack.General, 0, 0, scaled, largest, n, 1, im, 1)
	}
	return true
}

// normaliseColumns makes each vector of length 1, and the largest element of each pair real. room has three numbers for each column at least.
func normaliseColumns(v, im, room []float64) {
	n := len(im)
	lengths, largest, place := room[:n], room[n:][:n], room[2*n:][:n]
	clear(lengths)
	clear(largest)
	for i := range n {
		for j, x := range v[i*n:][:n] {
			lengths[j] += x * x
		}
	}
	for j, x := range lengths {
		isPair := im[j] > 0
		switch {
		case im[j] < 0: // the one before has set it
			continue
		case isPair:
			x += lengths[j+1]
		}
		if x > leastSquare && x < mostSquare {
			x = math.Sqrt(x)
		} else {
			x = columnLength(v[j:], n, isPair)
		}
		lengths[j] = x
		if isPair {
			lengths[j+1] = x
		}
	}
	for i := range n {
		row := v[i*n:][:n]
		for j, x := range row {
			row[j] = x / lengths[j]
		}
		for j := 0; j < n; j++ {
			if im[j] > 0 {
				if square := row[j]*row[j] + row[j+1]*row[j+1]; square > largest[j] {
					largest[j], place[j] = square, float64(i)
				}
			}
		}
	}
	for j := range n {
		if im[j] <= 0 {
			continue
		}
		at := int(place[j])*n + j
		var l gonum.Implementation
		c, s, _ := l.Dlartg(v[at], v[at+1])
		for k := j; k < n*n; k += n {
			x, y := v[k], v[k+1]
			v[k], v[k+1] = c*x+s*y, c*y-s*x
		}
		v[at+1] = 0
	}
}

// columnLength is the length of the vector that begins at v[0], whose squares overflow or vanish, with its imaginary part beside it if it is one of a pair.
func columnLength(v []float64, n int, isPair bool) float64 {
	sum := 0.0
	for k := 0; k < len(v); k += n {
		sum = math.Hypot(sum, v[k])
		if isPair {
			sum = math.Hypot(sum, v[k+1])
		}
	}
	return sum
}
