package eval

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// Real matrices are decomposed by gonum's translation of LAPACK, so that vectors have the signs that LAPACK gives them.

// eigenSymmetric replaces a[n,n], of which one triangle is read, by its eigenvectors as columns, and returns the eigenvalues, ascending. It
// reports false, and changes nothing, where that does not work out.
func eigenSymmetric(a []complex128, n int, lower bool) (values []complex128, ok bool) {
	t, ok := realParts(a)
	if !ok || n == 0 {
		return nil, false
	}
	uplo := blas.Upper
	if lower {
		uplo = blas.Lower
	}
	var l gonum.Implementation
	w := make([]float64, n)
	work := make([]float64, 64*n+64)
	if !l.Dsyev(lapack.EVCompute, uplo, n, t, n, w, work, len(work)) {
		return nil, false
	}
	for i, x := range t {
		a[i] = complex(x, 0)
	}
	return toComplex(w), true
}

// singularReal is the singular values of a[m,n], and the first columns of U and rows of Vᵀ.
func singularReal(a []complex128, m, n, columns, rows int) (values, u, v []complex128, ok bool) {
	t, ok := realParts(a)
	if !ok || m == 0 || n == 0 {
		return nil, nil, nil, false
	}
	k := min(m, n)
	jobU, jobV := lapack.SVDStore, lapack.SVDStore
	if columns > k {
		jobU = lapack.SVDAll
	}
	if rows > k {
		jobV = lapack.SVDAll
	}
	columnsOf := max(columns, k)
	rowsOf := max(rows, k)
	s := make([]float64, k)
	us, vs := make([]float64, m*columnsOf), make([]float64, rowsOf*n)
	work := make([]float64, 1)
	var l gonum.Implementation
	l.Dgesvd(jobU, jobV, m, n, t, n, s, us, columnsOf, vs, n, work, -1)
	work = make([]float64, int(work[0]))
	if !l.Dgesvd(jobU, jobV, m, n, t, n, s, us, columnsOf, vs, n, work, len(work)) {
		return nil, nil, nil, false
	}
	for i := range m {
		u = append(u, toComplex(us[i*columnsOf:][:columns])...)
	}
	return toComplex(s), u, toComplex(vs[:rows*n]), true
}

// realParts is the real parts; it reports false if one is not finite.
func realParts(a []complex128) ([]float64, bool) {
	t := make([]float64, len(a))
	for i, x := range a {
		if t[i] = real(x); math.IsNaN(t[i]) || math.IsInf(t[i], 0) {
			return nil, false
		}
	}
	return t, true
}

func toComplex(v []float64) []complex128 {
	c := make([]complex128, len(v))
	for i, x := range v {
		c[i] = complex(x, 0)
	}
	return c
}
