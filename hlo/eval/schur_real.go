package eval

import (
	"math"
	"slices"

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

// eigenReal is eigenvalues, left and right eigenvectors (as columns) of a real matrix, in the order of LAPACK's dgeev. It reports false
// when the iteration does not converge. Vectors that are not wanted may be zero.
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
	var l gonum.Implementation
	wr, wi := make([]float64, n), make([]float64, n)
	vl, vr := make([]float64, n*n), make([]float64, n*n)
	work := make([]float64, 64*n+64)
	jobLeft, jobRight := lapack.LeftEVNone, lapack.RightEVNone
	if wantsLeft {
		jobLeft = lapack.LeftEVCompute
	}
	if wantsRight {
		jobRight = lapack.RightEVCompute
	}
	if first := l.Dgeev(jobLeft, jobRight, n, t, n, wr, wi, vl, n, vr, n, work, len(work)); first != 0 {
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
