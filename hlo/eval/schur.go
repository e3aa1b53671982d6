package eval

import (
	"math"
	"math/cmplx"
)

// eigenGeneral returns eigenvalues, left and right eigenvectors (as columns) of a[n,n]:
//
//  1. Reflectors bring A to Hessenberg form, shifted QR steps bring that to triangular form T: A = Z·T·Zᴴ.
//  2. The eigenvectors of T come by substitution, those of A by multiplication with Z, scaled to length 1 with the largest component real.
//
// It reports false when the iteration does not converge.
func eigenGeneral(a []complex128, n int) (values, left, right []complex128, ok bool) {
	t := append([]complex128(nil), a...)
	z, ok := schurComplex(t, n)
	values = make([]complex128, n)
	for i := range n {
		values[i] = t[i*n+i]
	}
	norm := 0.0
	for _, x := range t {
		norm = max(norm, cmplx.Abs(x))
	}
	right, left = make([]complex128, n*n), make([]complex128, n*n)
	for k := range n {
		y := make([]complex128, n)
		y[k] = 1
		for i := k - 1; i >= 0; i-- { // (T - λ)·y = 0
			var sum complex128
			for j := i + 1; j <= k; j++ {
				sum += t[i*n+j] * y[j]
			}
			y[i] = complexDivide(-sum, apart(t[i*n+i]-values[k], norm))
		}
		setVector(right, z, y, n, k)
		clear(y)
		y[k] = 1
		for i := k + 1; i < n; i++ { // (Tᴴ - λ̄)·y = 0
			var sum complex128
			for j := k; j < i; j++ {
				sum += conj(t[j*n+i]) * y[j]
			}
			y[i] = complexDivide(-sum, conj(apart(t[i*n+i]-values[k], norm)))
		}
		setVector(left, z, y, n, k)
	}
	return values, left, right, ok
}

// apart keeps a difference of eigenvalues away from zero.
func apart(d complex128, norm float64) complex128 {
	if least := 1e-16 * norm; cmplx.Abs(d) < least {
		return complex(least, 0)
	}
	return d
}

// setVector stores Z·y as column k.
func setVector(v, z, y []complex128, n, k int) {
	x := make([]complex128, n)
	norm, largest := 0.0, 0
	for i := range n {
		for j := range n {
			x[i] += z[i*n+j] * y[j]
		}
		norm = math.Hypot(norm, cmplx.Abs(x[i]))
		if cmplx.Abs(x[i]) > cmplx.Abs(x[largest]) {
			largest = i
		}
	}
	turn := complex(1/norm, 0)
	if r := cmplx.Abs(x[largest]); r > 0 && norm > 0 {
		turn *= conj(x[largest]) / complex(r, 0)
	}
	for i := range n {
		v[i*n+k] = x[i] * turn
	}
}

// hessenberg brings t to upper Hessenberg form by unitary similarity, and multiplies the transformation to z.
func hessenberg(t, z []complex128, n int) {
	for k := 0; k+2 < n; k++ {
		norm := 0.0
		for i := k + 1; i < n; i++ {
			norm = math.Hypot(norm, cmplx.Abs(t[i*n+k]))
		}
		if norm == 0 {
			continue
		}
		v := make([]complex128, n)
		for i := k + 1; i < n; i++ {
			v[i] = t[i*n+k]
		}
		phase := complex128(1)
		if r := cmplx.Abs(v[k+1]); r > 0 {
			phase = v[k+1] / complex(r, 0)
		}
		v[k+1] += phase * complex(norm, 0)
		length := 0.0
		for _, x := range v {
			length += real(x)*real(x) + imag(x)*imag(x)
		}
		scale := complex(2/length, 0)
		for j := range n { // H from the left
			var sum complex128
			for i := k + 1; i < n; i++ {
				sum += conj(v[i]) * t[i*n+j]
			}
			for i := k + 1; i < n; i++ {
				t[i*n+j] -= scale * sum * v[i]
			}
		}
		for _, m := range [][]complex128{t, z} { // H from the right
			for i := range n {
				var sum complex128
				for j := k + 1; j < n; j++ {
					sum += m[i*n+j] * v[j]
				}
				for j := k + 1; j < n; j++ {
					m[i*n+j] -= scale * sum * conj(v[j])
				}
			}
		}
		for i := k + 2; i < n; i++ {
			t[i*n+k] = 0
		}
	}
}

// triangularize makes a Hessenberg matrix upper triangular by QR steps with Wilkinson's shift.
func triangularize(t, z []complex128, n int) bool {
	const eps = 0x1p-52
	steps := 0
	for hi := n - 1; hi > 0; {
		lo := hi
		for ; lo > 0; lo-- {
			size := cmplx.Abs(t[lo*n+lo]) + cmplx.Abs(t[(lo-1)*n+lo-1])
			if cmplx.Abs(t[lo*n+lo-1]) <= eps*size || size == 0 && t[lo*n+lo-1] == 0 {
				t[lo*n+lo-1] = 0
				break
			}
		}
		if lo == hi {
			hi--
			steps = 0
			continue
		}
		if steps++; steps > 300 {
			return false
		}
		shift := wilkinson(t[(hi-1)*n+hi-1], t[(hi-1)*n+hi], t[hi*n+hi-1], t[hi*n+hi])
		if steps%10 == 0 { // out of a cycle
			shift = complex(cmplx.Abs(t[hi*n+hi-1])+cmplx.Abs(t[hi*n+hi]), 0)
		}
		qrStep(t, z, n, lo, hi, shift)
	}
	return true
}

// wilkinson is the eigenvalue of [[a,b],[c,d]] nearest to d.
func wilkinson(a, b, c, d complex128) complex128 {
	half := (a - d) / 2
	root := cmplx.Sqrt(half*half + b*c)
	if cmplx.Abs(half-root) > cmplx.Abs(half+root) {
		root = -root
	}
	// half+root is the larger; d - bc/(half+root) is the nearer eigenvalue without cancellation.
	if half+root == 0 {
		return d
	}
	return d - b*c/(half+root)
}

// qrStep factors the active block minus the shift by rotations and multiplies the factors the other way round.
func qrStep(t, z []complex128, n, lo, hi int, shift complex128) {
	for i := lo; i <= hi; i++ {
		t[i*n+i] -= shift
	}
	cs, ss := make([]float64, hi), make([]complex128, hi)
	for k := lo; k < hi; k++ {
		a, b := t[k*n+k], t[(k+1)*n+k]
		r := math.Hypot(cmplx.Abs(a), cmplx.Abs(b))
		if r == 0 {
			cs[k], ss[k] = 1, 0
			continue
		}
		phase := complex128(1)
		if m := cmplx.Abs(a); m > 0 {
			phase = a / complex(m, 0)
		}
		cs[k], ss[k] = cmplx.Abs(a)/r, phase*conj(b)/complex(r, 0)
		c := complex(cs[k], 0)
		for j := k; j < n; j++ {
			x, y := t[k*n+j], t[(k+1)*n+j]
			t[k*n+j], t[(k+1)*n+j] = c*x+ss[k]*y, c*y-conj(ss[k])*x
		}
	}
	for k := lo; k < hi; k++ {
		c, s := complex(cs[k], 0), ss[k]
		for i := range min(k+2, hi+1) {
			x, y := t[i*n+k], t[i*n+k+1]
			t[i*n+k], t[i*n+k+1] = c*x+conj(s)*y, c*y-s*x
		}
		for i := range n {
			x, y := z[i*n+k], z[i*n+k+1]
			z[i*n+k], z[i*n+k+1] = c*x+conj(s)*y, c*y-s*x
		}
	}
	for i := lo; i <= hi; i++ {
		t[i*n+i] += shift
	}
}
