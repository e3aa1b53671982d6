package gemm

import "github.com/gohalo/halo/runtime/kernels/square"

// CanDecode reports whether [PackBF16] is fast for m, of which each row has at least k elements at a time.
func CanDecode(m *Matrix, k int) bool {
	return decodesRuns && (m.linearRows || m.linearKs && k >= 2*bf16Side)
}

// bf16Side is the number of columns from which on rows of bf16 are packed by squares.
const bf16Side = 32

// PackBF16 is [Pack] for elements of bf16, which are decoded by the way. Panels have up to 32 rows.
func PackBF16(m *Matrix, dst []float32, src []uint16, r, i0, i1, k0, k1 int) {
	kc, ks := k1-k0, m.Ks[k0:k1]
	if m.linearRows && decodeRuns(dst, src[m.Rows[i0]:], ks, r, i1-i0) {
		return
	}
	for i := i0; i < i1; i += r {
		panel := dst[:kc*r]
		dst = dst[kc*r:]
		rows := m.Rows[i:min(i+r, i1)]
		if len(rows) < r {
			clear(panel)
		}
		if !m.linearKs || !decodeSquares(panel, src[ks[0]:], rows, kc, r) {
			decodeScattered(panel, src, rows, ks, r)
		}
	}
}

// decodeSquares packs a panel of rows whose elements lie together, if they are enough.
func decodeSquares(panel []float32, src []uint16, rows []int, kc, r int) bool {
	if kc < bf16Side {
		return false
	}
	for x := 0; x < len(rows); x += 2 * side {
		if !square.WideRowsBF16(words(panel[x:]), src, rows[x:min(x+2*side, len(rows))], kc, r) {
			return false
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
