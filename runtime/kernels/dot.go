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
	return p.bind(s, t)
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
