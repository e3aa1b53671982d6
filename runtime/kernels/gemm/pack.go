package gemm

import (
	"unsafe"

	"github.com/gohalo/halo/runtime/kernels/square"
)

// Matrix locates the elements of a matrix in memory: element (i, k) is at Rows[i] + Ks[k]. For a right matrix, Rows are its columns.
type Matrix struct {
	Rows, Ks             []int
	linearRows, linearKs bool
	fallingKs            bool // in memory, neighbours along k lie in the other order
}

// NewMatrix notices where neighbours in memory are neighbours in the matrix.
func NewMatrix(rows, ks []int) Matrix {
	return Matrix{rows, ks, isLinear(rows), isLinear(ks), isFalling(ks)}
}

func isLinear(v []int) bool {
	for i, x := range v {
		if x != v[0]+i {
			return false
		}
	}
	return true
}

func isFalling(v []int) bool {
	for i, x := range v {
		if x != v[0]-i {
			return false
		}
	}
	return len(v) > 1
}

// Pack writes rows [i0, i1) over [k0, k1) as panels of r rows, filled up with zeros. dst has Padded(i1-i0, r)*(k1-k0) elements.
func Pack[T Number](m *Matrix, dst, src []T, r, i0, i1, k0, k1 int) {
	kc := k1 - k0
	ks := m.Ks[k0:k1]
	if whole := (i1 - i0) / r * r; m.linearRows && whole > 0 {
		packRuns(dst, src[m.Rows[i0]:], ks, r, whole)
		dst = dst[whole*kc:]
		i0 += whole
	}
	for i := i0; i < i1; i += r {
		panel := dst[:kc*r]
		dst = dst[kc*r:]
		rows := m.Rows[i:min(i+r, i1)]
		if len(rows) < r {
			clear(panel)
		}
		switch {
		case m.linearKs:
			Interleave(panel, src, rows, ks[0], kc, r, m.toNext(i, i1, r))
		case m.fallingKs:
			Interleave(panel, src, rows, ks[kc-1], kc, r, m.toNext(i, i1, r))
			turnAround(panel, r)
		case len(rows) == r && isLinear(rows):
			packRuns(panel, src[rows[0]:], ks, r, r)
		default:
			packScattered(panel, src, rows, ks, r)
		}
	}
}

// toNext is how far behind row i that of the next panel is, or 0 if row i1 comes before.
func (m *Matrix) toNext(i, i1, r int) int {
	if i+r >= i1 {
		return 0
	}
	return m.Rows[i+r] - m.Rows[i]
}

// turnAround brings lines of r elements into the other order.
func turnAround[T Number](panel []T, r int) {
	for i, j := 0, len(panel)-r; i < j; i, j = i+r, j-r {
		a, b := panel[i:][:r], panel[j:][:r]
		for x, v := range a {
			a[x], b[x] = b[x], v
		}
	}
}

// packScattered packs a panel of rows that are not neighbours and only parts of which lie together.
func packScattered[T Number](panel, src []T, rows, ks []int, r int) {
	for k := 0; k < len(ks); {
		n := 1
		for k+n < len(ks) && ks[k+n] == ks[k]+n {
			n++
		}
		if n >= side {
			Interleave(panel[k*r:], src, rows, ks[k], n, r, 0)
			k += n
			continue
		}
		for _, at := range ks[k : k+n] {
			p := panel[k*r:][:len(rows)]
			for x, row := range rows {
				p[x] = src[row+at]
			}
			k++
		}
	}
}

// runsTogether is how many runs are cut into panels at a time: few enough for the processor to follow all of them, and so many that the lines of a panel are
// written several at a time.
const runsTogether = 8

// packRuns is Pack of n rows, a multiple of r, that are neighbours in memory.
func packRuns[T Number](dst, src []T, ks []int, r, n int) {
	if vectorRuns(dst, src, ks, r, n) {
		return
	}
	for k := 0; k < len(ks); k += runsTogether {
		some := ks[k:min(k+runsTogether, len(ks))]
		for i := 0; i < n; i += r {
			panel := dst[i*len(ks)+k*r:][:len(some)*r]
			for _, at := range some {
				copyRun(panel[:r], src[at+i:][:r])
				panel = panel[r:]
			}
		}
	}
}

func copyRun[T any](dst, src []T) {
	if len(dst) > 8 {
		copy(dst, src)
		return
	}
	src = src[:len(dst)]
	if tail := len(dst) - 4; tail >= 0 { // in registers, though some may be moved twice
		*(*[4]T)(dst) = *(*[4]T)(src)
		*(*[4]T)(dst[tail:]) = *(*[4]T)(src[tail:])
		return
	}
	for i := range dst {
		dst[i] = src[i]
	}
}

// spread writes src to every r-th element of dst.
func spread[T Number](dst, src []T, r int) {
	at := 0
	for _, v := range src {
		dst[at] = v
		at += r
	}
}

// Interleave writes runs of n elements, which begin at the given distance behind each of the rows, side by side to every r-th place of a panel, so that a line of
// it is written while it is near. The rows of the next panel, if that is known, begin ahead elements behind these, and memory is asked for them.
func Interleave[T Number](panel, src []T, rows []int, at, n, r, ahead int) {
	if squares(panel, src, rows, at, n, r, ahead) {
		return
	}
	if len(rows) == 14 && r == 14 {
		interleave14(panel, src, rows, at, n)
		return
	}
	x := 0
	for ; x+8 <= len(rows); x += 8 {
		interleave8(panel[x:], src, rows[x:][:8], at, n, r)
	}
	for ; x < len(rows); x++ {
		spread(panel[x:], src[rows[x]+at:][:n], r)
	}
}

// squares is Interleave by squares in registers, if elements have 32 bits and there is a square at all. The last rows and columns may be written twice.
func squares[T Number](panel, src []T, rows []int, at, n, r, ahead int) bool {
	var zero T
	if unsafe.Sizeof(zero) != 4 || n < side {
		return false
	}
	to, from := words(panel), words(src)
	if wideSquares(to, from, rows, at, n, r) {
		return true
	}
	if len(rows) < side {
		return len(rows) == r && r >= side/2 && narrowSquares(to, from, rows, at, n, ahead)
	}
	for x := 0; ; x = min(x+side, len(rows)-side) {
		var first [side]int
		for i := range first {
			first[i] = rows[x+i] + at
		}
		done := square.Rows(to[x:], from, &first, n, r, ahead)
		if done == 0 {
			return false
		}
		if done < n {
			for i := range first {
				first[i] += n - side
			}
			square.Rows(to[x+(n-side)*r:], from, &first, side, r, ahead)
		}
		if x+side == len(rows) {
			return true
		}
	}
}

// wideSquares is squares with vectors of 512 bits, if the processor has them.
func wideSquares(to, from []uint32, rows []int, at, n, r int) bool {
	if n < 2*side {
		return false
	}
	for x := 0; x < len(rows); x += 2 * side {
		if !square.WideRows(to[x:], from[at:], rows[x:min(x+2*side, len(rows))], n, r) {
			return false
		}
	}
	return true
}

// narrowSquares is squares for a panel of four to seven rows, each of which is as long as there are rows: a column of a square ends in what the next one overwrites.
// The last one goes through memory of its own.
func narrowSquares(to, from []uint32, rows []int, at, n, ahead int) bool {
	r := len(rows)
	var first [side]int
	for i := range first {
		first[i] = rows[min(i, r-1)] + at
	}
	done := (n - 1) / side * side
	if done > 0 && square.Rows(to, from, &first, done, r, ahead) == 0 {
		return false
	}
	for i := range first {
		first[i] += n - side
	}
	var last [side * side]uint32
	if square.Rows(last[:], from, &first, side, side, ahead) == 0 {
		return false
	}
	for k := done; k < n; k++ {
		copyRun(to[k*r:][:r], last[(k-n+side)*side:])
	}
	return true
}

// side is that of squares of elements of 32 bits.
const side = 8

// words are elements of 32 bits as what they are in memory.
func words[T Number](x []T) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// interleave8 writes 8 rows side by side to every r-th place: a line of memory is written while it is near.
func interleave8[T Number](panel, src []T, rows []int, at, n, r int) {
	row := func(i int) []T { return src[rows[i]+at:][:n] }
	r0, r1, r2, r3, r4, r5, r6, r7 := row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)
	for k := range r0 {
		p := panel[r*k:][:8]
		p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = r0[k], r1[k], r2[k], r3[k], r4[k], r5[k], r6[k], r7[k]
	}
}

// LinearRows reports whether neighbouring rows are neighbours in memory.
func (m *Matrix) LinearRows() bool { return m.linearRows }

// RowStride is how far apart rows of a right matrix are whose elements are neighbours, if they all are that far apart; a single row is as far apart as it is long.
func (m *Matrix) RowStride() (stride int, ok bool) {
	stride = len(m.Rows)
	if len(m.Ks) > 1 {
		stride = m.Ks[1] - m.Ks[0]
	}
	for i, x := range m.Ks {
		if x != m.Ks[0]+i*stride {
			return 0, false
		}
	}
	return stride, m.linearRows && stride > 0
}

// LinearKs reports whether the elements of a row are neighbours in memory.
func (m *Matrix) LinearKs() bool { return m.linearKs }

// interleave14 is for the panels of most processors.
func interleave14[T Number](panel, src []T, rows []int, at, n int) {
	row := func(i int) []T { return src[rows[i]+at:][:n] }
	r0, r1, r2, r3, r4, r5, r6 := row(0), row(1), row(2), row(3), row(4), row(5), row(6)
	r7, r8, r9, r10, r11, r12, r13 := row(7), row(8), row(9), row(10), row(11), row(12), row(13)
	for k := range r0 {
		p := panel[14*k:][:14]
		p[0], p[1], p[2], p[3], p[4], p[5], p[6] = r0[k], r1[k], r2[k], r3[k], r4[k], r5[k], r6[k]
		p[7], p[8], p[9], p[10], p[11], p[12], p[13] = r7[k], r8[k], r9[k], r10[k], r11[k], r12[k], r13[k]
	}
}
