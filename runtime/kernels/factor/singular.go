package factor

import (
	"math"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/lapack/gonum"
)

// Singular finds singular values and vectors of matrices of T, whose parts are of type R. It keeps memory from one call to the next; the zero value is ready.
//
// The matrix is reduced to a bidiagonal one, whose singular values the implicit QR iteration finds in float64. Its rotations are applied to identities, and
// the reflectors of the reduction to the results. A matrix of many more rows than columns is first factorised as QR.
type Singular[T Number, R Float] struct {
	reduction   bidiagonal[T]
	iteration   bidiagonalQR[R]
	quotients   quotients
	qr          QR[T]
	d, e, work  []float64
	order       []int
	taus        []T
	upper, room []T
}

// Factor writes the singular values of a[m,n], m ≥ n, in descending order to values[n]. Unless columns is 0, the first columns ≥ n left vectors are written as columns
// of u[m,columns] and the right ones as conjugated rows of vh[n,n]. It reports false if the matrix is not finite, or the iteration comes to no end.
func (f *Singular[T, R]) Factor(a Matrix[T], m, n int, values []R, u []T, columns int, vh []T) bool {
	f.d, f.e, f.order = grown(f.d, n), grown(f.e, n), grown(f.order, n)
	d, e, order := f.d[:n], f.e[:n-1], f.order[:n]
	isTall := 3*m >= 5*n && m*n > 1<<10
	rows := m
	if isTall {
		f.upper, f.taus, rows = grown(f.upper, m*n), grown(f.taus, n), n
		for i := range m {
			if row := f.upper[i*n:][:n]; !finiteRow(row, a, i, 0) {
				return false
			}
		}
		a = Dense(f.upper, n)
		f.qr.Factor(a, m, n, f.taus[:n])
	}
	b := &f.reduction
	b.start(rows, n)
	for i := range rows {
		row, from := b.rowOf(i), 0
		if isTall {
			from = i
		}
		if !finiteRow(row[from:], a, i, from) {
			return false
		}
	}
	b.reduce(d, e)
	if columns == 0 {
		return f.alone(d, e, values)
	}
	it := &f.iteration
	it.left.reset(n)
	it.right.reset(n)
	if !it.run(d, e) {
		return false
	}
	it.left.flush()
	it.right.flush()
	f.sort(d, order)
	for i, k := range order {
		values[i] = R(math.Abs(d[k]))
	}
	clear(u[:m*columns])
	for i := n; i < columns; i++ {
		u[i*columns+i] = 1
	}
	it.left.columns(order, func(i int, row []R) { setReal(u[i*columns:][:n], row) })
	left := Dense(u, columns)
	f.qr.Multiply(left, rows, min(columns, max(n, rows)), b.v, b.tall, b.tauV[:n])
	if isTall {
		f.room = grown(f.room, n*m)
		for i := range n {
			row := f.room[i*m:][:m]
			clear(row[:i])
			row[i] = 1
			for r := i + 1; r < m; r++ {
				row[r] = f.upper[r*n+i]
			}
		}
		f.qr.Multiply(left, m, columns, f.room, m, f.taus[:n])
	}
	f.rightVectors(d, order, vh)
	return true
}

// finiteRow copies row i of a from column j on, and reports whether all of it is finite.
func finiteRow[T Number](row []T, a Matrix[T], i, j int) bool {
	a.CopyRow(row, i, j)
	for _, x := range row {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// rightVectors writes Vᴴ: the rows that the iteration leaves, times the adjoint of the reflectors from the right.
func (f *Singular[T, R]) rightVectors(d []float64, order []int, vh []T) {
	b, n := &f.reduction, len(d)
	if n == 1 {
		vh[0] = Real[T](math.Copysign(1, d[0]))
		return
	}
	// V = P·(rows)ᵀ as columns, and then its adjoint.
	f.room = grown(f.room, n*n)
	f.iteration.right.columns(order, func(i int, row []R) { setReal(f.room[i*n:][:n], row) })
	v := Dense(f.room, n)
	f.qr.Multiply(v.From(1, 0), n-1, n, b.u[1:], b.wide, b.tauU[:n-1])
	v = v.Adjoint()
	for i, k := range order {
		row := vh[i*n:][:n]
		v.CopyRow(row, i, 0)
		if d[k] < 0 {
			for j, x := range row {
				row[j] = -x
			}
		}
	}
}

// alone finds the values without vectors, by the quotient-difference iteration, which shifts and divides where the other rotates. Values of float32
// are looked for by their squares first.
func (f *Singular[T, R]) alone(d, e []float64, values []R) bool {
	scale, ok := normalise(d, e)
	if !ok {
		return false
	}
	if unsafe.Sizeof(values[0]) == 4 && f.bySquares(d, e, values, scale) {
		return true
	}
	if !f.quotients.singular(d, e) {
		return false
	}
	for i, x := range d { // in descending order
		values[i] = R(x * scale)
	}
	return true
}

// bySquares finds the values of a bidiagonal matrix B as roots of the eigenvalues of BᵀB, in half of the time. These are wrong by a few units of float64 of
// the largest, 2⁻⁵² of it; in the root of one that is 2⁻²⁴ of the largest, that is a few times 2⁻²⁹, less than float32 tells. If there is a smaller one, it
// reports false.
func (f *Singular[T, R]) bySquares(d, e []float64, values []R, scale float64) bool {
	n := len(d)
	f.work = grown(f.work, 2*n)
	squares, beside := f.work[:n], f.work[n:][:n-1]
	before := 0.0
	for i, x := range d {
		squares[i] = x*x + before
		if i < n-1 {
			beside[i], before = x*e[i], e[i]*e[i]
		}
	}
	var l gonum.Implementation
	if !l.Dsterf(n, squares, beside) || squares[0] < squares[n-1]*0x1p-24 {
		return false
	}
	for i := range values {
		values[i] = R(math.Sqrt(squares[n-1-i]) * scale)
	}
	return true
}

// sort puts the places of the values into descending order of their sizes.
func (f *Singular[T, R]) sort(d []float64, order []int) {
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		switch a, b := math.Abs(d[x]), math.Abs(d[y]); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
}
