// Package square transposes matrices square by square. On processors with vectors a square lives in registers; elsewhere plain loops
// do the same.
//
//	file                  what
//	square.go             tiles: what keeps both sides of a transposition in the nearest cache
//	thin.go               matrices of less than a square along one axis
//	square_amd64.go gen/  squares in registers, by AVX
package square

import "unsafe"

// Element is what is moved: elements of one, two, four, eight or sixteen bytes.
type Element interface {
	uint8 | uint16 | uint32 | uint64 | [2]uint64
}

// side is how many elements a square in registers has along each axis, for matrices of so many along the shorter one.
func side(width, shorter int) int {
	if width == 8 && (!hasWide || shorter < 8) {
		return 4
	}
	return 8
}

// wholeRegister is the size of elements of which one is all that a move takes, so that there is nothing to do in registers.
const wholeRegister = 16

// tileBytes is the size of the tile that a transposition goes through: its columns become runs that are copied to their places whole, so
// that memory is written line by line even if neighbouring columns lie at addresses that share a place in the cache.
const tileBytes = 8192

// A result of fewLines lines, or whose lines all lie within nearBytes of each other, is written square by square: so few lines of memory find a place in the cache
// wherever they are.
const (
	fewLines  = 8
	nearBytes = 128
)

// Transpose writes dst[c*dstStride+r] = src[r*srcStride+c] for all rows r and columns c. Strides are in elements.
func Transpose[T Element](dst, src []T, rows, cols, dstStride, srcStride int) {
	var e T
	width := int(unsafe.Sizeof(e))
	k := side(width, min(rows, cols))
	if !hasVectors || width == wholeRegister || rows < k || cols < k {
		if d, ok := any(dst).([]uint32); !ok || !thin(d, any(src).([]uint32), rows, cols, dstStride, srcStride) {
			plain(dst, src, rows, cols, dstStride, srcStride)
		}
		return
	}
	wholeRows, wholeCols := rows/k*k, cols/k*k
	if cols <= fewLines || dstStride*width <= nearBytes && rows*width <= nearBytes {
		_, _ = src[(wholeRows-1)*srcStride+wholeCols-1], dst[(wholeCols-1)*dstStride+wholeRows-1]
		whole(first(dst), first(src), uintptr(dstStride*width), uintptr(srcStride*width), uintptr(wholeRows/k), uintptr(wholeCols/k), width, k)
	} else {
		throughTile(dst, src, wholeRows, wholeCols, dstStride, srcStride, k)
	}
	if wholeCols < cols { // the last square has some columns of the one before
		Transpose(dst[(cols-k)*dstStride:], src[cols-k:], rows, k, dstStride, srcStride)
	}
	if wholeRows < rows {
		Transpose(dst[rows-k:], src[(rows-k)*srcStride:], k, wholeCols, dstStride, srcStride)
	}
}

// throughTile is Transpose for whole squares of side k.
func throughTile[T Element](dst, src []T, rows, cols, dstStride, srcStride, k int) {
	var e T
	width := int(unsafe.Sizeof(e))
	var tile [tileBytes / 8]uint64
	t := unsafe.Slice((*T)(unsafe.Pointer(&tile)), tileBytes/width)
	long := 64 // elements of a tile along the columns of the operand, a run of the result
	if width >= 4 {
		long = 32
	}
	high := tileBytes / width / long
	for r := 0; r < rows; r += long {
		n := min(long, rows-r)
		for c := 0; c < cols; c += high {
			m := min(high, cols-c)
			_ = src[(r+n-1)*srcStride+c+m-1]
			whole(first(t), first(src[r*srcStride+c:]), uintptr(long*width), uintptr(srcStride*width), uintptr(n/k), uintptr(m/k), width, k)
			for i := range m {
				copy(dst[(c+i)*dstStride+r:][:n], t[i*long:])
			}
		}
	}
}

func first[T Element](v []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(v))) }

// Rows writes dst[c*dstStride+r] = src[rows[r]+c] for eight rows and the first columns of n, as many as are whole squares, and returns how many these are.
// Columns are written in their order: with a stride below eight each overwrites what the one before has written behind its own elements.
// It asks for memory ahead elements behind what it reads, for who comes next, wherever that is.
func Rows(dst, src []uint32, rows *[8]int, n, dstStride, ahead int) int {
	n = n / 8 * 8
	if !hasVectors || n == 0 {
		return 0
	}
	for _, at := range rows {
		_ = src[at:][:n]
	}
	_ = dst[(n-1)*dstStride:][:8]
	rows32((*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(&src[0])), rows, uintptr(4*dstStride), uintptr(n/8), uintptr(4*ahead))
	return n
}

// RowsBF16 is Rows for elements of bf16, which become f32: dst[c*dstStride+r] = src[rows[r]+c]<<16. Squares have sixteen columns.
func RowsBF16(dst []uint32, src []uint16, rows *[8]int, n, dstStride, ahead int) int {
	const columns = 16
	n = n / columns * columns
	if !hasIntegers || n == 0 {
		return 0
	}
	for _, at := range rows {
		_ = src[at:][:n]
	}
	_ = dst[(n-1)*dstStride:][:8]
	rowsBF16AVX2((*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(&src[0])), rows, uintptr(4*dstStride), uintptr(n/columns), uintptr(2*ahead))
	return n
}

// wideSide is how many elements a square of vectors of 512 bits has along each axis.
const wideSide = 16

// WideRows writes dst[c*dstStride+r] = src[rows[r]+c] for up to sixteen rows and all n columns, and nothing else. It reports false, and writes nothing, where there are no
// vectors of 512 bits, or too few columns for one.
func WideRows(dst, src []uint32, rows []int, n, dstStride int) bool {
	at, kept, ok := wideOffsets(dst, src, rows, n, dstStride, wideSide)
	if !ok {
		return false
	}
	wideRows32((*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(&src[0])), &at, uintptr(4*dstStride), uintptr(n/wideSide), kept)
	if rest := n % wideSide; rest > 0 { // the last square overlaps
		wideRows32((*byte)(unsafe.Pointer(&dst[(n-wideSide)*dstStride])), (*byte)(unsafe.Pointer(&src[n-wideSide])), &at, uintptr(4*dstStride), 1, kept)
	}
	return true
}

// WideRowsBF16 is WideRows for elements of bf16, which become f32: dst[c*dstStride+r] = src[rows[r]+c]<<16. It takes twice as many columns for one vector.
func WideRowsBF16(dst []uint32, src []uint16, rows []int, n, dstStride int) bool {
	const columns = 2 * wideSide
	at, kept, ok := wideOffsets(dst, src, rows, n, dstStride, columns)
	if !ok {
		return false
	}
	wideRowsBF16((*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(&src[0])), &at, uintptr(4*dstStride), uintptr(n/columns), kept)
	if rest := n % columns; rest > 0 { // the last square overlaps
		wideRowsBF16((*byte)(unsafe.Pointer(&dst[(n-columns)*dstStride])), (*byte)(unsafe.Pointer(&src[n-columns])), &at, uintptr(4*dstStride), 1, kept)
	}
	return true
}

// wideOffsets checks what a loop over wide squares of so many columns reads and writes, and says where its rows begin, and which count: it reads the last one in the
// place of those that are missing. The loops are called by name, since what goes to a function value would be moved to the heap.
func wideOffsets[S Element](dst []uint32, src []S, rows []int, n, dstStride, columns int) (at [wideSide]int, kept uint16, ok bool) {
	if !hasWide || n < columns || len(rows) == 0 || len(rows) > wideSide || dstStride < 0 {
		return at, 0, false
	}
	for i := range at {
		at[i] = rows[min(i, len(rows)-1)]
		_ = src[at[i]:][:n]
	}
	_ = dst[(n-1)*dstStride:][:len(rows)]
	return at, uint16(1<<len(rows) - 1), true
}

// plain is Transpose by loops, in squares that stay in the nearest cache.
func plain[T Element](dst, src []T, rows, cols, dstStride, srcStride int) {
	var e T
	high, wide := 32, 32
	if unsafe.Sizeof(e) == wholeRegister {
		high, wide = 8, 4 // lines of the cache, wherever they are
	}
	for r0 := 0; r0 < rows; r0 += high {
		n := min(high, rows-r0)
		for c0 := 0; c0 < cols; c0 += wide {
			for c := c0; c < min(c0+wide, cols); c++ {
				d := dst[c*dstStride+r0:][:n]
				at := r0*srcStride + c
				for i := range d {
					d[i] = src[at]
					at += srcStride
				}
			}
		}
	}
}
