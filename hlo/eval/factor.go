package eval

import (
	"math"
	"math/cmplx"
)

// Factorisations as LAPACK defines them, on row-major complex matrices.

// factorLU factors a[m,n] in place with partial pivoting. It returns the row (from 1) that each row was exchanged with, and the first
// zero pivot (from 1), 0 when there is none.
func factorLU(a []complex128, m, n int) (pivots []int64, bad int) {
	for j := range min(m, n) {
		p := j
		for i := j + 1; i < m; i++ {
			if oneNorm(a[i*n+j]) > oneNorm(a[p*n+j]) {
				p = i
			}
		}
		pivots = append(pivots, int64(p+1))
		if a[p*n+j] == 0 {
			if bad == 0 {
				bad = j + 1
			}
			continue
		}
		if p != j {
			for k := range n {
				a[p*n+k], a[j*n+k] = a[j*n+k], a[p*n+k]
			}
		}
		for i := j + 1; i < m; i++ {
			l := complexDivide(a[i*n+j], a[j*n+j])
			a[i*n+j] = l
			for k := j + 1; k < n; k++ {
				a[i*n+k] -= l * a[j*n+k]
			}
		}
	}
	return pivots, bad
}

// oneNorm is the size by which LAPACK chooses pivots; of real numbers the absolute value.
func oneNorm(z complex128) float64 { return math.Abs(real(z)) + math.Abs(imag(z)) }

func conj(z complex128) complex128 { return complex(real(z), -imag(z)) }

// factorQR factors a[m,n] in place: R on and above the diagonal, below it the reflectors H = I - tau·v·vᴴ with v[0] = 1, whose product
// is Q. With pivots, the column of largest rest comes first, and pivots are permuted along.
func factorQR(a []complex128, m, n int, pivots []int64) []complex128 {
	taus := make([]complex128, min(m, n))
	for j := range taus {
		if pivots != nil {
			exchangeLargest(a, m, n, j, pivots)
		}
		tau := reflector(a, m, n, j)
		taus[j] = tau
		// Hᴴ from the left on the columns that follow.
		for k := j + 1; k < n; k++ {
			sum := a[j*n+k]
			for i := j + 1; i < m; i++ {
				sum += conj(a[i*n+j]) * a[i*n+k]
			}
			sum *= conj(tau)
			a[j*n+k] -= sum
			for i := j + 1; i < m; i++ {
				a[i*n+k] -= sum * a[i*n+j]
			}
		}
	}
	return taus
}

// reflector makes the reflector that brings column j, from the diagonal down, to a real multiple of the first unit vector.
func reflector(a []complex128, m, n, j int) complex128 {
	alpha, rest := a[j*n+j], 0.0
	for i := j + 1; i < m; i++ {
		rest = math.Hypot(rest, cmplx.Abs(a[i*n+j]))
	}
	if rest == 0 && imag(alpha) == 0 {
		return 0
	}
	beta := -math.Copysign(math.Hypot(cmplx.Abs(alpha), rest), real(alpha))
	scale := complexDivide(1, alpha-complex(beta, 0))
	for i := j + 1; i < m; i++ {
		a[i*n+j] *= scale
	}
	a[j*n+j] = complex(beta, 0)
	return complex((beta-real(alpha))/beta, -imag(alpha)/beta)
}

func exchangeLargest(a []complex128, m, n, j int, pivots []int64) {
	best, most := j, -1.0
	for k := j; k < n; k++ {
		norm := 0.0
		for i := j; i < m; i++ {
			norm = math.Hypot(norm, cmplx.Abs(a[i*n+k]))
		}
		if norm > most {
			best, most = k, norm
		}
	}
	if best != j {
		for i := range m {
			a[i*n+j], a[i*n+best] = a[i*n+best], a[i*n+j]
		}
		pivots[j], pivots[best] = pivots[best], pivots[j]
	}
}

// expandQ replaces reflectors in a[m,n] by the first n columns of their product.
func expandQ(a []complex128, m, n int, taus []complex128) {
	q := make([]complex128, m*n)
	for i := range n {
		q[i*n+i] = 1
	}
	for j := len(taus) - 1; j >= 0; j-- {
		for k := range n {
			sum := q[j*n+k]
			for i := j + 1; i < m; i++ {
				sum += conj(a[i*n+j]) * q[i*n+k]
			}
			sum *= taus[j]
			q[j*n+k] -= sum
			for i := j + 1; i < m; i++ {
				q[i*n+k] -= sum * a[i*n+j]
			}
		}
	}
	copy(a, q)
}

// solveTridiagonal replaces b[n,cols] by the solution, by elimination with partial pivoting. The diagonals are overwritten. It returns the
// zero pivot (from 1) that ended it, or 0.
func solveTridiagonal(dl, d, du, b []complex128, n, cols int) int {
	du = append([]complex128(nil), du...)
	above := make([]complex128, n) // the second diagonal that pivoting fills
	for i := 0; i+1 < n; i++ {
		if oneNorm(d[i]) >= oneNorm(dl[i]) {
			if d[i] == 0 {
				return i + 1
			}
			f := complexDivide(dl[i], d[i])
			d[i+1] -= f * du[i]
			for c := range cols {
				b[(i+1)*cols+c] -= f * b[i*cols+c]
			}
			continue
		}
		f := complexDivide(d[i], dl[i])
		d[i] = dl[i]
		d[i+1], du[i] = du[i]-f*d[i+1], d[i+1]
		if i+2 < n {
			above[i] = du[i+1]
			du[i+1] = -f * du[i+1]
		}
		for c := range cols {
			b[i*cols+c], b[(i+1)*cols+c] = b[(i+1)*cols+c], b[i*cols+c]-f*b[(i+1)*cols+c]
		}
	}
	if n > 0 && d[n-1] == 0 {
		return n
	}
	for i := n - 1; i >= 0; i-- {
		for c := range cols {
			x := b[i*cols+c]
			if i+1 < n {
				x -= du[i] * b[(i+1)*cols+c]
			}
			if i+2 < n {
				x -= above[i] * b[(i+2)*cols+c]
			}
			b[i*cols+c] = complexDivide(x, d[i])
		}
	}
	return 0
}
