package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// A product of bf16 is one of f32, whose elements are decoded where they are packed and rounded where the sums of a block are complete. Neither operands nor
// result are in memory as f32: converting all of them first takes a tenth of the time of a product of 512, and wakes the workers three more times.

// decodes reports whether p packs operands of bf16. Otherwise it converts them first, as where a form of the product packs nothing.
func (p *product[T]) decodes(s *site) bool {
	_, isF32 := any(p).(*product[float32])
	narrow := s.shape(0).Type() == hlo.BF16 && s.shape(1).Type() == hlo.BF16
	return isF32 && narrow && p.packLeft == nil && min(p.m, p.n) > 1 && p.k > 0 && gemm.CanDecode(&p.left, p.k) && gemm.CanDecode(&p.right, p.k)
}

// planDecoded is [convertedIO.plan] for operands that are decoded.
func (p *product[T]) planDecoded(s *site, e *convertedIO) bool {
	any(p).(*product[float32]).decode = gemm.PackBF16
	e.in = []place{{kind: inInput, index: 0}, {kind: inInput, index: 1}}
	if s.in.Shape().Type() == hlo.BF16 && p.arrange == nil {
		p.encode = vec.Find(vec.Of(hlo.OpConvert, hlo.F32, hlo.BF16), func(n int, d, a, _, _ unsafe.Pointer) {
			minifloat.NarrowBF16(unsafe.Slice((*uint16)(d), n), unsafe.Slice((*float32)(a), n))
		})
		e.out = place{kind: inOutput}
		return true
	}
	return e.planResult(s)
}

// encodeBlock rounds rows of cols sums, which lie one behind the other, to rows of the result.
func (p *product[T]) encodeBlock(out []uint16, sums []T, rows, cols int) {
	for r := range rows {
		p.encode(cols, unsafe.Pointer(&out[r*p.n:][:cols][0]), unsafe.Pointer(&sums[r*cols:][:cols][0]), nil, nil)
	}
}
