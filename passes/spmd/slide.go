package spmd

import (
	"github.com/gohalo/halo/hlo"
)

// slide says which elements of an operand each element of a result reads along one dimension: result j reads elements j·stride − low to
// j·stride − low + reach, where those outside of the operand are padding. Convolutions, windows, slices and pads are slides.
type slide struct {
	in, out            int64 // sizes
	low, stride, reach int64
	// base is how far apart elements of the operand lie, with zeros between them; 0 is 1. Low, stride and reach count these zeros.
	base int64
}

// halo is what a device needs of its neighbours when both sides are cut into n tiles.
type halo struct {
	slide
	tiles       int64
	ci, co      int64 // sizes of tiles
	advance     int64 // elements between where neighbouring tiles of the result begin to read; negative: not the same everywhere
	left, right int64 // elements before and behind the own tile
	size        int64 // of what the tile of the result reads
	// before and behind are the zeros that a tile of the result reads beside the first and the last of its elements.
	before, behind int64
}

func (w slide) halo(tiles int64) halo {
	h := halo{slide: w, tiles: tiles, ci: ceilDiv(w.in, tiles), co: ceilDiv(w.out, tiles)}
	h.size, h.advance = (h.co-1)*w.stride+w.reach, h.co*w.stride
	if w.base > 1 {
		h.before = (w.low%w.base + w.base) % w.base
		n := max(0, h.size-1-h.before)/w.base + 1
		h.behind = h.size - h.before - (n-1)*w.base - 1
		h.low, h.size = (w.low-h.before)/w.base, n
		if h.advance%w.base != 0 || h.behind < 0 {
			h.advance = -1
			return h
		}
		h.advance /= w.base
	}
	// Where a tile of the result begins to read, less where the tile of the operand begins, is affine in the number of the tile.
	first, last := h.start(0), h.start(tiles-1)
	h.left = max(0, -min(first, last))
	h.right = max(0, max(first, last)+h.size-h.ci)
	return h
}

// start is where tile t of the result begins to read, from where tile t of the operand begins.
func (h *halo) start(t int64) int64 { return t*(h.advance-h.ci) - h.low }

// hops is how many neighbours on a side have something of n elements.
func (h *halo) hops(n int64) int64 {
	if h.ci == 0 {
		return 0
	}
	return ceilDiv(n, h.ci)
}

// isLocal reports whether neighbours are near: an exchange is better than gathering.
func (h *halo) isLocal() bool {
	return h.advance >= 0 && h.ci > 0 && h.co > 0 && h.hops(h.left) < h.tiles && h.hops(h.right) < h.tiles && h.left+h.right+h.ci <= h.in+h.low+h.reach+h.size
}

// cost is what fetching halos of an array takes.
func (h *halo) cost(c Cost, tileBytes int64) float64 {
	n := float64(h.hops(h.left) + h.hops(h.right))
	return n*c.Latency + c.Byte*float64(tileBytes)*float64(h.left+h.right)/float64(max(1, h.ci))
}

// fetch makes of the tiles of x along dimension k what the device's tile of the result reads. Where that is outside of the array it is fill.
func (d *device) fetch(x *value, k int, h halo, fill hlo.Value) hlo.Value {
	axes := x.t.Dims[k]
	var pieces []hlo.Value
	for hop := h.hops(h.left); hop > 0; hop-- { // far left first
		n := min(h.left-(hop-1)*h.ci, h.ci)
		pieces = append(pieces, d.fromNeighbour(d.slice(x.v, k, h.ci-n, h.ci), x.t, axes, -hop))
	}
	pieces = append(pieces, x.v)
	for hop := int64(1); hop <= h.hops(h.right); hop++ {
		n := min(h.right-(hop-1)*h.ci, h.ci)
		pieces = append(pieces, d.fromNeighbour(d.slice(x.v, k, 0, n), x.t, axes, hop))
	}
	v := pieces[0]
	if len(pieces) > 1 {
		v = d.b.Concatenate(int64(k), pieces...)
	}
	tile := d.coordinate(x.t.Mesh, axes)
	switch drift := h.advance - h.ci; {
	case drift == 0:
		v = d.slice(v, k, h.left-h.low, h.left-h.low+h.size)
	default:
		at := d.b.Add(d.b.Multiply(tile, d.s32(drift)), d.s32(h.left-h.low))
		v = d.sliceAt(v, k, at, h.size)
	}
	return d.insideOr(v, k, d.b.Add(d.b.Multiply(tile, d.s32(h.advance)), d.s32(-h.low)), h.in, fill)
}

// insideOr replaces elements whose index in the whole array, which is from on along dimension k, is outside of it.
func (d *device) insideOr(v hlo.Value, k int, from hlo.Value, n int64, fill hlo.Value) hlo.Value {
	dims := v.Shape().Dimensions()
	return d.b.Select(d.within(dims, k, from, n), v, d.splat(fill, dims))
}

// fromNeighbour is the value of the device that is some tiles further along axes; zeros where there is none.
func (d *device) fromNeighbour(v hlo.Value, t *Tiling, axes []int, distance int64) hlo.Value {
	m := t.Mesh
	n := m.size(axes)
	order := m.listed(append(m.others(axes), axes...))
	var pairs [][]int64
	for i, to := range order {
		if c := int64(i)%n + distance; c >= 0 && c < n {
			pairs = append(pairs, []int64{order[int64(i)+distance], to})
		}
	}
	return d.permute(v, pairs)
}
