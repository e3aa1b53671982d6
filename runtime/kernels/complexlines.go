package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// linesFor is the loop of products of many small matrices: that of package gemm, or of complex numbers one by the loops that multiply and add them.
func linesFor[T gemm.Number]() gemm.Lines[T] {
	var l any
	switch any(*new(T)).(type) {
	case complex64:
		l = complexLines[complex64](hlo.C64)
	case complex128:
		l = complexLines[complex128](hlo.C128)
	default:
		return gemm.LinesFor[T]()
	}
	return l.(gemm.Lines[T])
}

// complexLines multiplies pieces of lines, which stay in the nearest cache while they are added up.
func complexLines[T complexNumber](t hlo.PrimitiveType) gemm.Lines[T] {
	const piece = 128 // numbers
	multiply := vec.Of(hlo.OpMultiply, t)
	if !vec.Has(multiply) {
		return gemm.LinesFor[T]()
	}
	times, plus := complexRows(multiply, multiplyRows[T]), complexRows(vec.Of(hlo.OpAdd, t.ComponentType()), sumRows[T])
	rooms := sync.Pool{New: func() any { return new([piece]T) }}
	return func(k int, c, a []T, aStep int, b []T, bStep int) {
		room := rooms.Get().(*[piece]T)
		for at := 0; at < len(c); at += piece {
			sums := c[at:min(at+piece, len(c))]
			clear(sums)
			product := room[:len(sums)]
			for x := range k {
				copy(product, a[x*aStep+at:])
				times(product, b[x*bStep+at:])
				plus(sums, product)
			}
		}
		rooms.Put(room)
	}
}
