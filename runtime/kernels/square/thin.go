package square

// thin is Transpose for a matrix of less than a square along one axis. It reports false, and writes nothing, where it does not pay.
func thin(dst, src []uint32, rows, cols, dstStride, srcStride int) bool {
	const side = 8
	switch {
	case min(rows, cols) < 2 || max(rows, cols) < 2*side:
		return false
	case cols < side:
		thinRows(dst, src, rows, cols, dstStride, srcStride)
	case dstStride == rows:
		thinColumns(dst, src, rows, cols, srcStride)
	default:
		return false
	}
	return true
}

// thinRows transposes rows of less than a square: squares read what is behind a row, too, and only the lines that count leave the tile they are written to.
func thinRows(dst, src []uint32, rows, cols, dstStride, srcStride int) {
	const side, long = 8, 64
	var tile [side * long]uint32
	r := 0
	for {
		n := min(long, rows-r)
		for n = n / side * side; n > 0 && (r+n-1)*srcStride+side > len(src); {
			n -= side
		}
		if n == 0 {
			break
		}
		whole(first(tile[:]), first(src[r*srcStride:]), 4*long, uintptr(4*srcStride), uintptr(n/side), 1, 4, side)
		for c := range cols {
			copy(dst[c*dstStride+r:][:n], tile[c*long:])
		}
		r += n
	}
	if r < rows { // else src may end before row r
		plain(dst[r:], src[r*srcStride:], rows-r, cols, dstStride, srcStride)
	}
}

// thinColumns transposes less than a square of rows to columns that lie one behind the other: what is written behind a column is overwritten by the next ones.
func thinColumns(dst, src []uint32, rows, cols, srcStride int) {
	const side = 8
	var at [side]int
	for i := range at {
		at[i] = min(i, rows-1) * srcStride
	}
	done := max(0, (cols*rows-side)/rows+1) / side * side // the last of them ends before what is not the result's
	done = Rows(dst, src, &at, done, rows, 0)
	plain(dst[done*rows:], src[done:], rows, cols-done, rows, srcStride)
}
