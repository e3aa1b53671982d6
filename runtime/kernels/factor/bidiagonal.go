package factor

import "github.com/gohalo/halo/runtime/kernels/gemm"

// bidiagonal reduces matrices of m ≥ n rows to real upper bidiagonal ones, Qᴴ·A·P = B, where Q and P are products of reflectors. It keeps memory from one
// call to the next; the zero value is ready.
//
// As in tridiagonal, rows and columns are brought up to date when their turn comes, and the rest of the matrix once for each panel: it has then changed by
// V·Yᴴ + X·Uᴴ, where V and U are the reflectors from the left and from the right.
type bidiagonal[T Number] struct {
	vector      gemm.Vector[T]
	update      *updater[T]
	m, n        int
	tall, wide  int // padded lengths of columns and rows
	a           []T
	v, u        []T // reflectors as rows
	tauV, tauU  []T
	vx, yu      []T // of a panel: rows of V, then of X; rows of Y, then of U
	coefficient []T
	inner       []T
	column, row []T
}

// start makes room for a matrix of m rows, which the caller writes to row(i).
func (b *bidiagonal[T]) start(m, n int) {
	if b.update == nil {
		b.update, b.vector = newUpdater[T](), gemm.VectorFor[T]()
		b.coefficient, b.inner = make([]T, 2*panelCols), make([]T, 2*panelCols)
	}
	b.m, b.n, b.tall, b.wide = m, n, padded(m), padded(n)
	b.a = grown(b.a, b.tall*b.wide)
	b.v, b.u = grown(b.v, n*b.tall), grown(b.u, n*b.wide)
	b.tauV, b.tauU = grown(b.tauV, n), grown(b.tauU, n)
	b.vx, b.yu = grown(b.vx, 2*panelCols*b.tall), grown(b.yu, 2*panelCols*b.wide)
	b.column, b.row = grown(b.column, b.tall), grown(b.row, b.wide)
	clear(b.a[:b.tall*b.wide])
	clear(b.v[:n*b.tall])
	clear(b.u[:n*b.wide])
}

func (b *bidiagonal[T]) rowOf(i int) []T { return b.a[i*b.wide:][:b.n] }

// reduce computes the diagonal d[n] and what is above it, e[n-1]. Reflector i from the left is row i of v, with its 1 at i, and that from the right row i of
// u, with its 1 at i+1.
func (b *bidiagonal[T]) reduce(d, e []float64) {
	if isDirect(b.m, b.n) {
		b.reduceDirect(d, e)
		return
	}
	for j := 0; j < b.n; j += panelCols {
		clear(b.vx[:2*panelCols*b.tall])
		clear(b.yu[:2*panelCols*b.wide])
		k := min(panelCols, b.n-j)
		for i := range k {
			b.left(j+i, i, d)
			if j+i+1 < b.n {
				b.right(j+i, i, e)
			}
		}
		if at := j + k; at < b.n {
			left := Matrix[T]{Data: b.vx, At: at, Row: 1, Col: b.tall}
			right := Matrix[T]{Data: b.yu, At: at, Row: b.wide, Col: 1, Conjugate: isComplex[T]()}
			b.update.Subtract(Dense(b.a, b.wide).From(at, at), left, right, b.m-at, b.n-at, 2*panelCols, false)
		}
	}
}

// correct subtracts from to, from place lo on, the first rows of both halves of a panel times the coefficients, of which those of the second half come later.
func (b *bidiagonal[T]) correct(to, panel []T, stride, lo, first, second int) {
	c := b.coefficient
	for i := range c {
		c[i] = -c[i]
	}
	b.vector.Combine(c[:gemm.Padded(first, 8)], panel[lo:], stride, to)
	b.vector.Combine(c[panelCols:][:gemm.Padded(second, 8)], panel[panelCols*stride+lo:], stride, to)
}

// products computes for each of the first rows of both halves of a panel its adjoint times x, as coefficients. x is conjugated meanwhile.
func (b *bidiagonal[T]) products(x, panel []T, stride, lo, first, second int) {
	clear(b.inner)
	Conjugate(x)
	b.vector.Inner(x, panel[lo:], stride, b.inner[:first])
	b.vector.Inner(x, panel[panelCols*stride+lo:], stride, b.inner[panelCols:][:second])
	Conjugate(x)
	Conjugate(b.inner)
	copy(b.coefficient, b.inner)
}

// left makes the reflector of column c, which is column i of its panel, and row i of Y.
func (b *bidiagonal[T]) left(c, i int, d []float64) {
	s := b.tall
	lo := c / rowMultiple * rowMultiple
	x := b.column[:s]
	clear(x)
	for r := c; r < b.m; r++ {
		x[r] = b.a[r*b.wide+c]
	}
	clear(b.coefficient)
	for k := range i { // the column of Yᴴ, and of Uᴴ
		b.coefficient[k] = conjugate(b.yu[k*b.wide+c])
		b.coefficient[panelCols+k] = conjugate(b.yu[(panelCols+k)*b.wide+c])
	}
	b.correct(x[lo:], b.vx, s, lo, i, i)
	clear(x[:c])
	clear(x[b.m:])
	tau := Reflector(x[c:b.m])
	d[c], b.tauV[c] = realPart(x[c]), tau
	x[c] = 1
	copy(b.v[c*s:], x)
	copy(b.vx[i*s:], x)
	if c+1 == b.n {
		return
	}
	// y = tau·(Aᴴ·v - Y·Vᴴ·v - U·Xᴴ·v)
	from := c / 8 * 8
	at := (c + 1) / rowMultiple * rowMultiple
	y := b.yu[i*b.wide:][:b.wide]
	Conjugate(x)
	b.vector.Combine(x[from:], b.a[from*b.wide+at:], b.wide, y[at:])
	Conjugate(x)
	Conjugate(y)
	b.products(x[lo:], b.vx, s, lo, i, i)
	b.correct(y[at:], b.yu, b.wide, at, i, i)
	clear(y[:c+1])
	for k := range y {
		y[k] *= tau
	}
}

// right makes the reflector of row c, which is row i of its panel, and row i of X.
func (b *bidiagonal[T]) right(c, i int, e []float64) {
	s := b.wide
	lo := (c + 1) / rowMultiple * rowMultiple
	z := b.row[:s] // the row of A - V·Yᴴ - X·Uᴴ, conjugated
	copy(z, b.a[c*s:][:s])
	Conjugate(z)
	clear(b.coefficient)
	for k := range i + 1 {
		b.coefficient[k] = conjugate(b.vx[k*b.tall+c])
		b.coefficient[panelCols+k] = conjugate(b.vx[(panelCols+k)*b.tall+c])
	}
	b.correct(z[lo:], b.yu, s, lo, i+1, i)
	clear(z[:c+1])
	clear(z[b.n:])
	tau := Reflector(z[c+1 : b.n])
	e[c], b.tauU[c] = realPart(z[c+1]), tau
	z[c+1] = 1
	copy(b.u[c*s:], z)
	u := b.yu[(panelCols+i)*s:][:s]
	// x = tau·(A·u - V·Yᴴ·u - X·Uᴴ·u)
	x := b.vx[(panelCols+i)*b.tall:][:b.tall]
	b.vector.Inner(z[lo:], b.a[(c+1)*s+lo:], s, x[c+1:b.m])
	b.products(z[lo:], b.yu, s, lo, i+1, i)
	copy(u, z)
	at := (c + 1) / rowMultiple * rowMultiple
	b.correct(x[at:], b.vx, b.tall, at, i+1, i)
	clear(x[:c+1])
	clear(x[b.m:])
	for k := range x {
		x[k] *= tau
	}
}
