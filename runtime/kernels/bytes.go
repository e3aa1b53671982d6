package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// Products of bytes with sums of 32 bits are products of quads, four neighbours along the common dimension, which packing makes. They are exact in any order.

func isByte(t hlo.PrimitiveType) bool { return t == hlo.S8 || t == hlo.U8 }

// dotOfBytes is a dot of bytes, of which p is a description; sums have type t.
func dotOfBytes(s *site, p *product[int32], t hlo.PrimitiveType) (runtime.Bound, bool) {
	quads := gemm.QuadsFor()
	if min(p.m, p.n) == 1 && !quads.TakesBytes() {
		return runtime.Bound{}, false
	}
	e := &convertedIO{t: t}
	if !e.planResult(s) {
		return runtime.Bound{}, false
	}
	left, right := 0, 1
	if p.n == 1 { // a vector on the left fills panels better, and the result is the same in memory
		left, right = right, left
		p.left, p.right = p.right, p.left
		p.leftBatch, p.rightBatch = p.rightBatch, p.leftBatch
		p.m, p.n = p.n, p.m
	}
	p.lhs, p.rhs = place{kind: inInput, index: left}, place{kind: inInput, index: right}
	ofQuads(p, &quads, s.shape(left).Type(), s.shape(right).Type())
	return p.complete(s, e, t)
}

// ofQuads makes p, whose operands are bytes of these types, a product of quads. It returns its left side.
func ofQuads(p *product[int32], quads *gemm.Quads, left, right hlo.PrimitiveType) *gemm.QuadSide {
	a, b := gemm.NewQuads(p.left, p.right, left == hlo.U8, right == hlo.U8)
	p.quads, p.kernel, p.k = quads, quads.Kernel, (p.k+3)/4
	p.decode = func(m *gemm.Matrix, dst []int32, src []byte, at, r, i0, i1, k0, k1 int) {
		side := &a
		if m == &p.right {
			side = &b
		}
		quads.Pack(side, dst, src, at, r, i0, i1, k0, k1)
	}
	return &a
}

// convolutionOfIntegers has sums of 32 bits, of which narrower results are the low bits.
func convolutionOfIntegers(s *site) (runtime.Bound, bool) {
	t := s.in.Shape().Type()
	if t.Bits() < 32 {
		t = hlo.S32
	}
	if g, ok := geometryOf(s); ok {
		if b, ok := convolutionOfBytes(s, g, t); ok {
			return b, true
		}
	}
	return convolutionAs[int32](s, t)
}

// convolutionOfBytes is a convolution of bytes whose features lie together in fours, so that these are elements of patches; sums have type t.
func convolutionOfBytes(s *site, g *convGeometry, t hlo.PrimitiveType) (runtime.Bound, bool) {
	left, right := s.shape(0).Type(), s.shape(1).Type()
	if !isByte(left) || !isByte(right) || g.inFeature != 1 || g.features%4 != 0 || g.hasHoles() || s.in.Shape().NumElements() == 0 {
		return runtime.Bound{}, false
	}
	e := &convertedIO{t: t}
	if !e.planResult(s) {
		return runtime.Bound{}, false
	}
	quads, inQuads := gemm.QuadsFor(), g.inQuads()
	p := newConvShape[int32](g)
	p.lhs, p.rhs = place{kind: inInput, index: 0}, place{kind: inInput, index: 1}
	if right == hlo.S8 && placeBytes(s, p, e, inQuads, left) {
		return p.complete(s, e, t)
	}
	p.leftBatch = inQuads.leftBatches()
	side := ofQuads(p, &quads, left, right)
	if g.inside() {
		side.OfQuads(gemm.NewMatrix(inQuads.rowOffsets(), inQuads.tapOffsets()))
		p.leftBatch = g.leftBatches()
	} else {
		seen := newPatches[int32](inQuads, p.leftBatch, p.kernel.MR)
		p.packLeft = func(f *runtime.TensorFrame, dst, src []int32, batch, i0, i1, k0, k1 int) {
			mr, lines := p.kernel.MR, quads.Lines(k1-k0)
			for i := i0; i < i1; i += mr {
				panel := dst[(i-i0)*lines:][:mr*lines]
				seen.pack(f, panel[(lines-k1+k0)*mr:], src, batch, i, min(i+mr, i1), k0, k1)
				quads.Complete(side, panel, mr, k1-k0)
			}
		}
	}
	p.arrange = g.arrangement(s.in.Shape())
	return p.complete(s, e, t)
}

// mostColumnsOfBytes is the number of output features up to which the input of a convolution of bytes is read where it is.
const mostColumnsOfBytes = 512

// placeBytes makes p read its input where it is, or in a copy whose bytes have no sign: other than for panels, what that adds to sums then does not depend on the rows. It reports
// false, and does nothing, where that does not pay or there is no kernel for it.
func placeBytes(s *site, p *product[int32], e *convertedIO, g *convGeometry, left hlo.PrimitiveType) bool {
	quads, ok := gemm.InPlaceOfQuads()
	padded, copied := g.padded()
	if !ok || p.n > mostColumnsOfBytes || p.m > mostRowsInPlace || copied.size() > p.batch*p.m*p.k/4 {
		return false
	}
	isMore := left == hlo.S8
	switch {
	case isMore:
		p.copyLeft(e, copied, hlo.S32, gemm.FlipSigns)
	case copied.isWhole():
		padded = g
	default:
		p.copyLeft(e, copied, hlo.S32, nil)
	}
	p.placePadded(s, padded)
	side := gemm.NewRightOfPlaced(p.right, isMore)
	p.quads, p.kernel, p.k = &quads, quads.Kernel, p.k/4
	p.decode = func(_ *gemm.Matrix, dst []int32, src []byte, at, r, i0, i1, k0, k1 int) {
		quads.Pack(&side, dst, src, at, r, i0, i1, k0, k1)
	}
	return true
}

// inQuads is the geometry of an input whose elements are four features each.
func (g *convGeometry) inQuads() *convGeometry {
	q := *g
	q.features /= 4
	q.inBatch /= 4
	q.inSpatial = make([]int, len(g.inSpatial))
	for i, s := range g.inSpatial {
		q.inSpatial[i] = s / 4
	}
	return &q
}
