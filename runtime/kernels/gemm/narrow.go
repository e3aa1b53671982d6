package gemm

import "github.com/gohalo/halo/runtime/kernels/square"

// CanDecode reports whether [PackBF16] is fast for m, of which each row has at least k elements at a time.
func CanDecode(m *Matrix, k int) bool {
	return decodesRuns && (m.linearRows || m.linearKs && k >= 2*bf16Side)
}

// bf16Side is the number of columns from which on rows of bf16 are packed by squares.
const bf16Side = 32

// bf16Columns is the number of columns of a square of vectors of 256 bits.
const bf16Columns = 16

// PackBF16 is [Pack] for elements of bf16, which are decoded by the way. Panels have up to 32 rows.
func PackBF16(m *Matrix, dst []float32, src []uint16, r, i0, i1, k0, k1 int) {
	kc, ks := k1-k0, m.Ks[k0:k1]
	if m.linearRows && decodeRuns(dst, src[m.Rows[i0]:], ks, r, i1-i0) {
		return
	}
	dst = dst[:Padded(i1-i0, r)*kc] // others write what is behind it
	for i := i0; i < i1; i += r {
		rows := m.Rows[i:min(i+r, i1)]
		if len(rows) < r {
			clear(dst[:kc*r])
		}
		if !m.linearKs || !decodeSquares(dst, src[ks[0]:], rows, kc, r, m.toNext(i, i1, r)) {
			decodeScattered(dst[:kc*r], src, rows, ks, r)
		}
		dst = dst[kc*r:]
	}
}

// decodeSquares packs a panel of rows whose elements lie together, if they are enough. The rows of the next panel begin ahead elements behind these, and it comes next in dst.
func decodeSquares(dst []float32, src []uint16, rows []int, kc, r, ahead int) bool {
	if kc < bf16Side {
		return false
	}
	for x := 0; x < len(rows); x += 2 * side {
		if !square.WideRowsBF16(words(dst[x:]), src, rows[x:min(x+2*side, len(rows))], kc, r) {
			return decodeNarrowSquares(words(dst), src, rows, kc, r, ahead)
		}
	}
	return true
}

// decodeNarrowSquares is decodeSquares with vectors of 256 bits, for panels of whole squares, or of half a square or more. It may write to what dst has behind the panel.
func decodeNarrowSquares(dst []uint32, src []uint16, rows []int, kc, r, ahead int) bool {
	if r%side != 0 && (r < side/2 || r > side) {
		return false
	}
	for x := 0; x < len(rows); x += side {
		var first, late [side]int
		for i := range first {
			first[i] = rows[min(x+i, len(rows)-1)]
			late[i] = first[i] + kc - bf16Columns
		}
		// Each column of a square overwrites what the one before has written behind its own elements. If there is nothing to write behind the last one, the last square goes
		// through memory of its own.
		inside := kc
		if len(dst) < (kc-1)*r+x+side {
			inside--
		}
		done := square.RowsBF16(dst[x:], src, &first, inside, r, ahead)
		switch {
		case done == 0:
			return false
		case done == kc:
		case inside == kc:
			square.RowsBF16(dst[(kc-bf16Columns)*r+x:], src, &late, bf16Columns, r, ahead)
		default:
			var last [bf16Columns * side]uint32
			square.RowsBF16(last[:], src, &late, bf16Columns, side, ahead)
			for k := done; k < kc; k++ {
				copyRun(dst[k*r+x:][:min(side, r)], last[(k-kc+bf16Columns)*side:])
			}
		}
		// What is missing of a panel is now what the last row is.
		if missing := min(r, x+side) - len(rows); missing > 0 {
			for k := range kc {
				clear(dst[k*r+len(rows):][:missing])
			}
		}
	}
	return true
}

func decodeScattered(panel []float32, src []uint16, rows, ks []int, r int) {
	to := words(panel)
	for k, at := range ks {
		line := to[k*r:][:len(rows)]
		for x, row := range rows {
			line[x] = uint32(src[row+at]) << 16
		}
	}
}

// decodeLines decodes k runs of n columns, stride apart, to a panel of r, which is filled up with zeros.
func decodeLines(k int, from []uint16, stride int, to []uint32, n, r int) {
	for i := range k {
		line := to[i*r:][:r]
		for x, code := range from[i*stride:][:n] {
			line[x] = uint32(code) << 16
		}
		clear(line[n:])
	}
}
