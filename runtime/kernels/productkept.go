package kernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// A loop that hands the right side of a product on as it got it, as a recurrent network does with its weights, has it packed once. Its rounds then read panels from front
// to back: where they read its rows, those share few sets of the nearest cache if they are whole pages, or parts of one, apart.

// A right side is kept as panels for up to mostRowsKept rows on the left: for more, packing it takes little of the time. For those of one panel, which read it once, it
// is kept if its rows are at least farApart bytes apart.
const (
	mostRowsKept = 64
	farApart     = page / 4
)

// preparation is the packing of the right side, or nil if it is not worth memory of its own. Products that become machine code pack nothing.
func (p *product[T]) preparation() *runtime.Preparation {
	if p.constant != nil || p.code != nil || p.rhs.kind != inInput || p.m > mostRowsKept || p.k == 0 || p.onRows && !p.gainsByPanels() {
		return nil
	}
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) { p.packRight(elems[T](f.Kept()), p.rhs.of(f), lo, hi) })
	return &runtime.Preparation{
		In:    p.rhs.index,
		Bytes: int64(p.packedLen() * sizeOf(*new(T))),
		Run:   func(f *runtime.TensorFrame) { loop.run(f, p.packs(), p.packsOfTask()) },
	}
}

// gainsByPanels reports whether a product that reads rows would take less time with panels. With AVX-512, its kernels take more rows or columns together if they read
// rows; there the two have not been compared.
func (p *product[T]) gainsByPanels() bool {
	return p.placed == nil && vec.InUse() < vec.AVX512 && (p.m > p.kernel.MR || p.rowStride*sizeOf(*new(T)) >= farApart)
}

// packedBefore is the right side as panels that were packed before this run, for the program or for a loop, or nil.
func (p *product[T]) packedBefore(f *runtime.TensorFrame) []T {
	if kept := f.Kept(); kept != nil {
		return elems[T](kept)
	}
	return p.constant
}

// packsIn reports whether this run packs the right side.
func (p *product[T]) packsIn(f *runtime.TensorFrame) bool { return p.isPacked() && f.Kept() == nil }
