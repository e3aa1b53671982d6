package factor

import (
	"math"
	"unsafe"

	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/square"
)

// Number is an element type of matrices.
type Number interface {
	float32 | float64 | complex64 | complex128
}

// Matrix is a view: element (i, j) is Data[At+i*Row+j*Col]. Strides may be negative. Sizes are the caller's affair.
type Matrix[T Number] struct {
	Data         []T
	At, Row, Col int
	Conjugate    bool // elements are the conjugates of what is in memory; for matrices that are only read
}

// Dense is the view of a row-major matrix.
func Dense[T Number](data []T, cols int) Matrix[T] { return Matrix[T]{Data: data, Row: cols, Col: 1} }

// From is the part that begins at (i, j).
func (m Matrix[T]) From(i, j int) Matrix[T] {
	m.At += i*m.Row + j*m.Col
	return m
}

// Transposed exchanges rows and columns.
func (m Matrix[T]) Transposed() Matrix[T] {
	m.Row, m.Col = m.Col, m.Row
	return m
}

// Adjoint is the conjugate of the transposed matrix.
func (m Matrix[T]) Adjoint() Matrix[T] {
	m = m.Transposed()
	m.Conjugate = !m.Conjugate
	return m
}

// RowsReversed is a matrix of n rows from the last to the first.
func (m Matrix[T]) RowsReversed(n int) Matrix[T] {
	m.At += (n - 1) * m.Row
	m.Row = -m.Row
	return m
}

// Reversed is a matrix of n rows and n columns, both from the last to the first: an upper triangle becomes a lower one.
func (m Matrix[T]) Reversed(n int) Matrix[T] {
	return m.RowsReversed(n).Transposed().RowsReversed(n).Transposed()
}

// CopyRow copies row i from column j on to dst.
func (m Matrix[T]) CopyRow(dst []T, i, j int) {
	at := m.At + i*m.Row + j*m.Col
	if m.Col == 1 && len(dst) > 0 {
		copy(dst, m.Data[at:][:len(dst)])
	} else {
		for k := range dst {
			dst[k] = m.Data[at]
			at += m.Col
		}
	}
	if m.Conjugate {
		Conjugate(dst)
	}
}

// SetRow writes row i.
func (m Matrix[T]) SetRow(i int, row []T) {
	at := m.At + i*m.Row
	if m.Col == 1 && len(row) > 0 {
		copy(m.Data[at:][:len(row)], row)
		return
	}
	for _, x := range row {
		m.Data[at] = x
		at += m.Col
	}
}

// transpose writes dst[c*dstStride+r] = src[r*srcStride+c].
func transpose[T Number](dst, src []T, rows, cols, dstStride, srcStride int) {
	var x T
	switch unsafe.Sizeof(x) {
	case 4:
		square.Transpose(bitsOf[uint32](dst), bitsOf[uint32](src), rows, cols, dstStride, srcStride)
	case 8:
		square.Transpose(bitsOf[uint64](dst), bitsOf[uint64](src), rows, cols, dstStride, srcStride)
	default:
		for r := range rows {
			for c := range cols {
				dst[c*dstStride+r] = src[r*srcStride+c]
			}
		}
	}
}

// bitsOf is v as numbers U of the same size.
func bitsOf[U uint32 | uint64, T Number](v []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// Conjugate replaces numbers by their conjugates.
func Conjugate[T Number](v []T) {
	switch v := any(v).(type) {
	case []complex64:
		for i, z := range v {
			v[i] = complex(real(z), -imag(z))
		}
	case []complex128:
		for i, z := range v {
			v[i] = complex(real(z), -imag(z))
		}
	}
}

func (m *Matrix[T]) get(i, j int) T {
	x := m.Data[m.At+i*m.Row+j*m.Col]
	if m.Conjugate {
		x = conjugate(x)
	}
	return x
}

// offsets is the view as package gemm sees it. room is memory that it may reuse, and returns.
func (m *Matrix[T]) offsets(rows, cols int, room []int) (gemm.Matrix, []int) {
	room = grown(room, rows+cols)
	r, c := room[:rows], room[rows:][:cols]
	least := min(0, (cols-1)*m.Col) // offsets within a row are not negative
	for i := range r {
		r[i] = m.At + i*m.Row + least
	}
	for j := range c {
		c[j] = j*m.Col - least
	}
	return gemm.NewMatrix(r, c), room
}

// packed writes rows [i0, i1) over columns [0, k) as panels of r rows, negated if so told.
func packed[T Number](dst []T, m *Matrix[T], g *gemm.Matrix, r, i0, i1, k0, k1 int, negate bool) {
	gemm.Pack(g, dst, m.Data, r, i0, i1, k0, k1)
	dst = dst[:gemm.Padded(i1-i0, r)*(k1-k0)]
	if m.Conjugate {
		Conjugate(dst)
	}
	if negate {
		negated(dst)
	}
}

// negated turns the signs of all parts, eight bytes at a time.
func negated[T Number](v []T) {
	var x T
	bytes := len(v) * int(unsafe.Sizeof(x))
	words, signs := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(v))), bytes/8), uint64(1<<63)
	switch any(x).(type) {
	case float32, complex64:
		signs |= 1 << 31
	}
	if bytes%8 != 0 {
		v[len(v)-1] = -v[len(v)-1]
	}
	for ; len(words) >= 4; words = words[4:] {
		words[0] ^= signs
		words[1] ^= signs
		words[2] ^= signs
		words[3] ^= signs
	}
	for i := range words {
		words[i] ^= signs
	}
}

func conjugate[T Number](x T) T {
	switch z := any(x).(type) {
	case complex64:
		return any(complex(real(z), -imag(z))).(T)
	case complex128:
		return any(complex(real(z), -imag(z))).(T)
	}
	return x
}

// realPart is the real part of a number.
func realPart[T Number](x T) float64 {
	switch z := any(x).(type) {
	case float32:
		return float64(z)
	case float64:
		return z
	case complex64:
		return float64(real(z))
	case complex128:
		return real(z)
	}
	panic("factor: a number of another type")
}

// imaginaryPart is the imaginary part of a number.
func imaginaryPart[T Number](x T) float64 {
	switch z := any(x).(type) {
	case complex64:
		return float64(imag(z))
	case complex128:
		return imag(z)
	}
	return 0
}

// isComplex reports whether T has imaginary parts.
func isComplex[T Number]() bool {
	var x T
	switch any(x).(type) {
	case complex64, complex128:
		return true
	}
	return false
}

// complexOf is a number of T with the given parts; a real T has no room for the imaginary one.
func complexOf[T Number](re, im float64) T {
	var z T
	switch p := any(&z).(type) {
	case *complex64:
		*p = complex(float32(re), float32(im))
	case *complex128:
		*p = complex(re, im)
	default:
		return Real[T](re)
	}
	return z
}

// Between these a sum of squares has neither overflowed nor lost anything that counts: what vanishes is below 2⁻¹⁰⁷⁴, a term less than 2⁻¹⁷⁴ of the sum.
const (
	leastSquare = 0x1p-900
	mostSquare  = 0x1p1000
)

// norm is the Euclidean norm of v. Sums of squares neither overflow nor vanish.
func norm[T Number](v []T) float64 {
	var sum float64
	switch v := any(v).(type) {
	case []float32: // whose squares a float64 holds
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		return math.Sqrt(sum)
	case []complex64:
		for _, x := range v {
			re, im := float64(real(x)), float64(imag(x))
			sum += re*re + im*im
		}
		return math.Sqrt(sum)
	}
	if v, ok := any(v).([]float64); ok {
		for _, x := range v {
			sum += x * x
		}
		if sum > leastSquare && sum < mostSquare {
			return math.Sqrt(sum)
		}
		sum = 0
	}
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(realPart(x)), math.Abs(imaginaryPart(x)))
	}
	if largest == 0 || largest > math.MaxFloat64 || largest != largest {
		return largest
	}
	for _, x := range v {
		re, im := realPart(x)/largest, imaginaryPart(x)/largest
		sum += re*re + im*im
	}
	return largest * math.Sqrt(sum)
}

// Real is a real number as one of T.
func Real[T Number](x float64) T {
	var z T
	switch p := any(&z).(type) {
	case *float32:
		*p = float32(x)
	case *float64:
		*p = x
	case *complex64:
		*p = complex(float32(x), 0)
	case *complex128:
		*p = complex(x, 0)
	}
	return z
}
