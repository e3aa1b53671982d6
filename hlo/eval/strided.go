package eval

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// dimsOf is the sizes of an array's axes.
func dimsOf(s hlo.Shape) []int {
	d := make([]int, s.Rank())
	for i := range d {
		d[i] = int(s.Dim(i))
	}
	return d
}

// product is the number of elements of an array with the given sizes.
func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// rowMajor is the distance in elements of neighbours along each axis of a dense array.
func rowMajor(dims []int) []int {
	strides := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= dims[i]
	}
	return strides
}

// ints converts sizes and axes of attributes.
func ints(v []int64) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

// axes converts axes of attributes. They must be different axes of an array of the given rank.
func axes(v []int64, rank int) ([]int, error) {
	seen := make([]bool, rank)
	for _, a := range v {
		if a < 0 || a >= int64(rank) || seen[a] {
			return nil, fmt.Errorf("dimensions %v of an array of rank %d", v, rank)
		}
		seen[a] = true
	}
	return ints(v), nil
}

// axis is the only one of a list of one axis.
func axis(v []int64, rank int) (int, error) {
	if len(v) != 1 || v[0] < 0 || v[0] >= int64(rank) {
		return 0, fmt.Errorf("dimensions %v of an array of rank %d", v, rank)
	}
	return int(v[0]), nil
}

// picked is v at the given positions.
func picked(v []int, at []int) []int {
	out := make([]int, len(at))
	for i, k := range at {
		out[i] = v[k]
	}
	return out
}

// others is the axes 0..rank-1 that are in none of the lists, ascending.
func others(rank int, lists ...[]int) []int {
	used := make([]bool, rank)
	for _, l := range lists {
		for _, a := range l {
			used[a] = true
		}
	}
	var out []int
	for a, u := range used {
		if !u {
			out = append(out, a)
		}
	}
	return out
}

// place is a position in an array and the distances, in elements, that lead from it along each axis of a block. Distances may be
// zero (the element is repeated) or negative.
type place struct {
	data    []byte
	at      int
	strides []int
}

// moveBlock copies a block of elements of w bytes from one place to another.
func moveBlock(dst, src place, dims []int, w int) {
	ds, ss := dst.strides, src.strides
	// Axes of size 1 say nothing, and neighbours that both sides step through evenly are one.
	var d, a, b []int
	for i, n := range dims {
		if n == 0 {
			return
		}
		if n == 1 {
			continue
		}
		if k := len(d) - 1; k >= 0 && a[k] == ds[i]*n && b[k] == ss[i]*n {
			d[k], a[k], b[k] = d[k]*n, ds[i], ss[i]
			continue
		}
		d, a, b = append(d, n), append(a, ds[i]), append(b, ss[i])
	}
	if len(d) == 0 {
		copy(dst.data[dst.at*w:(dst.at+1)*w], src.data[src.at*w:])
		return
	}
	switch w {
	case 1:
		moveElements(dst.data, src.data, dst.at, src.at, d, a, b)
	case 2:
		moveElements(view[uint16](dst.data), view[uint16](src.data), dst.at, src.at, d, a, b)
	case 4:
		moveElements(view[uint32](dst.data), view[uint32](src.data), dst.at, src.at, d, a, b)
	case 8:
		moveElements(view[uint64](dst.data), view[uint64](src.data), dst.at, src.at, d, a, b)
	default:
		moveElements(view[complex128](dst.data), view[complex128](src.data), dst.at, src.at, d, a, b)
	}
}

func moveElements[E any](dst, src []E, at, from int, dims, ds, ss []int) {
	n, step, stride := dims[0], ds[0], ss[0]
	if len(dims) > 1 {
		for range n {
			moveElements(dst, src, at, from, dims[1:], ds[1:], ss[1:])
			at += step
			from += stride
		}
		return
	}
	switch {
	case step == 1 && stride == 1:
		copy(dst[at:at+n], src[from:from+n])
	case step == 1 && stride == 0:
		line, x := dst[at:at+n], src[from]
		for i := range line {
			line[i] = x
		}
	case step == 1:
		line := dst[at : at+n]
		for i := range line {
			line[i] = src[from]
			from += stride
		}
	default:
		for range n {
			dst[at] = src[from]
			at += step
			from += stride
		}
	}
}

// permuted is the data of an array with its axes in the order perm: axis i of the result is axis perm[i]. Data in order already is
// not copied.
func permuted(b []byte, dims, perm []int, w int) []byte {
	inOrder := true
	last := -1
	for _, p := range perm {
		if dims[p] != 1 {
			inOrder = inOrder && p > last
			last = p
		}
	}
	if inOrder {
		return b
	}
	out := make([]byte, len(b))
	d := picked(dims, perm)
	moveBlock(place{out, 0, rowMajor(d)}, place{b, 0, picked(rowMajor(dims), perm)}, d, w)
	return out
}

// odometer steps through all index vectors of a block in row-major order. It starts at the first; a block without elements is done at
// once.
type odometer struct {
	dims, index []int
	done        bool
}

func newOdometer(dims []int) *odometer {
	return &odometer{dims: dims, index: make([]int, len(dims)), done: product(dims) == 0}
}

func (o *odometer) next() {
	for i := len(o.dims) - 1; i >= 0; i-- {
		if o.index[i]++; o.index[i] < o.dims[i] {
			return
		}
		o.index[i] = 0
	}
	o.done = true
}

// dot is the sum of products of two index vectors.
func dot(a, b []int) int {
	n := 0
	for i, x := range a {
		n += x * b[i]
	}
	return n
}
