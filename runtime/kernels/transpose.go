package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/square"
)

// transpose serves transpositions that move the minor axis, as matrices: see package square. Others move runs and are left to the tile
// programs.
func transpose(s *site) (runtime.Bound, bool) {
	in, out := s.shape(0), s.in.Shape()
	width := out.Type().ByteSize()
	if in.Type() != out.Type() || out.Rank() < 2 || out.NumElements() < 1<<10 {
		return runtime.Bound{}, false
	}
	perm := hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions
	strides := rowMajor(in.Dimensions())
	src := make([]int, out.Rank())
	for i, p := range perm {
		src[i] = strides[p]
	}
	b, ok := newBox(out.Dimensions(), src, rowMajor(out.Dimensions()), width)
	if !ok || b.run != width || len(b.dims) < 2 {
		return runtime.Bound{}, false
	}
	switch width {
	case 1:
		return transposeAs[uint8](&b)
	case 2:
		return transposeAs[uint16](&b)
	case 4:
		return transposeAs[uint32](&b)
	case 8:
		return transposeAs[uint64](&b)
	}
	return runtime.Bound{}, false
}

// squares is a transposition as matrices: rows by cols elements each, read along rows, written along columns.
type squares struct {
	rows, cols       int
	rowSrc           int // distance of neighbouring columns in the operand; along a row of the operand it is 1
	colDst           int // distance of neighbouring rows in the result
	outer            []int
	outerSrc, outDst []int
	matrices, strips int
}

// stripSize is how many columns of the operand a piece of work has, at least.
const stripSize = 64

func transposeAs[T square.Element](b *box) (runtime.Bound, bool) {
	q := &squares{matrices: 1}
	last := len(b.dims) - 1
	minor := -1
	for i, s := range b.src {
		if s == b.width && i != last {
			minor = i
		}
	}
	if minor < 0 {
		return runtime.Bound{}, false
	}
	q.rows, q.cols = b.dims[last], b.dims[minor]
	q.rowSrc, q.colDst = b.src[last]/b.width, b.dst[minor]/b.width
	for i, d := range b.dims {
		if i != last && i != minor {
			q.outer = append(q.outer, d)
			q.outerSrc = append(q.outerSrc, b.src[i]/b.width)
			q.outDst = append(q.outDst, b.dst[i]/b.width)
			q.matrices *= d
		}
	}
	q.strips = (q.cols-1)/stripSize + 1
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		src, dst := elems[T](f.In(0).Data), elems[T](f.Out(0).Data)
		for task := lo; task < hi; task++ {
			from, to := q.at(task / q.strips)
			first := task % q.strips * stripSize
			square.Transpose(dst[to+first*q.colDst:], src[from+first:], q.rows, min(stripSize, q.cols-first), q.colDst, q.rowSrc)
		}
	})
	return loop.bound(q.matrices*q.strips, 1+(1<<14)/(q.rows*stripSize)), true
}

// at is where matrix m begins on both sides.
func (q *squares) at(m int) (src, dst int) {
	for i := len(q.outer) - 1; i >= 0; i-- {
		x := m % q.outer[i]
		m /= q.outer[i]
		src += x * q.outerSrc[i]
		dst += x * q.outDst[i]
	}
	return src, dst
}
