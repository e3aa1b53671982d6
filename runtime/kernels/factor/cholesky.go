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
	switch data := any(a.Data).(type) {
	case []float32:
		return realColumns(data[a.At:], a.Row, n)
	case []float64:
		return realColumns(data[a.At:], a.Row, n)
	}
	for j := range n {
		row := a.Data[a.At+j*a.Row:][:j+1]
		d, ok := pivotOf(row)
		if !ok {
			return false
		}
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

// realColumns is choleskyColumns for real numbers: four rows at once, the sums of which do not wait for each other.
func realColumns[T float32 | float64](a []T, stride, n int) bool {
	for j := range n {
		row := a[j*stride:][:j]
		pivot := float64(a[j*stride+j])
		for _, x := range row {
			pivot -= float64(x * x)
		}
		if !isPivot(pivot) {
			return false
		}
		d := T(math.Sqrt(pivot))
		a[j*stride+j] = d
		i := j + 1
		for ; i+4 <= n; i += 4 {
			r0, r1, r2, r3 := a[i*stride:][:j+1], a[(i+1)*stride:][:j+1], a[(i+2)*stride:][:j+1], a[(i+3)*stride:][:j+1]
			s0, s1, s2, s3 := r0[j], r1[j], r2[j], r3[j]
			for k, x := range row {
				s0 -= r0[k] * x
				s1 -= r1[k] * x
				s2 -= r2[k] * x
				s3 -= r3[k] * x
			}
			r0[j], r1[j], r2[j], r3[j] = s0/d, s1/d, s2/d, s3/d
		}
		for ; i < n; i++ {
			other := a[i*stride:][:j+1]
			sum := other[j]
			for k, x := range row {
				sum -= other[k] * x
			}
			other[j] = sum / d
		}
	}
	return true
}

// pivotOf replaces the last element of a row, which ends on the diagonal, by the factor's, or reports false if there is none.
func pivotOf[T Number](row []T) (T, bool) {
	j := len(row) - 1
	pivot := realPart(row[j])
	for _, x := range row[:j] {
		pivot -= realPart(x * conjugate(x))
	}
	if !isPivot(pivot) {
		return 0, false
	}
	row[j] = Real[T](math.Sqrt(pivot))
	return row[j], true
}

func isPivot(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
