package factor

import (
	"math"

	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// LU factorises with partial pivoting. It keeps memory from one call to the next; the zero value is ready.
type LU[T Number] struct {
	update   *updater[T]
	triangle Triangle[T]
	room     []T
	leaf     []T
	factors  [(luLeaf + combined - 1) / combined * combined]T
	divide   func(x, y []T)
	combine  func(x, a []T, stride int, y []T)
}

// luLeaf is the number of columns up to which they are taken one by one.
const luLeaf = 16

// Factor replaces the row-major a[m,n] by its factors, L below the diagonal and U on and above it, of the matrix with rows exchanged: row i with row
// pivots[i], in that order. pivots has min(m, n) elements. It returns the first column (from 0) whose pivot is zero, or -1.
//
// The left half of the columns is factorised, its exchanges and its L are applied to the right half, and what is below is factorised.
func (f *LU[T]) Factor(a Matrix[T], m, n int, pivots []int32) int {
	if m == 0 {
		return -1
	}
	if n <= luLeaf || m == 1 {
		return f.leafColumns(a, m, n, pivots)
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

// leafColumns is the same column by column: each is copied behind those that are done, what these take from it is subtracted in one step, and it is divided by its pivot.
//
// The loop that subtracts takes combined columns at a time: before the first there are as many of zeros, to fill them up.
func (f *LU[T]) leafColumns(a Matrix[T], m, n int, pivots []int32) int {
	if f.divide == nil {
		f.divide, f.combine = divider[T](), gemm.VectorFor[T]().Combine
	}
	f.leaf = grown(f.leaf, (combined+n+1)*m)
	zeros, columns, divisors := f.leaf[:combined*m], f.leaf[combined*m:][:n*m], f.leaf[(combined+n)*m:][:m]
	clear(zeros)
	transpose(columns, a.Data[a.At:], m, n, m, a.Row)
	bad := -1
	for j := range n {
		y := columns[j*m:][:m]
		f.subtractColumns(y, j, m)
		if j >= m {
			continue
		}
		p, largest := largestOf(y[j:])
		p += j
		pivots[j] = int32(p)
		if largest == 0 {
			if bad < 0 {
				bad = j
			}
			continue
		}
		if p != j {
			for k := 0; k < len(columns); k += m {
				columns[k+j], columns[k+p] = columns[k+p], columns[k+j]
			}
		}
		if below := y[j+1:]; len(below) > 0 {
			same := divisors[:len(below)]
			for i := range same {
				same[i] = y[j]
			}
			f.divide(below, same)
		}
	}
	transpose(a.Data[a.At:], columns, n, m, a.Row, m)
	return bad
}

// combined is how many columns are subtracted at once.
const combined = 8

// subtractColumns subtracts from y, column j of a leaf of m rows, what the columns before take from it.
func (f *LU[T]) subtractColumns(y []T, j, m int) {
	columns := f.leaf[combined*m:]
	done := min(j, m)
	for i := range done {
		l := columns[i*m:][:done]
		for r := i + 1; r < done; r++ {
			y[r] -= y[i] * l[r]
		}
	}
	if done == 0 || done == m {
		return
	}
	factors := &f.factors
	clear(factors[:]) // an infinity of the last column times zero is not zero
	before := (combined - done%combined) % combined
	for i := range done {
		factors[before+i] = -y[i]
	}
	f.combine(factors[:before+done], f.leaf[(combined-before)*m+done:], m, y[done:])
}

// largestOf is where v, which is not empty, has the first of its largest numbers, by size, and how large it is; NaN is never the largest.
func largestOf[T Number](v []T) (at int, largest float64) {
	switch x := any(v).(type) {
	case []float32:
		if at = largestOfBits(bitsOf[uint32](v), math.Float32bits(float32(math.Inf(1)))); at >= 0 {
			return at, math.Abs(float64(x[at]))
		}
		return 0, -1
	case []float64:
		if at = largestOfBits(bitsOf[uint64](v), math.Float64bits(math.Inf(1))); at >= 0 {
			return at, math.Abs(x[at])
		}
		return 0, -1
	}
	largest = -1
	for i, x := range v {
		if s := size(x); s > largest {
			at, largest = i, s
		}
	}
	return at, largest
}

// largestOfBits is where the first of the largest sizes is among floats, or -1 if all are NaN. Bits but for the sign are in the order of sizes; which is the
// largest is not to be foretold, so there are no branches.
func largestOfBits[U uint32 | uint64](v []U, infinity U) int {
	var m0, m1, m2, m3 U // one more than sizes
	rest := v
	for ; len(rest) >= 4; rest = rest[4:] {
		m0 = max(m0, sizeUnlessNaN(rest[0], infinity))
		m1 = max(m1, sizeUnlessNaN(rest[1], infinity))
		m2 = max(m2, sizeUnlessNaN(rest[2], infinity))
		m3 = max(m3, sizeUnlessNaN(rest[3], infinity))
	}
	for _, x := range rest {
		m0 = max(m0, sizeUnlessNaN(x, infinity))
	}
	largest := max(m0, m1, m2, m3) - 1
	for i, x := range v {
		if x<<1>>1 == largest {
			return i
		}
	}
	return -1
}

// sizeUnlessNaN is one more than the bits of a float but for its sign, or 0.
func sizeUnlessNaN[U uint32 | uint64](x, infinity U) U {
	x = x<<1>>1 + 1
	if x > infinity+1 {
		x = 0
	}
	return x
}

// size is what LAPACK chooses pivots by: of complex numbers the sum of the parts.
func size[T Number](x T) float64 { return math.Abs(realPart(x)) + math.Abs(imaginaryPart(x)) }
