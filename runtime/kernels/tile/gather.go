package tile

import "unsafe"

// walk is a position in a space and the element that a view has there.
type walk struct {
	dims, strides []int64
	turns         []int64 // nil, or as in [View]
	at            [maxRank]int64
	offset        int64
}

// start puts w at point i of the space, counted in row-major order.
func (w *walk) start(s *Space, v *View, i int) {
	w.dims, w.strides, w.turns, w.offset = s.Dims, v.Strides, v.Turns, v.Base
	rest := int64(i)
	for j := len(w.dims) - 1; j >= 0; j-- {
		d, at := w.dims[j], rest
		if rest >= d { // a division takes longer than the rest
			q := rest / d
			at, rest = rest-q*d, q
		} else {
			rest = 0
		}
		w.at[j] = at
		if w.turns != nil {
			at = (at + w.turns[j]) % d
		}
		w.offset += at * w.strides[j]
	}
}

// run returns how many of the next n points lie in one row, and the stride within it, and moves behind them. The offset before the
// call is that of the first.
func (w *walk) run(n int) (first int64, count int, stride int64) {
	last := len(w.dims) - 1
	if last < 0 {
		return w.offset, n, 0
	}
	first, stride = w.offset, w.strides[last]
	count = int(min(int64(n), w.straight(last)))
	w.at[last] += int64(count)
	w.offset += int64(count) * stride
	w.turn(last)
	w.carry(last)
	return first, count, stride
}

// straight is the number of points along an axis up to where it ends or begins anew.
func (w *walk) straight(axis int) int64 {
	end := w.dims[axis]
	if w.turns != nil && w.turns[axis] > 0 && w.at[axis] < end-w.turns[axis] {
		end -= w.turns[axis]
	}
	return end - w.at[axis]
}

// turn goes back to the beginning of an axis if this is where that is.
func (w *walk) turn(axis int) {
	if w.turns != nil && w.turns[axis] > 0 && w.at[axis] == w.dims[axis]-w.turns[axis] {
		w.offset -= w.dims[axis] * w.strides[axis]
	}
}

// carry goes to the next coordinate before axis j, and so on, where that one is through.
func (w *walk) carry(j int) {
	for ; j > 0 && w.at[j] == w.dims[j]; j-- {
		w.offset += w.strides[j-1]
		if w.turns == nil || w.turns[j] == 0 { // else it went back on the way
			w.offset -= w.dims[j] * w.strides[j]
		}
		w.at[j] = 0
		w.at[j-1]++
		w.turn(j - 1)
	}
}

// neighbours is where the next n points are if they are neighbours in memory.
func (w *walk) neighbours(n int, data []byte, width int) (unsafe.Pointer, bool) {
	last := len(w.dims) - 1
	if last < 0 || w.strides[last] != 1 || w.straight(last) < int64(n) {
		return nil, false
	}
	return element(data, int(w.offset), width), true
}

// repeats reports whether the next n points are the same element.
func (w *walk) repeats(n int) bool {
	last := len(w.dims) - 1
	return last >= 0 && w.strides[last] == 0 && w.dims[last]-w.at[last] >= int64(n)
}

// gather loads the next n points of a walk. Elements are width bytes.
func (m *mover) gather(dst unsafe.Pointer, n int, src []byte, width int, w *walk) {
	switch width {
	case 1:
		gatherAs[uint8](m, dst, n, src, w)
	case 2:
		gatherAs[uint16](m, dst, n, src, w)
	case 4:
		gatherAs[uint32](m, dst, n, src, w)
	case 8:
		gatherAs[uint64](m, dst, n, src, w)
	case 16:
		gatherAs[[2]uint64](m, dst, n, src, w)
	}
}

// repeatedRow is the length of a row from which on a loop is called to repeat its element.
const repeatedRow = 8

// shortRow is the length of a row below which its elements are loaded one by one.
const shortRow = 16

// everyRow is the length of a row from which on a vector loop takes elements that lie apart.
const everyRow = 32

func gatherAs[T any](m *mover, p unsafe.Pointer, n int, data []byte, w *walk) {
	var e T
	width := int(unsafe.Sizeof(e))
	src := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/width)
	dst := vec[T](p, n)
	last, row := len(w.dims)-1, 0
	short := last > 0 && w.dims[last] <= 64 && w.turns == nil && (m.every == nil || w.dims[last] < everyRow)
	turns := w.turnsRows()
	if short || turns {
		row = int(w.dims[last])
	}
	for len(dst) > 0 {
		if m.permutation != nil {
			if done := m.permute(unsafe.Pointer(&dst[0]), len(dst), data, width, w); done > 0 {
				dst = dst[done:]
				continue // with the next row
			}
		}
		if short && w.at[last] == 0 && row <= len(dst) {
			dst = dst[shortRows(dst, src, w):]
			continue
		}
		if turns && w.at[last] == 0 && row <= len(dst) {
			dst = dst[turnedRows(dst, src, w):]
			continue
		}
		first, count, stride := w.run(len(dst))
		d := dst[:count]
		dst = dst[count:]
		switch {
		case count < shortRow:
		case stride == 1:
			copy(d, src[first:first+int64(count)])
			continue
		case stride == 0:
			fillTile(unsafe.Pointer(&d[0]), unsafe.Pointer(&src[first]), width, count)
			continue
		case stride == -1 && m.reverse != nil && count*width >= 64:
			s := src[first-int64(count-1) : first+1]
			m.reverse(count, unsafe.Pointer(&d[0]), unsafe.Pointer(&s[0]), nil, nil)
			continue
		case m.every != nil: // which reads what follows an element too
			whole := int(min(int64(count), (int64(len(src))-first)/stride))
			m.every(whole, unsafe.Pointer(&d[0]), unsafe.Pointer(&src[first]), nil, nil)
			d, first = d[whole:], first+int64(whole)*stride
		}
		loadEvery(d, src, first, stride)
	}
}

// loadEvery loads elements of src from first on that lie stride apart.
func loadEvery[T any](dst, src []T, first, stride int64) {
	if len(dst) == 0 {
		return
	}
	_, _ = src[first], src[first+int64(len(dst)-1)*stride] // and so all between
	step := int(stride) * int(unsafe.Sizeof(src[0]))
	from := unsafe.Pointer(&src[first])
	const unrolled = 4
	for ; len(dst) > unrolled; dst = dst[unrolled:] { // the pointer stays inside: at least one element follows
		d := (*[unrolled]T)(dst)
		d[0] = *(*T)(from)
		d[1] = *(*T)(unsafe.Add(from, step))
		d[2] = *(*T)(unsafe.Add(from, 2*step))
		d[3] = *(*T)(unsafe.Add(from, 3*step))
		from = unsafe.Add(from, unrolled*step)
	}
	for i := range dst {
		dst[i] = *(*T)(unsafe.Add(from, i*step))
	}
}

// shortRows loads as many whole rows as follow each other at one distance, of which there is one at least, and returns the number of their
// elements.
func shortRows[T any](dst, src []T, w *walk) int {
	last := len(w.dims) - 1
	n, stride, step := int(w.dims[last]), int(w.strides[last]), int(w.strides[last-1])
	rows := min(len(dst)/n, int(w.dims[last-1]-w.at[last-1]))
	at, width := int(w.offset), int(unsafe.Sizeof(dst[0]))
	switch {
	case stride == 1 && step == 0:
		done := copy(dst, src[at:][:n])
		for done < rows*n {
			done += copy(dst[done:rows*n], dst[:done])
		}
	case stride == 0 && width <= wordBytes && n*width <= repeatedInWords:
		repeatInWords(dst, src, rows, n, at, step)
	case stride == 1 && n*width <= rowInWords:
		copyInWords(dst, src, rows, n, at, step)
	case stride == 0 && n >= repeatedRow:
		for r := range rows {
			fillTile(unsafe.Pointer(&dst[r*n]), unsafe.Pointer(&src[at]), width, n)
			at += step
		}
	case stride == 1 && n >= shortRow:
		for r := range rows {
			copy(dst[r*n:][:n], src[at:][:n])
			at += step
		}
	default:
		for r := range rows {
			row, from := dst[r*n:][:n], at
			for i := range row {
				row[i] = src[from]
				from += stride
			}
			at += step
		}
	}
	w.at[last-1] += int64(rows)
	w.offset += int64(rows) * int64(step)
	w.carry(last - 1)
	return rows * n
}
