package kernels

import (
	"sync"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// placedRows is a left matrix that is read where it is: with few columns, an element is used so seldom that packing takes a good part of the time. The right one is then
// read where it is too, if the kernel can, it has fewer columns than a panel, and its rows lie together.
type placedRows struct {
	rows, ks []int
	whole    []bool // panels of which every row is in memory; nil if all are
}

// Up to mostColumnsInPlace columns, and from leastInPlace elements of a row or of a column that lie together on, rows are read where they are.
// Up to closeColumns columns, rows of the right side are so close together that what a block reads of them stays in the nearest cache.
const (
	mostColumnsInPlace = 192
	closeColumns       = 64
	leastInPlace       = 8
	mostRowsInPlace    = 1 << 20 // whose places are listed
)

// placeable reports whether the left side of p may be read where it is, if its rows have so many elements together; the kernel is one that does then.
func (p *product[T]) placeable(together, most int) bool {
	if p.n > most || p.m > mostRowsInPlace || together < min(leastInPlace, p.k) {
		return false
	}
	k, ok := gemm.InPlace[T]()
	if ok {
		p.kernel = k
	}
	return ok
}

// placeOperands makes p read its matrices in place where that pays; a constant right side has been packed before.
func (p *product[T]) placeOperands(constant bool) {
	fit, given := p.kernel, p.placed != nil
	if !given && p.packLeft == nil {
		p.placeLeft()
	}
	stride, inRows := p.right.RowStride()
	switch {
	case constant || !inRows:
	case p.placed != nil && p.packLeft == nil && p.kernel.ReadsRows() && p.n < p.kernel.NR && stride <= closeColumns:
		p.onRows, p.rowStride = true, stride
	case !given && fit.RunOnRows != nil && p.m <= fewBlocks*mostPanelsOnRows*fit.MR && (p.placed == nil || p.m < p.n):
		// Of the two, the larger side is left where it is.
		p.kernel, p.placed = fit, nil
		p.onRows, p.rowStride = true, stride
	}
}

// placeLeft makes p read its left matrix in place if that pays.
func (p *product[T]) placeLeft() {
	together := 1
	for together < p.k && p.left.Ks[together] == p.left.Ks[together-1]+1 {
		together++
	}
	most := mostColumnsInPlace
	switch {
	case !gemm.ReadsFarRows():
		most = closeColumns
	case together == p.k:
		most = mostColumns // those of one block
	}
	if p.left.LinearRows() {
		together = max(together, p.m)
		if p.losesLines() {
			most = closeColumns
		}
	}
	if p.placeable(together, most) {
		r := &placedRows{rows: p.left.Rows, ks: p.left.Ks}
		p.placed = func() *placedRows { return r }
	}
}

// losesLines reports whether lines of a column-major left side, read in place, are lost before the panels that share them have read them: where columns are whole pages
// apart, they share few sets of the nearest cache, and panels of less than half a line come back to each line too often.
func (p *product[T]) losesLines() bool {
	k, ok := gemm.InPlace[T]()
	size := sizeOf(*new(T))
	return ok && p.k > 1 && (p.left.Ks[1]-p.left.Ks[0])*size%page == 0 && k.MR*size < cacheLine/2
}

// placePatches is placeLeft for what the window of a convolution sees, where that is inside of the input.
func (p *product[T]) placePatches(g *convGeometry, patches *patches[T]) {
	if g.inFeature != 1 || patches.dilated || g.batchLast || !p.placeable(patches.run, mostColumnsInPlace) {
		return
	}
	m, mr := p.m, p.kernel.MR
	patches.mr = mr
	p.placed = sync.OnceValue(func() *placedRows { return patches.place(m, mr) })
}

// place finds the m rows of a product, and which panels of mr of them are inside. It is not for dilated input.
func (p *patches[T]) place(m, mr int) *placedRows {
	r := &placedRows{rows: p.g.rowOffsets(), ks: p.g.tapOffsets(), whole: make([]bool, m/mr)}
	var at [maxSpatial]int
	for i := range r.whole {
		r.whole[i] = true
		for row := i * mr; row < (i+1)*mr && r.whole[i]; row++ {
			p.start(at[:p.spatial], row)
			r.whole[i] = p.isInside(at[:p.spatial])
		}
	}
	return r
}

// panels returns how many rows from row i on, at most to end, are in memory, or, if none are, how many there are before the next that are.
func (r *placedRows) panels(i, end, mr int) (n int, inPlace bool) {
	if r.whole == nil {
		return end - i, true
	}
	is := func(row int) bool { return row+mr <= end && r.whole[row/mr] }
	inPlace = is(i)
	for n = mr; i+n < end && is(i+n) == inPlace; {
		n += mr
	}
	return min(n, end-i), inPlace
}

// blockInPlace computes rows [i, end) of a block over [k, k1); panels that are not in memory are packed.
func (p *product[T]) blockInPlace(f *runtime.TensorFrame, w *workspace[T], left []byte, right, c []T, batch, i, end, cols, k, k1 int) {
	placed := p.placed()
	for n := 0; i < end; i, c = i+n, c[min(n*p.n, len(c)):] {
		var inPlace bool
		if n, inPlace = placed.panels(i, end, p.kernel.MR); inPlace {
			p.kernel.BlockInPlace(cols, elems[T](left)[p.leftBatch[batch]:], placed.rows[i:i+n], placed.ks[k:k1], right, p.rowStride, c, p.n, k > 0, w.tile, w.last)
			continue
		}
		p.packRows(f, w, left, batch, i, i+n, k, k1)
		p.kernel.Block(n, cols, k1-k, w.left, right, c, p.n, k > 0, w.tile)
	}
}

// packRows packs rows [i0, i1) of the left side.
func (p *product[T]) packRows(f *runtime.TensorFrame, w *workspace[T], left []byte, batch, i0, i1, k0, k1 int) {
	if p.packLeft != nil {
		p.packLeft(f, w.left, elems[T](left), batch, i0, i1, k0, k1)
		return
	}
	p.pack(&p.left, w.left, left, p.leftBatch[batch], p.kernel.MR, i0, i1, k0, k1)
}
