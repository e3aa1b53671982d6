package factor

import (
	"math"

	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// QR factorises by reflectors H = I - tau·v·vᴴ with v[0] = 1, as LAPACK's geqrf does. It keeps memory from one call to the next; the zero value is ready.
//
// Columns are taken panel by panel. The reflectors of a panel act together as I - V·T·Vᴴ with an upper triangular T, so that the columns to the right of
// the panel are updated by products. A column of the panel is updated by the reflectors before it only when its turn comes: that, too, is a pass over V.
type QR[T Number] struct {
	vector  gemm.Vector[T]
	update  *updater[T]
	v       []T // reflectors as rows, with the 1 and with zeros before it; rows that do not exist are zero
	vc      []T // their conjugates: v itself where numbers are real
	t       []T // panelCols by panelCols
	columns []T // of a panel, or of all of a tall matrix, as rows
	y, z    []T
	w, u    []T
	small   [2 * directRows]T
}

// panelCols is how many reflectors act together. It is a multiple of the rows that gemm.Vector combines at a time.
const panelCols = 16

func (f *QR[T]) init() {
	if f.update == nil {
		f.update, f.vector = newUpdater[T](), gemm.VectorFor[T]()
		f.t, f.y, f.z = make([]T, panelCols*panelCols), make([]T, panelCols), make([]T, panelCols)
	}
}

// Factor replaces the row-major a[m,n] by R, on and above the diagonal, and the reflectors whose product is Q, below it. taus has min(m, n) elements.
func (f *QR[T]) Factor(a Matrix[T], m, n int, taus []T) {
	if isDirect(m, n) {
		f.factorDirect(a, m, n, taus)
		return
	}
	f.init()
	if isTall[T](m, n) {
		f.factorTall(a, m, n, taus)
		return
	}
	for j := 0; j < len(taus); j += panelCols {
		k := min(panelCols, len(taus)-j)
		panel := a.From(j, j)
		columns := f.turned(panel, m-j, k)
		f.panel(columns, m-j, m-j, taus[j:j+k])
		transpose(panel.Data[panel.At:], columns, k, m-j, panel.Row, m-j)
		if right := n - j - k; right > 0 {
			f.apply(a.From(j, j+k), m-j, right, k, true)
		}
	}
}

// turned is the columns of the row-major a[m,n] as rows, in f.columns.
func (f *QR[T]) turned(a Matrix[T], m, n int) []T {
	f.columns = grown(f.columns, m*n)
	transpose(f.columns, a.Data[a.At:], m, n, m, a.Row)
	return f.columns[:m*n]
}

// panel factorises columns of m elements, stride apart, of which there are as many as taus, and leaves the reflectors in v and their T in t.
func (f *QR[T]) panel(columns []T, stride, m int, taus []T) {
	f.reset(m)
	for c := range taus {
		p := columns[c*stride:][:m]
		f.reflect(p, c, true)
		taus[c] = Reflector(p[c:])
		copy(f.v[c*m+c:(c+1)*m], p[c:])
		f.v[c*m+c] = 1
		f.append(m, c, taus[c])
	}
}

// reset makes room for reflectors of m elements.
func (f *QR[T]) reset(m int) {
	f.v = grown(f.v, panelCols*m)
	clear(f.v[:panelCols*m])
	if isComplex[T]() {
		f.vc = grown(f.vc, panelCols*m)
	} else {
		f.vc = f.v
	}
}

// append extends T by the reflector that has been put into row c of v.
func (f *QR[T]) append(m, c int, tau T) {
	row := f.v[c*m:][:m]
	if isComplex[T]() {
		copy(f.vc[c*m:], row)
		Conjugate(f.vc[c*m:][:m])
	}
	if c > 0 {
		f.vector.Inner(row, f.vc, m, f.y[:c])
	}
	for i := range c {
		var sum T
		for k := i; k < c; k++ {
			sum += f.t[i*panelCols+k] * f.y[k]
		}
		f.t[i*panelCols+c] = -tau * sum
	}
	f.t[c*panelCols+c] = tau
}

// reflect multiplies a column p by the first c reflectors, or by their adjoints from the first on.
func (f *QR[T]) reflect(p []T, c int, adjoint bool) {
	if c == 0 {
		return
	}
	f.vector.Inner(p, f.vc, len(p), f.y[:c])
	clear(f.z)
	for i := range c {
		var sum T
		if adjoint {
			for k := range i + 1 {
				sum += conjugate(f.t[k*panelCols+i]) * f.y[k]
			}
		} else {
			for k := i; k < c; k++ {
				sum += f.t[i*panelCols+k] * f.y[k]
			}
		}
		f.z[i] = -sum
	}
	f.vector.Combine(f.z[:gemm.Padded(c, 8)], f.v, len(p), p)
}

// apply multiplies a[m,n] from the left by I - V·T·Vᴴ, or by its adjoint, of k reflectors.
func (f *QR[T]) apply(a Matrix[T], m, n, k int, adjoint bool) {
	f.w, f.u = grown(f.w, k*n), grown(f.u, k*n)
	w, u := f.w[:k*n], f.u[:k*n]
	clear(w)
	clear(u)
	for i := range k { // what lies below the diagonal may be left over from another panel
		clear(f.t[i*panelCols:][:i])
	}
	f.update.Subtract(Dense(w, n), Dense(f.vc, m), a, k, n, m, false) // -Vᴴ·a
	t := Dense(f.t, panelCols)
	if adjoint {
		t = t.Adjoint()
	}
	f.update.Subtract(Dense(u, n), t, Dense(w, n), k, n, k, false)
	f.update.Subtract(a, Dense(f.v, m).Transposed(), Dense(u, n), m, n, k, false)
}

// Expand writes the first n columns of the product of the reflectors that lie below the diagonal of the row-major a[m,n] to q[m,n], n ≤ m.
func (f *QR[T]) Expand(q, a Matrix[T], m, n int, taus []T) {
	for i := range m {
		row := q.Data[q.At+i*q.Row:][:n]
		clear(row)
		if i < n {
			row[i] = 1
		}
	}
	if isDirect(m, n) {
		f.expandDirect(q, a, m, n, taus)
		return
	}
	f.init()
	if isTall[T](m, n) {
		f.expandTall(q, a, m, n, taus)
		return
	}
	for j := (len(taus) - 1) / panelCols * panelCols; j >= 0 && len(taus) > 0; j -= panelCols {
		f.apply(q.From(j, j), m-j, n-j, f.load(a, m, j, taus), false)
	}
}

// load takes the panel from column j on of the reflectors that lie below the diagonal of the row-major a, of m rows. It returns how many these are.
func (f *QR[T]) load(a Matrix[T], m, j int, taus []T) int {
	k := min(panelCols, len(taus)-j)
	f.reset(m - j)
	transpose(f.v, a.Data[a.At+j*a.Row+j:], m-j, k, m-j, a.Row)
	for c := range k {
		row := f.v[c*(m-j):][:m-j]
		clear(row[:c])
		row[c] = 1
		f.append(m-j, c, taus[j+c])
	}
	return k
}

// Apply replaces c[m,n] by Q·c, or Qᴴ·c, where Q is the product of the reflectors that lie below the diagonal of the row-major a, which has m rows.
func (f *QR[T]) Apply(c, a Matrix[T], m, n int, taus []T, adjoint bool) {
	if isDirect(m, n) {
		f.applyDirect(c, a, m, n, taus, adjoint)
		return
	}
	f.init()
	panels := (len(taus) + panelCols - 1) / panelCols
	for p := range panels {
		j := p * panelCols
		if !adjoint {
			j = (panels - 1 - p) * panelCols
		}
		f.apply(c.From(j, 0), m-j, n, f.load(a, m, j, taus), adjoint)
	}
}

// Multiply replaces c[m,n] by the product of reflectors and c, where reflector i is row i of v, with its 1 at column i and zeros before it. Rows of v are
// stride apart.
func (f *QR[T]) Multiply(c Matrix[T], m, n int, v []T, stride int, taus []T) {
	if isDirect(m, n) {
		f.multiplyDirect(c, m, n, v, stride, taus)
		return
	}
	f.init()
	for j := (len(taus) - 1) / panelCols * panelCols; j >= 0 && len(taus) > 0; j -= panelCols {
		k := min(panelCols, len(taus)-j)
		f.reset(m - j)
		for i := range k {
			copy(f.v[i*(m-j):][:m-j], v[(j+i)*stride+j:])
			f.append(m-j, i, taus[j+i])
		}
		f.apply(c.From(j, 0), m-j, n, k, false)
	}
}

// Reflector replaces p, which is not empty, by the reflector that brings it to a real multiple of the first unit vector: that multiple, and v without its 1. It returns tau.
func Reflector[T Number](p []T) T {
	rest := norm(p[1:])
	re, im := realPart(p[0]), imaginaryPart(p[0])
	if rest == 0 && im == 0 {
		return 0
	}
	beta := -math.Copysign(length(re, im, rest), re)
	grow := growth[T](beta)
	scale := 1 / complexOf[T]((re-beta)*grow, im*grow)
	if grow != 1 {
		for i := range p[1:] {
			p[1+i] *= Real[T](grow)
		}
	}
	for i := range p[1:] {
		p[1+i] *= scale
	}
	p[0] = Real[T](beta)
	return complexOf[T]((beta-re)/beta, -im/beta)
}

// length is the length of a vector, whose squares are added up where they neither overflow nor vanish.
func length(x, y, z float64) float64 {
	if square := x*x + y*y + z*z; square > leastSquare && square < mostSquare {
		return math.Sqrt(square)
	}
	return math.Hypot(math.Hypot(x, y), z)
}

// growth is 1, or for a length whose inverse is not a number of T a power of two that makes it large enough.
func growth[T Number](length float64) float64 {
	exponent := 1000
	switch any(*new(T)).(type) {
	case float32, complex64:
		exponent = 100
	}
	if math.Abs(length) >= math.Ldexp(1, -exponent) {
		return 1
	}
	return math.Ldexp(1, exponent)
}
