package eval

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// schurReal is the real Schur form of a[n,n] as LAPACK's dgees makes it: A = Z·T·Zᵀ. It replaces a by T, and reports false when the
// iteration does not converge.
func schurReal(a []complex128, n int) (z, values []complex128, ok bool) {
	if n == 0 {
		return nil, nil, true
	}
	t := make([]float64, n*n)
	for i, x := range a {
		if t[i] = real(x); math.IsNaN(t[i]) || math.IsInf(t[i], 0) {
			nan := complex(math.NaN(), 0)
			for k := range a {
				a[k] = nan
			}
			return slices.Clone(a), slices.Clone(a[:n]), false
		}
	}
	var l gonum.Implementation
	scale, tau := make([]float64, n), make([]float64, max(1, n-1))
	work := make([]float64, 64*n+64)
	lo, hi := l.Dgebal(lapack.Permute, n, t, n, scale)
	l.Dgehrd(n, lo, hi, t, n, tau[:n-1], work, len(work))
	vectors := append([]float64(nil), t...)
	l.Dorghr(n, lo, hi, vectors, n, tau[:n-1], work, len(work))
	wr, wi := make([]float64, n), make([]float64, n)
	left := l.Dhseqr(lapack.EigenvaluesAndSchur, lapack.SchurOrig, n, lo, hi, t, n, wr, wi, vectors, n, work, len(work))
	l.Dgebak(lapack.Permute, lapack.EVRight, n, lo, hi, scale, n, vectors, n)
	z, values = make([]complex128, n*n), make([]complex128, n)
	for i := range t {
		a[i], z[i] = complex(t[i], 0), complex(vectors[i], 0)
	}
	for i := range n {
		values[i] = complex(wr[i], wi[i])
	}
	return z, values, left == 0
}

// schurComplex is the Schur form of a complex matrix, A = Z·T·Zᴴ. It replaces a by T.
func schurComplex(a []complex128, n int) (z []complex128, ok bool) {
	z = identity(n)
	hessenberg(a, z, n)
	return z, triangularize(a, z, n)
}

// eigenReal is eigenvalues, left and right eigenvectors (as columns) of a real matrix, in the order of LAPACK's dgeev for up to 75 rows, which it keeps to for more of them:
// there LAPACK changes to a method that finds several eigenvalues at a time. It reports false when the iteration does not converge. Vectors that are not wanted may be zero.
func eigenReal(a []complex128, n int, wantsLeft, wantsRight bool) (values, left, right []complex128, ok bool) {
	t := make([]float64, n*n)
	for i, x := range a {
		if t[i] = real(x); math.IsNaN(t[i]) || math.IsInf(t[i], 0) {
			return eigenGeneral(a, n)
		}
	}
	if n == 0 {
		return nil, nil, nil, true
	}
	wr, wi := make([]float64, n), make([]float64, n)
	vl, vr := make([]float64, n*n), make([]float64, n*n)
	if !geev(t, wr, wi, vl, vr, wantsLeft, wantsRight) {
		return eigenGeneral(a, n)
	}
	values, left, right = make([]complex128, n), make([]complex128, n*n), make([]complex128, n*n)
	for j := range n {
		values[j] = complex(wr[j], wi[j])
		for i := range n {
			switch {
			case wi[j] == 0:
				left[i*n+j], right[i*n+j] = complex(vl[i*n+j], 0), complex(vr[i*n+j], 0)
			case wi[j] > 0: // a pair: real and imaginary parts lie in two columns
				left[i*n+j], right[i*n+j] = complex(vl[i*n+j], vl[i*n+j+1]), complex(vr[i*n+j], vr[i*n+j+1])
			default:
				left[i*n+j], right[i*n+j] = conj(left[i*n+j-1]), conj(right[i*n+j-1])
			}
		}
	}
	return values, left, right, true
}

// geev is LAPACK's dgeev with dlahqr for matrices of all sizes. It replaces a, and writes vectors where they are wanted.
func geev(a, wr, wi, vl, vr []float64, wantsLeft, wantsRight bool) bool {
	var l gonum.Implementation
	n := len(wr)
	least := math.Sqrt(0x1p-1022) / 0x1p-52
	largest, scaled := l.Dlange(lapack.MaxAbs, n, n, a, n, nil), 0.0
	if 0 < largest && largest < least {
		scaled = least
	} else if largest > 1/least {
		scaled = 1 / least
	}
	if scaled != 0 {
		l.Dlascl(lapack.General, 0, 0, largest, scaled, n, n, a, n)
	}
	scale, tau, work := make([]float64, n), make([]float64, n-1), make([]float64, 3*n)
	lo, hi := l.Dgebal(lapack.PermuteScale, n, a, n, scale)
	l.Dgehrd(n, lo, hi, a, n, tau, work, n)
	wanted := wantsLeft || wantsRight
	l.Dlacpy(blas.Lower, n, n, a, n, vr, n)
	l.Dorghr(n, lo, hi, vr, n, tau, work, n)
	for i := range n {
		if clear(a[i*n:][:max(0, i-1)]); i < lo || i > hi {
			wr[i] = a[i*n+i]
		}
	}
	if l.Dlahqr(wanted, wanted, n, lo, hi, a, n, wr[:hi+1], wi[:hi+1], 0, n-1, vr, n) != 0 {
		return false
	}
	copy(vl, vr)
	side := lapack.EVBoth
	switch {
	case !wantsRight:
		side = lapack.EVLeft
	case !wantsLeft:
		side = lapack.EVRight
	}
	if wanted {
		l.Dtrevc3(side, lapack.EVAllMulQ, nil, n, a, n, vl, n, vr, n, n, work, len(work))
		l.Dgebak(lapack.PermuteScale, lapack.EVLeft, n, lo, hi, scale, n, vl, n)
		l.Dgebak(lapack.PermuteScale, lapack.EVRight, n, lo, hi, scale, n, vr, n)
		normaliseColumns(vl, wi)
		normaliseColumns(vr, wi)
	}
	if scaled != 0 {
		l.Dlascl(lapack.General, 0, 0, scaled, largest, n, 1, wr, 1)
		l.Dlascl(lapack.General, 0, 0, scaled, largest, n, 1, wi, 1)
	}
	return true
}

// normaliseColumns makes each vector of length 1, and of a pair, whose parts lie in two columns, the largest element real.
func normaliseColumns(v, wi []float64) {
	var l gonum.Implementation
	n := len(wi)
	bi := blas64.Implementation()
	for j, im := range wi {
		switch {
		case im == 0:
			bi.Dscal(n, 1/bi.Dnrm2(n, v[j:], n), v[j:], n)
		case im > 0:
			scale := 1 / math.Hypot(bi.Dnrm2(n, v[j:], n), bi.Dnrm2(n, v[j+1:], n))
			bi.Dscal(n, scale, v[j:], n)
			bi.Dscal(n, scale, v[j+1:], n)
			at, largest := j, 0.0
			for k := j; k < n*n; k += n {
				if square := v[k]*v[k] + v[k+1]*v[k+1]; square > largest {
					at, largest = k, square
				}
			}
			c, s, _ := l.Dlartg(v[at], v[at+1])
			bi.Drot(n, v[j:], n, v[j+1:], n, c, s)
			v[at+1] = 0
		}
	}
}
