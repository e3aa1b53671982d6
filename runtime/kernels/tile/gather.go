package tile

import "unsafe"

// walk is a position in a space and the element that a view has there.
type walk struct {
	dims, strides []int64
	at            [maxRank]int64
	offset        int64
}

// start puts w at point i of the space, counted in row-major order.
func (w *walk) start(s *Space, v *View, i int) {
	w.dims, w.strides, w.offset = s.Dims, v.Strides, v.Base
	rest := int64(i)
	for j := len(w.dims) - 1; j >= 0; j-- {
		d := w.dims[j]
		q := rest / d
		w.at[j] = rest - q*d
		rest = q
		w.offset += w.at[j] * w.strides[j]
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
	count = int(min(int64(n), w.dims[last]-w.at[last]))
	w.at[last] += int64(count)
	w.offset += int64(count) * stride
	for j := last; j > 0 && w.at[j] == w.dims[j]; j-- {
		w.offset += w.strides[j-1] - w.dims[j]*w.strides[j]
		w.at[j] = 0
		w.at[j-1]++
	}
	return first, count, stride
}

// neighbours is where the next n points are if they are neighbours in memory.
func (w *walk) neighbours(n int, data []byte, width int) (unsafe.Pointer, bool) {
	last := len(w.dims) - 1
	if last < 0 || w.strides[last] != 1 || w.dims[last]-w.at[last] < int64(n) {
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
func gather(dst unsafe.Pointer, n int, src []byte, width int, w *walk) {
	switch width {
	case 1:
		gatherAs[uint8](dst, n, src, w)
	case 2:
		gatherAs[uint16](dst, n, src, w)
	case 4:
		gatherAs[uint32](dst, n, src, w)
	case 8:
		gatherAs[uint64](dst, n, src, w)
	case 16:
		gatherAs[[2]uint64](dst, n, src, w)
	}
}

func gatherAs[T any](p unsafe.Pointer, n int, data []byte, w *walk) {
	var e T
	src := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(e)))
	dst := vec[T](p, n)
	for len(dst) > 0 {
		first, count, stride := w.run(len(dst))
		d := dst[:count]
		dst = dst[count:]
		switch stride {
		case 1:
			if count >= 16 {
				copy(d, src[first:first+int64(count)])
				continue
			}
			s := src[first : first+int64(count)]
			for i := range d {
				d[i] = s[i]
			}
		case 0:
			x := src[first]
			if count >= 16 {
				fillTile(unsafe.Pointer(&d[0]), unsafe.Pointer(&x), int(unsafe.Sizeof(x)), count)
				continue
			}
			for i := range d {
				d[i] = x
			}
		default:
			at := first
			for i := range d {
				d[i] = src[at]
				at += stride
			}
		}
	}
}
