package kernels

import "unsafe"

// box copies a rectangular part of one array to one of another: a lattice of elements at given strides on both sides.
type box struct {
	dims     []int // major to minor
	src, dst []int // strides in bytes
	run      int   // bytes that lie together on both sides
	width    int   // of an element
}

// maxBoxRank bounds the axes of a box after merging.
const maxBoxRank = 32

// newBox merges axes; strides are in elements of width bytes.
func newBox(dims []int64, src, dst []int, width int) (box, bool) {
	b := box{run: width, width: width}
	for i := len(dims) - 1; i >= 0; i-- {
		n, s, d := int(dims[i]), src[i]*width, dst[i]*width
		last := len(b.dims) - 1
		switch {
		case n == 1:
		case last < 0 && s == b.run && d == b.run:
			b.run *= n
		case last >= 0 && s == b.src[last]*b.dims[last] && d == b.dst[last]*b.dims[last]:
			b.dims[last] *= n
		default:
			b.dims = append(b.dims, n)
			b.src = append(b.src, s)
			b.dst = append(b.dst, d)
		}
	}
	reverse(b.dims)
	reverse(b.src)
	reverse(b.dst)
	for _, d := range dims {
		if d == 0 {
			b.dims = []int{0}
			b.src, b.dst = []int{0}, []int{0}
			break
		}
	}
	return b, len(b.dims) <= maxBoxRank
}

func reverse(v []int) {
	for i, j := 0, len(v)-1; i < j; i, j = i+1, j-1 {
		v[i], v[j] = v[j], v[i]
	}
}

// bytes is the size of what is copied.
func (b *box) bytes() int {
	n := b.run
	for _, d := range b.dims {
		n *= d
	}
	return n
}

// outer is the number of slabs that can be copied independently: indices of the first axis.
func (b *box) outer() int {
	if len(b.dims) == 0 {
		return 1
	}
	return b.dims[0]
}

// copy copies everything.
func (b *box) copy(dst, src []byte) { b.copySlabs(dst, src, 0, b.outer()) }

// copySlabs copies indices [lo, hi) of the first axis. dst and src begin at the box's first element.
func (b *box) copySlabs(dst, src []byte, lo, hi int) {
	if lo >= hi {
		return
	}
	if len(b.dims) == 0 {
		copy(dst[:b.run], src[:b.run])
		return
	}
	last := len(b.dims) - 1
	if last == 0 {
		b.row(dst, src, lo*b.dst[0], lo*b.src[0], hi-lo)
		return
	}
	for i := lo; i < hi; i++ {
		var at [maxBoxRank]int
		to, from := i*b.dst[0], i*b.src[0]
		for {
			b.row(dst, src, to, from, b.dims[last])
			d := last - 1
			for ; d > 0; d-- {
				at[d]++
				to += b.dst[d]
				from += b.src[d]
				if at[d] < b.dims[d] {
					break
				}
				to -= at[d] * b.dst[d]
				from -= at[d] * b.src[d]
				at[d] = 0
			}
			if d == 0 {
				break
			}
		}
	}
}

// row copies n elements of the last axis.
func (b *box) row(dst, src []byte, to, from, n int) {
	last := len(b.dims) - 1
	b.runs(dst, src, to, from, b.dst[last], b.src[last], n)
}

// runs copies n runs that begin ds and ss bytes apart.
func (b *box) runs(dst, src []byte, to, from, ds, ss, n int) {
	switch b.run {
	case 1:
		for range n {
			dst[to] = src[from]
			to += ds
			from += ss
		}
	case 2:
		copyRuns[uint16](dst, src, to, from, ds, ss, n)
	case 4:
		copyRuns[uint32](dst, src, to, from, ds, ss, n)
	case 8:
		copyRuns[uint64](dst, src, to, from, ds, ss, n)
	case 12:
		copyRuns[[3]uint32](dst, src, to, from, ds, ss, n)
	case 16:
		copyRuns[[2]uint64](dst, src, to, from, ds, ss, n)
	case 24:
		copyRuns[[3]uint64](dst, src, to, from, ds, ss, n)
	case 32:
		copyRuns[[4]uint64](dst, src, to, from, ds, ss, n)
	case 64:
		copyRuns[[8]uint64](dst, src, to, from, ds, ss, n)
	case 128:
		copyRuns[[16]uint64](dst, src, to, from, ds, ss, n)
	case 192:
		copyRuns[[24]uint64](dst, src, to, from, ds, ss, n)
	case 256:
		copyRuns[[32]uint64](dst, src, to, from, ds, ss, n)
	case 512:
		copyRuns[[64]uint64](dst, src, to, from, ds, ss, n)
	default:
		for range n {
			copy(dst[to:to+b.run], src[from:from+b.run])
			to += ds
			from += ss
		}
	}
}

// copyRuns copies n runs that are as long as a T, whatever they are aligned to. Its callers are a switch and not a table of functions by the length
// of runs: calls through one took up to a third longer on rows of a few short runs.
func copyRuns[T any](dst, src []byte, to, from, ds, ss, n int) {
	if n == 0 {
		return
	}
	var e T
	w := sizeOf(e)
	last := n - 1
	_, _ = dst[min(to, to+last*ds)], dst[max(to, to+last*ds)+w-1]
	_, _ = src[min(from, from+last*ss)], src[max(from, from+last*ss)+w-1]
	d, s := unsafe.Pointer(&dst[to]), unsafe.Pointer(&src[from])
	for ; last >= 4; last -= 4 { // how long a shorter loop takes depends on where in the program it lies
		d1, s1 := unsafe.Add(d, ds), unsafe.Add(s, ss)
		d2, s2 := unsafe.Add(d1, ds), unsafe.Add(s1, ss)
		d3, s3 := unsafe.Add(d2, ds), unsafe.Add(s2, ss)
		*(*T)(d) = *(*T)(s)
		*(*T)(d1) = *(*T)(s1)
		*(*T)(d2) = *(*T)(s2)
		*(*T)(d3) = *(*T)(s3)
		d, s = unsafe.Add(d3, ds), unsafe.Add(s3, ss)
	}
	for range last {
		*(*T)(d) = *(*T)(s)
		d, s = unsafe.Add(d, ds), unsafe.Add(s, ss)
	}
	*(*T)(d) = *(*T)(s)
}
