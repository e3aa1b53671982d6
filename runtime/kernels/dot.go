package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// dot multiplies matrices in the result type; narrow floats are widened to f32 and rounded at the end.
func dot(s *site) (runtime.Bound, bool) {
	t := s.in.Shape().Type()
	if t.IsFloat() && t.Bits() < 32 {
		t = hlo.F32
	}
	switch t {
	case hlo.F32:
		return dotAs[float32](s, t)
	case hlo.F64:
		return dotAs[float64](s, t)
	// Signed and unsigned numbers add and multiply to the same bits.
	case hlo.S8, hlo.U8, hlo.S16, hlo.U16, hlo.S32, hlo.U32:
		return dotOfIntegers(s)
	case hlo.S64, hlo.U64:
		return dotAs[int64](s, t)
	case hlo.C64:
		return dotOfParts[float32, complex64](s, t)
	case hlo.C128:
		return dotOfParts[float64, complex128](s, t)
	}
	return runtime.Bound{}, false
}

func dotAs[T gemm.Number](s *site, t hlo.PrimitiveType) (runtime.Bound, bool) {
	p := newDot[T](s)
	if !p.decodes(s) && p.gainsBySwap() {
		return p.bindSwapped(s, t)
	}
	return p.bind(s, t)
}

// gainsBySwap reports whether p packs a right side that could be read in place if it were the left one: packing it takes a good part of the time where there are few
// rows, and more than bringing the result into order where rows are long.
func (p *product[T]) gainsBySwap() bool {
	_, ok := gemm.InPlace[T]()
	return ok && p.right.LinearKs() && p.m >= leastRowsToSwap && p.m <= mostColumns && p.n >= 4*p.m && p.n <= mostRowsInPlace && p.k >= 2*p.m
}

// leastRowsToSwap is from how many rows on a right side is packed for them at all.
const leastRowsToSwap = 32

// bindSwapped is bind of the product of both sides transposed, out[b,n,m] = Σk right[b,n,k] · left[b,k,m].
func (p *product[T]) bindSwapped(s *site, t hlo.PrimitiveType) (runtime.Bound, bool) {
	e := &convertedIO{t: t}
	if !e.plan(s) {
		return runtime.Bound{}, false
	}
	p.left, p.right, p.leftBatch, p.rightBatch = p.right, p.left, p.rightBatch, p.leftBatch
	p.m, p.n = p.n, p.m
	p.lhs, p.rhs = e.in[1], e.in[0]
	p.arrange = newArrangement([]int64{int64(p.batch), int64(p.m), int64(p.n)}, []int{p.m * p.n, 1, p.m})
	return p.complete(s, e, t)
}

// newDot is the product that a dot asks for.
func newDot[T gemm.Number](s *site) *product[T] {
	a := hlo.AttrsOf[hlo.DotAttrs](s.in)
	p := &product[T]{}
	var leftFree, rightFree []int64
	p.left, p.leftBatch, leftFree = matrixOf(s.shape(0), a.LHSBatch, a.LHSContracting)
	p.right, p.rightBatch, rightFree = matrixOf(s.shape(1), a.RHSBatch, a.RHSContracting)
	p.batch = len(p.leftBatch)
	p.m = productOver(leftFree, s.shape(0).Dimensions())
	p.n = productOver(rightFree, s.shape(1).Dimensions())
	p.k = len(p.left.Ks)
	return p
}

// matrixOf describes an operand as batches of matrices, whose rows are the free axes.
func matrixOf(s hlo.Shape, batch, contracting []int64) (m gemm.Matrix, batches []int, free []int64) {
	dims, strides := s.Dimensions(), rowMajor(s.Dimensions())
	for a := range int64(len(dims)) {
		if !slices.Contains(batch, a) && !slices.Contains(contracting, a) {
			free = append(free, a)
		}
	}
	m = gemm.NewMatrix(offsetsOver(free, dims, strides), offsetsOver(contracting, dims, strides))
	return m, offsetsOver(batch, dims, strides), free
}
