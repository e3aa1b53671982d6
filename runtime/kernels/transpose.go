package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/square"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// transpose serves transpositions that move the minor axis, as matrices: see package square. Others move runs and are left to the tile
// programs.
func transpose(s *site) (runtime.Bound, bool) {
	in, out := s.shape(0), s.in.Shape()
	if in.Type() != out.Type() || out.Rank() < 2 {
		return runtime.Bound{}, false
	}
	perm := hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions
	strides := rowMajor(in.Dimensions())
	src := make([]int, out.Rank())
	for i, p := range perm {
		src[i] = strides[p]
	}
	r, ok := newSquares(out.Dimensions(), src, out.Type(), place{kind: inInput}, place{kind: inOutput})
	if !ok {
		return runtime.Bound{}, false
	}
	return r.loop.bound(r.n, r.grain), true
}

// fewElements is the size of an array for which a tile program does as well.
const fewElements = 1 << 7

// newSquares permutes axes of an array, of which the result has dims, and its elements strides src where they come from. It fails where runs of elements are moved.
func newSquares(dims []int64, src []int, t hlo.PrimitiveType, from, to place) (rewriting, bool) {
	width := t.ByteSize()
	b, ok := newBox(dims, src, rowMajor(dims), width)
	if !ok || b.run != width || len(b.dims) < 2 || b.bytes() < fewElements*width {
		return rewriting{}, false
	}
	switch width {
	case 1:
		return squaresAs[uint8](&b, from, to)
	case 2:
		return squaresAs[uint16](&b, from, to)
	case 4:
		return squaresAs[uint32](&b, from, to)
	case 8:
		return squaresAs[uint64](&b, from, to)
	case 16:
		return squaresAs[[2]uint64](&b, from, to)
	}
	return rewriting{}, false
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

// stripSize is how many columns of the operand a piece of work has. Of few rows it has more: the last columns of a piece are no whole square.
const (
	stripSize = 64
	fewRows   = 8
	longStrip = 1024
)

func squaresAs[T square.Element](b *box, input, output place) (rewriting, bool) {
	q := &squares{matrices: 1}
	last := len(b.dims) - 1
	minor := -1
	for i, s := range b.src {
		if s == b.width && i != last {
			minor = i
		}
	}
	if minor < 0 {
		return rewriting{}, false
	}
	q.rows, q.cols = b.dims[last], b.dims[minor]
	if vec.HasPermutations() && !q.isSquare(b.width) { // the picks of tile programs do better
		return rewriting{}, false
	}
	q.rowSrc, q.colDst = b.src[last]/b.width, b.dst[minor]/b.width
	for i, d := range b.dims {
		if i != last && i != minor {
			q.outer = append(q.outer, d)
			q.outerSrc = append(q.outerSrc, b.src[i]/b.width)
			q.outDst = append(q.outDst, b.dst[i]/b.width)
			q.matrices *= d
		}
	}
	strip := stripSize
	if q.rows < fewRows {
		strip = longStrip
	}
	q.strips = (q.cols-1)/strip + 1
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		src, dst := elems[T](input.of(f)), elems[T](output.of(f))
		for task := lo; task < hi; task++ {
			from, to := q.at(task / q.strips)
			first := task % q.strips * strip
			square.Transpose(dst[to+first*q.colDst:], src[from+first:], q.rows, min(strip, q.cols-first), q.colDst, q.rowSrc)
		}
	})
	return rewriting{loop, q.matrices * q.strips, 1 + (1<<14)/(q.rows*strip)}, true
}

// isSquare reports whether matrices of elements of width bytes have a square that is worth the way to it.
func (q *squares) isSquare(width int) bool {
	switch shorter := min(q.rows, q.cols); width {
	case 4:
		return q.rows*q.cols > fewElements
	case 8:
		return shorter >= fewRows/2
	default:
		return shorter >= fewRows
	}
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
