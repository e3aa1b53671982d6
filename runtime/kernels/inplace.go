package kernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// placedRows is a left matrix that is read where it is: with few columns, an element is used so seldom that packing takes a good part of the time.
type placedRows struct {
	rows, ks []int
	whole    []bool // panels of which every row is in memory; nil if all are
}

// Up to mostColumnsInPlace columns, and from leastInPlace elements of a row that lie together on, rows are read where they are.
const (
	mostColumnsInPlace = 64
	leastInPlace       = 8
	mostRowsInPlace    = 1 << 20 // whose places are listed
)

// placeable reports whether the left side of p may be read where it is, if its rows have so many elements together.
func (p *product[T]) placeable(together int) bool {
	return p.kernel.HasInPlace() && p.n <= mostColumnsInPlace && p.m <= mostRowsInPlace && together >= min(leastInPlace, p.k)
}

// placeLeft makes p read its left matrix in place if that pays.
func (p *product[T]) placeLeft() {
	if p.packLeft != nil {
		return
	}
	together := 1
	for together < p.k && p.left.Ks[together] == p.left.Ks[together-1]+1 {
		together++
	}
	if p.placeable(together) {
		p.placed = &placedRows{rows: p.left.Rows, ks: p.left.Ks}
	}
}

// placePatches is placeLeft for what the window of a convolution sees, where that is inside of the input.
func (p *product[T]) placePatches(g *convGeometry, patches *patches[T]) {
	if g.inFeature != 1 || patches.dilated || g.batchLast || !p.placeable(patches.run) {
		return
	}
	r := &placedRows{rows: g.rowOffsets(), ks: g.tapOffsets(), whole: make([]bool, p.m/p.kernel.MR)}
	var at [maxSpatial]int
	for i := range r.whole {
		r.whole[i] = true
		for row := i * p.kernel.MR; row < (i+1)*p.kernel.MR && r.whole[i]; row++ {
			patches.start(at[:patches.spatial], row)
			r.whole[i] = patches.isInside(at[:patches.spatial])
		}
	}
	p.placed = r
}

// panels returns how many rows from row i on, at most to end, are whole panels in memory, or, if none are, how many there are before the next that are.
func (r *placedRows) panels(i, end, mr int) (n int, inPlace bool) {
	is := func(row int) bool { return row+mr <= end && (r.whole == nil || r.whole[row/mr]) }
	inPlace = is(i)
	for n = mr; i+n < end && is(i+n) == inPlace; {
		n += mr
	}
	return min(n, end-i), inPlace
}

// blockInPlace computes rows [i, end) of a block over [k, k1); panels that are not in memory are packed.
func (p *product[T]) blockInPlace(f *runtime.TensorFrame, w *workspace[T], left, right, c []T, batch, i, end, cols, k, k1 int) {
	for n := 0; i < end; i, c = i+n, c[min(n*p.n, len(c)):] {
		var inPlace bool
		if n, inPlace = p.placed.panels(i, end, p.kernel.MR); inPlace {
			p.kernel.BlockInPlace(cols, left[p.leftBatch[batch]:], p.placed.rows[i:i+n], p.placed.ks[k:k1], right, c, p.n, k > 0, w.tile)
			continue
		}
		p.packRows(f, w, left, batch, i, i+n, k, k1)
		p.kernel.Block(n, cols, k1-k, w.left, right, c, p.n, k > 0, w.tile)
	}
}

// packRows packs rows [i0, i1) of the left side.
func (p *product[T]) packRows(f *runtime.TensorFrame, w *workspace[T], left []T, batch, i0, i1, k0, k1 int) {
	if p.packLeft != nil {
		p.packLeft(f, w.left, left, batch, i0, i1, k0, k1)
		return
	}
	gemm.Pack(&p.left, w.left, left[p.leftBatch[batch]:], p.kernel.MR, i0, i1, k0, k1)
}
