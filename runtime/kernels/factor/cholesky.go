package factor

import "math"

// Cholesky factorises Hermitian matrices. It keeps memory from one call to the next; the zero value is ready.
type Cholesky[T Number] struct {
	update   *updater[T]
	triangle Triangle[T]
	room     []T
}

// choleskyLeaf is the size below which columns are taken one by one.
const choleskyLeaf = 24

// Factor replaces the lower triangle of the row-major a[n,n] by L with A = L·Lᴴ. Above the diagonal it leaves nothing in particular. It
// reports false if a is not positive definite.
//
// The first half is factorised, then the rows below it are solved for, their product is subtracted from the second half, and that is factorised.
func (c *Cholesky[T]) Factor(a Matrix[T], n int) bool {
	if n <= choleskyLeaf {
		return choleskyColumns(a, n)
	}
	if c.update == nil {
		c.update = newUpdater[T]()
	}
	h := (n/2 + choleskyLeaf - 1) / choleskyLeaf * choleskyLeaf
	if !c.Factor(a, h) {
		return false
	}
	below, rest := a.From(h, 0), a.From(h, h)
	// X·Lᴴ = B is conj(L)·Xᵀ = Bᵀ.
	conjugated := a
	conjugated.Conjugate = true
	c.triangle.Pack(conjugated, h, false)
	c.room = c.triangle.SolveAll(below.Transposed(), n-h, c.room)
	c.update.Subtract(rest, below, below.Adjoint(), n-h, n-h, h, true)
	return c.Factor(rest, n-h)
}

// choleskyColumns is the same column by column.
func choleskyColumns[T Number](a Matrix[T], n int) bool {
	for j := range n {
		row := a.Data[a.At+j*a.Row:][:j+1]
		pivot := realPart(row[j])
		for _, x := range row[:j] {
			pivot -= realPart(x * conjugate(x))
		}
		if !(pivot > 0) || math.IsInf(pivot, 1) {
			return false
		}
		d := Real[T](math.Sqrt(pivot))
		row[j] = d
		for i := j + 1; i < n; i++ {
			other := a.Data[a.At+i*a.Row:][:j+1]
			sum := other[j]
			for k, x := range row[:j] {
				sum -= other[k] * conjugate(x)
			}
			other[j] = sum / d
		}
	}
	return true
}
