package eval

import (
	"math"
	"math/cmplx"
	"slices"
)

// Eigenvalues and singular values by Jacobi's rotations: short, and as accurate as the data allows.

// jacobi is the rotation that makes p and q orthogonal, where the diagonal entries are a and b and the other is z:
// p' = c·p - s·q̃ and q' = s·p + c·q̃ with q̃ = q·phase.
func jacobi(a, b float64, z complex128) (c, s float64, phase complex128) {
	r := cmplx.Abs(z)
	phase = complex(real(z)/r, -imag(z)/r)
	tau := (b - a) / (2 * r)
	t := 1 / (math.Abs(tau) + math.Sqrt(1+tau*tau))
	if tau < 0 {
		t = -t
	}
	c = 1 / math.Sqrt(1+t*t)
	return c, c * t, phase
}

// rotateColumns rotates columns p and q of a[rows,n].
func rotateColumns(a []complex128, rows, n, p, q int, c, s float64, phase complex128) {
	cc, ss := complex(c, 0), complex(s, 0)
	for i := range rows {
		x, y := a[i*n+p], a[i*n+q]*phase
		a[i*n+p], a[i*n+q] = cc*x-ss*y, ss*x+cc*y
	}
}

const maxSweeps = 60

// eigenHermitian returns the eigenvalues, ascending, of the matrix whose named triangle is in a[n,n], and leaves the eigenvectors in a,
// as columns.
func eigenHermitian(a []complex128, n int, lower bool) []complex128 {
	h := make([]complex128, n*n)
	norm := 0.0
	for i := range n {
		for j := range n {
			switch {
			case i == j:
				h[i*n+j] = complex(real(a[i*n+j]), 0)
			case lower == (j < i):
				h[i*n+j] = a[i*n+j]
			default:
				h[i*n+j] = conj(a[j*n+i])
			}
			norm = math.Hypot(norm, cmplx.Abs(h[i*n+j]))
		}
	}
	v := identity(n)
	for range maxSweeps {
		changed := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				z := h[p*n+q]
				if cmplx.Abs(z) <= 1e-17*norm || !(norm < math.Inf(1)) {
					continue
				}
				changed = true
				c, s, phase := jacobi(real(h[p*n+p]), real(h[q*n+q]), z)
				rotateColumns(h, n, n, p, q, c, s, phase)
				rotateColumns(v, n, n, p, q, c, s, phase)
				cc, ss, back := complex(c, 0), complex(s, 0), conj(phase)
				for k := range n { // the rows likewise
					x, y := h[p*n+k], h[q*n+k]*back
					h[p*n+k], h[q*n+k] = cc*x-ss*y, ss*x+cc*y
				}
			}
		}
		if !changed {
			break
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		switch a, b := real(h[x*n+x]), real(h[y*n+y]); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	values := make([]complex128, n)
	for k, j := range order {
		values[k] = complex(real(h[j*n+j]), 0)
		for i := range n {
			a[i*n+k] = v[i*n+j]
		}
	}
	if !(norm < math.Inf(1)) {
		nan := complex(math.NaN(), math.NaN())
		for i := range a {
			a[i] = nan
		}
		for i := range values {
			values[i] = nan
		}
	}
	return values
}

func identity(n int) []complex128 {
	v := make([]complex128, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	return v
}

// singularValues decomposes a[m,n]: the values descending, the first columns of U and the first rows of Vᴴ.
func singularValues(a []complex128, m, n, columns, rows int) (values, u, vh []complex128) {
	if m < n { // Aᴴ = V·S·Uᴴ
		at := adjoint(a, m, n)
		values, v, uh := singularValues(at, n, m, rows, columns)
		return values, adjoint(uh, columns, m), adjoint(v, n, rows)
	}
	w, v := slices.Clone(a), identity(n)
	for range maxSweeps {
		changed := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				alpha, beta, gamma := 0.0, 0.0, complex128(0)
				for i := range m {
					x, y := w[i*n+p], w[i*n+q]
					alpha += real(x)*real(x) + imag(x)*imag(x)
					beta += real(y)*real(y) + imag(y)*imag(y)
					gamma += conj(x) * y
				}
				if !(cmplx.Abs(gamma) > 1e-16*math.Sqrt(alpha*beta)) || gamma == 0 {
					continue
				}
				changed = true
				c, s, phase := jacobi(alpha, beta, gamma)
				rotateColumns(w, m, n, p, q, c, s, phase)
				rotateColumns(v, n, n, p, q, c, s, phase)
			}
		}
		if !changed {
			break
		}
	}
	norms, order := make([]float64, n), make([]int, n)
	for j := range n {
		order[j] = j
		for i := range m {
			norms[j] = math.Hypot(norms[j], cmplx.Abs(w[i*n+j]))
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		switch {
		case norms[x] > norms[y]:
			return -1
		case norms[x] < norms[y]:
			return 1
		}
		return 0
	})
	values = make([]complex128, n)
	u, vh = make([]complex128, m*columns), make([]complex128, rows*n)
	done := 0
	for k, j := range order {
		values[k] = complex(norms[j], 0)
		if k < rows {
			for i := range n {
				vh[k*n+i] = conj(v[i*n+j])
			}
		}
		if k < columns && norms[j] > 0 {
			for i := range m {
				u[i*columns+k] = w[i*n+j] / complex(norms[j], 0)
			}
			done = k + 1
		}
	}
	completeBasis(u, m, columns, done)
	return values, u, vh
}

// completeBasis fills the columns from done on with unit vectors made orthogonal to those before.
func completeBasis(u []complex128, m, columns, done int) {
	for e := 0; done < columns && e < m; e++ {
		for i := range m {
			u[i*columns+done] = 0
		}
		u[e*columns+done] = 1
		for range 2 {
			for k := range done {
				var z complex128
				for i := range m {
					z += conj(u[i*columns+k]) * u[i*columns+done]
				}
				for i := range m {
					u[i*columns+done] -= z * u[i*columns+k]
				}
			}
		}
		norm := 0.0
		for i := range m {
			norm = math.Hypot(norm, cmplx.Abs(u[i*columns+done]))
		}
		// At least one of the unit vectors left has a rest of this size.
		if norm < 0.5/math.Sqrt(float64(m)) {
			continue
		}
		for i := range m {
			u[i*columns+done] /= complex(norm, 0)
		}
		done++
	}
}

func adjoint(a []complex128, m, n int) []complex128 {
	t := make([]complex128, len(a))
	for i := range m {
		for j := range n {
			t[j*m+i] = conj(a[i*n+j])
		}
	}
	return t
}
