package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// A product of bf16 is one of f32, whose elements are decoded where they are packed and rounded where the sums of a block are complete. Neither operands nor
// result are in memory as f32: converting all of them first takes a tenth of the time of a product of 512, and wakes the workers three more times.

// decodes reports whether p packs operands of bf16. Otherwise it converts them first, as where a form of the product packs nothing.
func (p *product[T]) decodes(s *site) bool {
	_, isF32 := any(p).(*product[float32])
	narrow := s.shape(0).Type() == hlo.BF16 && s.shape(1).Type() == hlo.BF16
	if !isF32 || !narrow || p.packLeft != nil || p.k == 0 || p.areSmall() {
		return false
	}
	if min(p.m, p.n) == 1 {
		v := p.vector()
		return v != nil && v.dense
	}
	if width := gemm.Fit[float32](p.m, p.n).NR; p.n <= closeColumns && 8*gemm.Padded(p.n, width) > 9*p.n {
		return false // panels would be empty in good part, which columns in place are not
	}
	return gemm.CanDecode(&p.left, p.k) && gemm.CanDecode(&p.right, p.k)
}

// decodeOnRows makes p decode the right side where it is, if its rows lie together and few blocks of rows read it.
func (p *product[T]) decodeOnRows() {
	if stride, inRows := p.right.RowStride(); inRows && p.kernel.ReadsBF16() && p.m <= fewBlocks*mostPanelsOnRows*p.kernel.MR {
		p.onRows, p.rowStride = true, stride
	}
}

// narrowBF16 and widenBF16 are the loops between f32 and bf16.
func narrowBF16() vec.Loop {
	return vec.Find(vec.Of(hlo.OpConvert, hlo.F32, hlo.BF16), func(n int, d, a, _, _ unsafe.Pointer) {
		minifloat.NarrowBF16(unsafe.Slice((*uint16)(d), n), unsafe.Slice((*float32)(a), n))
	})
}

// narrowF16 encodes f16.
func narrowF16() vec.Loop {
	return vec.Find(vec.Of(hlo.OpConvert, hlo.F32, hlo.F16), func(n int, d, a, _, _ unsafe.Pointer) {
		minifloat.NarrowF16(unsafe.Slice((*uint16)(d), n), unsafe.Slice((*float32)(a), n))
	})
}

func widenBF16() vec.Loop {
	return vec.Find(vec.Of(hlo.OpConvert, hlo.BF16, hlo.F32), func(n int, d, a, _, _ unsafe.Pointer) {
		minifloat.WidenBF16(unsafe.Slice((*float32)(d), n), unsafe.Slice((*uint16)(a), n))
	})
}

// planDecoded is [convertedIO.plan] for operands that are decoded.
func (p *product[T]) planDecoded(s *site, e *convertedIO) bool {
	any(p).(*product[float32]).decode = func(m *gemm.Matrix, dst []float32, src []byte, at, r, i0, i1, k0, k1 int) {
		gemm.PackBF16(m, dst, elems[uint16](src)[at:], r, i0, i1, k0, k1)
	}
	e.in = []place{{kind: inInput, index: 0}, {kind: inInput, index: 1}}
	if s.in.Shape().Type() == hlo.BF16 && p.arrange == nil && min(p.m, p.n) > 1 {
		p.encode = narrowBF16()
		e.out = place{kind: inOutput}
		return true
	}
	return e.planResult(s)
}

// Rows of a matrix of bf16 are decoded few at a time, into the nearest caches: as many as the loops over them take together.
const (
	decodedInner   = 4
	decodedCombine = 8
)

// decodedRows is rows for operands of bf16.
func (v *vectorProduct[T]) decodedRows(f *runtime.TensorFrame, lo, hi int) {
	buffer := v.vectors.Get().(*[]T)
	k := v.p.k
	x, room := (*buffer)[:k], (*buffer)[k:]
	matrix, vector, out := elems[uint16](v.matrixAt.of(f)), elems[uint16](v.vectorAt.of(f)), elems[T](v.p.out.of(f))
	decode := func(to []T, from []uint16) {
		v.decode(len(to), unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from[:len(to)])), nil, nil)
	}
	blocks := (v.n-1)/vectorRows + 1
	last := -1
	for task := lo; task < hi; task++ {
		b, i := task/blocks, task%blocks*vectorRows
		if b != last {
			decode(x, vector[v.vectorBatch[b]+v.vector[0]:])
			last = b
		}
		y := out[b*v.n+i:][:min(vectorRows, v.n-i)]
		m := matrix[v.matrixBatch[b]:]
		if v.rowsNeighbour {
			clear(y)
			for at := 0; at < k; at += decodedCombine {
				some := v.matrix.Ks[at:min(at+decodedCombine, k)]
				for r, from := range some {
					decode(room[r*len(y):][:len(y)], m[v.matrix.Rows[i]+from:])
				}
				v.loops.Combine(x[at:at+len(some)], room, len(y), y)
			}
			continue
		}
		for at := 0; at < len(y); at += decodedInner {
			some := y[at:min(at+decodedInner, len(y))]
			for r := range some {
				decode(room[r*k:][:k], m[v.matrix.Rows[i+at+r]+v.matrix.Ks[0]:])
			}
			v.loops.Inner(x, room, k, some)
		}
	}
	v.vectors.Put(buffer)
}
