package factor

import "github.com/gohalo/halo/runtime/kernels/gemm"

// tridiagonal reduces Hermitian matrices to real tridiagonal ones, Qᴴ·A·Q = T, where Q is a product of reflectors. It keeps memory from one call to the
// next; the zero value is ready.
//
// The matrix is stored whole, so that each of its rows lies together. Columns are taken panel by panel: a column is brought up to date when its turn
// comes, the product of the matrix and its reflector is corrected for the reflectors of the panel before it, and the rest of the matrix is updated once
// for the whole panel, by products of matrices.
type tridiagonal[T Number] struct {
	vector gemm.Vector[T]
	update *updater[T]
	n      int
	stride int
	a      []T // n rows
	v      []T // all reflectors as rows
	taus   []T
	pairs  []T // of a panel: rows of V, of W, and of V again
	y, z   []T
	p      []T
}

// start makes room for a matrix of n rows, which the caller writes to row(i), the whole of it.
func (t *tridiagonal[T]) start(n int) {
	if t.update == nil {
		t.update, t.vector = newUpdater[T](), gemm.VectorFor[T]()
		t.y, t.z = make([]T, 2*panelCols), make([]T, 2*panelCols)
	}
	t.n, t.stride = n, padded(n)
	t.a, t.v = grown(t.a, n*t.stride), grown(t.v, n*t.stride)
	t.taus, t.p = grown(t.taus, n), grown(t.p, t.stride)
	t.pairs = grown(t.pairs, 3*panelCols*t.stride)
	clear(t.a[:n*t.stride])
	clear(t.v[:n*t.stride])
}

func (t *tridiagonal[T]) row(i int) []T { return t.a[i*t.stride:][:t.n] }

// reduce computes the diagonal d[n] and what is beside it, e[n-1]. Reflector i is row i of v, with its 1 at i+1.
func (t *tridiagonal[T]) reduce(d, e []float64) {
	if isDirect(t.n, t.n) {
		t.reduceDirect(d, e)
		return
	}
	for j := 0; j < t.n; j += panelCols {
		clear(t.pairs[:3*panelCols*t.stride])
		k := min(panelCols, t.n-j)
		for i := range k {
			t.column(j+i, i, d, e)
		}
		if rest := t.n - j - k; rest > 0 {
			at := j + k
			left := Matrix[T]{Data: t.pairs, At: at, Row: 1, Col: t.stride}
			right := Matrix[T]{Data: t.pairs, At: panelCols*t.stride + at, Row: t.stride, Col: 1, Conjugate: isComplex[T]()}
			t.update.Subtract(Dense(t.a, t.stride).From(at, at), left, right, rest, rest, 2*panelCols, false)
		}
	}
}

// column makes the reflector of column c, which is column i of its panel.
func (t *tridiagonal[T]) column(c, i int, d, e []float64) {
	s, all := t.stride, gemm.Padded(i, 8)
	v, w := t.pairs[:panelCols*s], t.pairs[panelCols*s:][:panelCols*s]
	again := t.pairs[2*panelCols*s:]
	lo := c / rowMultiple * rowMultiple
	x := t.v[c*s+lo:][:s-lo] // the column is the conjugate of the row
	copy(x, t.a[c*s+lo:])
	Conjugate(x)
	clear(t.z)
	for k := range i {
		t.z[k], t.z[panelCols+k] = -conjugate(w[k*s+c]), -conjugate(v[k*s+c])
	}
	if i > 0 {
		t.vector.Combine(t.z[:all], v[lo:], s, x)
		t.vector.Combine(t.z[panelCols:][:all], w[lo:], s, x)
	}
	d[c] = realPart(x[c-lo])
	clear(x[:c-lo+1])
	if c+1 == t.n {
		t.taus[c] = 0
		return
	}
	x = t.v[c*s:][:s]
	tau := Reflector(x[c+1 : t.n])
	t.taus[c], e[c] = tau, realPart(x[c+1])
	x[c+1] = 1

	// p = A·v, then w = tau·p - tau'·v
	lo = (c + 1) / rowMultiple * rowMultiple
	x = x[lo:]
	p := t.p[:s]
	clear(p)
	t.vector.Inner(x, t.a[(c+1)*s+lo:], s, p[c+1:t.n])
	if i > 0 {
		Conjugate(x) // Vᴴ·v is the conjugate of what V and the conjugate of v give
		t.vector.Inner(x, v[lo:], s, t.y[:i])
		t.vector.Inner(x, w[lo:], s, t.y[panelCols:][:i])
		Conjugate(x)
		Conjugate(t.y)
		clear(t.z)
		for k := range i {
			t.z[k], t.z[panelCols+k] = -t.y[panelCols+k], -t.y[k]
		}
		t.vector.Combine(t.z[:all], v[lo:], s, p[lo:])
		t.vector.Combine(t.z[panelCols:][:all], w[lo:], s, p[lo:])
		clear(p[lo : c+1])
	}
	p = p[lo:]
	var dot T
	for k, z := range x {
		p[k] *= tau
		dot += conjugate(z) * p[k]
	}
	half := conjugate(tau) * dot / 2
	for k, z := range x {
		p[k] -= half * z
	}
	copy(v[i*s+lo:], x)
	copy(again[i*s+lo:], x)
	copy(w[i*s+lo:], p)
}
