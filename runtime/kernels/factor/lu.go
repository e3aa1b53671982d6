package factor

import "math"

// LU factorises with partial pivoting. It keeps memory from one call to the next; the zero value is ready.
type LU[T Number] struct {
	update   *updater[T]
	triangle Triangle[T]
	room     []T
}

// luLeaf is the number of columns below which they are taken one by one.
const luLeaf = 8

// Factor replaces the row-major a[m,n] by its factors, L below the diagonal and U on and above it, of the matrix with rows exchanged: row i with row
// pivots[i], in that order. pivots has min(m, n) elements. It returns the first column (from 0) whose pivot is zero, or -1.
//
// The left half of the columns is factorised, its exchanges and its L are applied to the right half, and what is below is factorised.
func (f *LU[T]) Factor(a Matrix[T], m, n int, pivots []int32) int {
	if n <= luLeaf || m <= 1 {
		return luColumns(a, m, n, pivots)
	}
	if f.update == nil {
		f.update = newUpdater[T]()
	}
	h := min(m, n) / 2
	if h > luLeaf {
		h = h / luLeaf * luLeaf
	}
	h = max(h, 1)
	bad := f.Factor(a, m, h, pivots[:h])
	right, below := a.From(0, h), a.From(h, 0)
	exchange(right, n-h, pivots[:h])
	f.triangle.Pack(a, h, true)
	f.room = f.triangle.SolveAll(right, n-h, f.room)
	rest := a.From(h, h)
	f.update.Subtract(rest, below, right, m-h, n-h, h, false)
	if b := f.Factor(rest, m-h, n-h, pivots[h:]); b >= 0 && bad < 0 {
		bad = h + b
	}
	exchange(below, h, pivots[h:])
	for i := range pivots[h:] {
		pivots[h+i] += int32(h)
	}
	return bad
}

// exchange swaps the first n elements of rows.
func exchange[T Number](a Matrix[T], n int, pivots []int32) {
	for i, p := range pivots {
		if int(p) == i {
			continue
		}
		x, y := a.Data[a.At+i*a.Row:][:n], a.Data[a.At+int(p)*a.Row:][:n]
		for k := range x {
			x[k], y[k] = y[k], x[k]
		}
	}
}

// luColumns is the same column by column.
func luColumns[T Number](a Matrix[T], m, n int, pivots []int32) int {
	bad := -1
	for j := range min(m, n) {
		p, largest := j, -1.0
		for i := j; i < m; i++ {
			if s := size(a.Data[a.At+i*a.Row+j]); s > largest {
				p, largest = i, s
			}
		}
		pivots[j] = int32(p)
		if largest == 0 {
			if bad < 0 {
				bad = j
			}
			continue
		}
		row := a.Data[a.At+j*a.Row:][:n]
		if p != j {
			other := a.Data[a.At+p*a.Row:][:n]
			for k := range row {
				row[k], other[k] = other[k], row[k]
			}
		}
		d := row[j]
		for i := j + 1; i < m; i++ {
			to := a.Data[a.At+i*a.Row:][:n]
			l := to[j] / d
			to[j] = l
			for k := j + 1; k < n; k++ {
				to[k] -= l * row[k]
			}
		}
	}
	return bad
}

// size is what LAPACK chooses pivots by: of complex numbers the sum of the parts.
func size[T Number](x T) float64 {
	switch z := any(x).(type) {
	case float32:
		return math.Abs(float64(z))
	case float64:
		return math.Abs(z)
	case complex64:
		return math.Abs(float64(real(z))) + math.Abs(float64(imag(z)))
	case complex128:
		return math.Abs(real(z)) + math.Abs(imag(z))
	}
	panic("factor: a number of another type")
}
