package tile

// turnsRows reports whether a walk goes through rows that follow each other in memory, each of which is rotated.
func (w *walk) turnsRows() bool {
	last := len(w.dims) - 1
	return w.turns != nil && last > 0 && w.turns[last] > 0 && w.strides[last] == 1 && w.strides[last-1] == w.dims[last]
}

// turnedRows loads as many whole rotated rows as there are, and returns the number of their elements. A copy of them all puts most elements
// where they belong: what leaves a row at one end and has to come back at the other is moved by itself.
func turnedRows[T any](dst, src []T, w *walk) int {
	last := len(w.dims) - 1
	n, turn := int(w.dims[last]), int(w.turns[last])
	rows := min(len(dst)/n, int(w.straight(last-1)))
	dst, src = dst[:rows*n], src[int(w.offset)-turn:][:rows*n]
	if back := n - turn; turn <= back {
		copy(dst, src[turn:])
		wrap(dst[back:], src, n, turn)
	} else {
		copy(dst[back:], src)
		wrap(dst, src[turn:], n, back)
	}
	w.at[last-1] += int64(rows)
	w.offset += int64(rows * n)
	w.turn(last - 1)
	w.carry(last - 1)
	return rows * n
}

// wrap copies the first elements of every n.
func wrap[T any](dst, src []T, n, elements int) {
	if elements >= shortRow {
		for at := 0; at < len(dst); at += n {
			copy(dst[at:][:elements], src[at:])
		}
		return
	}
	for i := range elements {
		for at := i; at < len(dst); at += n {
			dst[at] = src[at]
		}
	}
}
