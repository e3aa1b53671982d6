package eval

import (
	"math"
	"math/cmplx"
)

// Similar matrices that are nearly triangular or nearly diagonal, by LAPACK's reflectors H = I - tau·v·vᴴ.

// reflectorOf makes the reflector that brings (x[0], x[1], ...) to (beta, 0, ...) with a real beta. It replaces x[0] by 1 and the others
// by those of v.
func reflectorOf(x []complex128) (beta float64, tau complex128) {
	alpha, rest := x[0], 0.0
	for _, e := range x[1:] {
		rest = math.Hypot(rest, cmplx.Abs(e))
	}
	x[0] = 1
	if rest == 0 && imag(alpha) == 0 {
		return real(alpha), 0
	}
	beta = -math.Copysign(math.Hypot(cmplx.Abs(alpha), rest), real(alpha))
	scale := complexDivide(1, alpha-complex(beta, 0))
	for i := range x[1:] {
		x[1+i] *= scale
	}
	return beta, complex((beta-real(alpha))/beta, -imag(alpha)/beta)
}

// reflectLeft applies I - tau·v·vᴴ from the left to rows first, first+1, ... of columns [from, to) of a matrix of n columns.
func reflectLeft(a []complex128, n, first, from, to int, v []complex128, tau complex128) {
	for j := from; j < to; j++ {
		var sum complex128
		for i, e := range v {
			sum += conj(e) * a[(first+i)*n+j]
		}
		sum *= tau
		for i, e := range v {
			a[(first+i)*n+j] -= sum * e
		}
	}
}

// reflectRight applies I - tau·v·vᴴ from the right to columns first, first+1, ... of rows [from, to).
func reflectRight(a []complex128, n, first, from, to int, v []complex128, tau complex128) {
	for i := from; i < to; i++ {
		row := a[i*n+first:][:len(v)]
		var sum complex128
		for j, e := range v {
			sum += row[j] * e
		}
		sum *= tau
		for j, e := range v {
			row[j] -= sum * conj(e)
		}
	}
}

// reduceHessenberg brings a[n,n] to upper Hessenberg form, as if rows and columns before low and from high on were triangular already;
// below the first subdiagonal it leaves the reflectors.
func reduceHessenberg(a []complex128, n, low, high int) []complex128 {
	taus := make([]complex128, max(0, n-1))
	for k := low; k+1 < high; k++ {
		v := column(a, n, k, k+1, high)
		beta, tau := reflectorOf(v)
		taus[k] = tau
		reflectRight(a, n, k+1, 0, high, v, tau)
		reflectLeft(a, n, k+1, k+1, n, v, conj(tau))
		a[(k+1)*n+k] = complex(beta, 0)
		for i := range v[1:] {
			a[(k+2+i)*n+k] = v[1+i]
		}
	}
	return taus
}

// column is a copy of rows [from, to) of a column.
func column(a []complex128, n, j, from, to int) []complex128 {
	v := make([]complex128, 0, to-from)
	for i := from; i < to; i++ {
		v = append(v, a[i*n+j])
	}
	return v
}

// reduceTridiagonal brings the Hermitian a[n,n], of which one triangle is read, to real tridiagonal form: diagonal and its neighbours. It
// writes both to that triangle, and the reflectors beyond.
func reduceTridiagonal(a []complex128, n int, lower bool) (diagonal, beside, taus []complex128) {
	diagonal, beside, taus = make([]complex128, n), make([]complex128, max(0, n-1)), make([]complex128, max(0, n-1))
	full := make([]complex128, n*n)
	for i := range n {
		for j := range n {
			switch {
			case i == j:
				full[i*n+j] = complex(real(a[i*n+j]), 0)
			case (j < i) == lower:
				full[i*n+j] = a[i*n+j]
			default:
				full[i*n+j] = conj(a[j*n+i])
			}
		}
	}
	for step := range max(0, n-1) {
		k, v := step, []complex128(nil)
		first := k + 1 // rows and columns that v is about
		if lower {
			v = column(full, n, k, k+1, n)
		} else { // from the far corner; the last element of the column is the one that stays
			k, first = n-2-step, 0
			v = column(full, n, k+1, 0, k+1)
			v[0], v[k] = v[k], v[0]
		}
		beta, tau := reflectorOf(v)
		if !lower {
			v[0], v[k] = v[k], v[0]
		}
		beside[k], taus[k] = complex(beta, 0), tau
		rankTwo(full, n, first, v, tau)
		for i, e := range v {
			if lower {
				a[(k+1+i)*n+k] = e
			} else {
				a[i*n+k+1] = e
			}
		}
		if lower {
			a[(k+1)*n+k] = complex(beta, 0)
		} else {
			a[k*n+k+1] = complex(beta, 0)
		}
	}
	for i := range n {
		diagonal[i] = complex(real(full[i*n+i]), 0)
		a[i*n+i] = diagonal[i]
	}
	return diagonal, beside, taus
}

// rankTwo applies Hᴴ·A·H to the square of a Hermitian matrix that begins at first.
func rankTwo(a []complex128, n, first int, v []complex128, tau complex128) {
	w := make([]complex128, len(v))
	var along complex128
	for i := range v {
		for j, e := range v {
			w[i] += a[(first+i)*n+first+j] * e
		}
		w[i] *= tau
	}
	for i, e := range v {
		along += conj(w[i]) * e
	}
	along *= -tau / 2
	for i, e := range v {
		w[i] += along * e
	}
	for i := range v {
		for j := range v {
			a[(first+i)*n+first+j] -= v[i]*conj(w[j]) + w[i]*conj(v[j])
		}
	}
}

// applyQ multiplies c[m,n] by the product of the reflectors in a, of cols columns, or by its adjoint, from the left or the right.
func applyQ(c []complex128, m, n int, a []complex128, rows, cols int, taus []complex128, left, adjoint bool) {
	for step := range taus {
		k := step
		if left != adjoint {
			k = len(taus) - 1 - step
		}
		v := column(a, cols, k, k, rows)
		v[0] = 1
		tau := taus[k]
		if adjoint {
			tau = conj(tau)
		}
		if left {
			reflectLeft(c, n, k, 0, n, v, tau)
		} else {
			reflectRight(c, n, k, 0, m, v, tau)
		}
	}
}
