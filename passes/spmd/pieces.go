package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// number is an integer that depends on the tile along a dimension; where it was not set it does not matter.
type number struct {
	values []int64
	isSet  []bool
}

func newNumber(tiles int64) *number {
	return &number{values: make([]int64, tiles), isSet: make([]bool, tiles)}
}

func (n *number) set(tile, v int64) { n.values[tile], n.isSet[tile] = v, true }

// line is the number as first + slope·tile, if it is that.
func (n *number) line() (first, slope int64, ok bool) {
	a, b := -1, -1
	for t, set := range n.isSet {
		switch {
		case !set:
		case a < 0:
			a = t
		case b < 0:
			b = t
		}
	}
	if a < 0 {
		return 0, 0, true
	}
	if b >= 0 {
		if d := n.values[b] - n.values[a]; d%int64(b-a) == 0 {
			slope = d / int64(b-a)
		}
	}
	first = n.values[a] - slope*int64(a)
	for t, set := range n.isSet {
		if set && n.values[t] != first+slope*int64(t) {
			return 0, 0, false
		}
	}
	return first, slope, true
}

// constant is the number, if it is the same in every tile.
func (n *number) constant() (int64, bool) {
	first, slope, ok := n.line()
	return first, ok && slope == 0
}

func (n *number) least() int64 {
	least, any := int64(0), false
	for t, set := range n.isSet {
		if set && (!any || n.values[t] < least) {
			least, any = n.values[t], true
		}
	}
	return least
}

func (n *number) most() int64 {
	most, any := int64(0), false
	for t, set := range n.isSet {
		if set && (!any || n.values[t] > most) {
			most, any = n.values[t], true
		}
	}
	return most
}

// all reports whether the number was set for every tile.
func (n *number) all() bool { return !slices.Contains(n.isSet, false) }

// plus is the number moved by a constant.
func (n *number) plus(c int64) *number {
	m := &number{values: slices.Clone(n.values), isSet: n.isSet}
	for t := range m.values {
		m.values[t] += c
	}
	return m
}

// numberOf is the number of the device's tile: s32[].
func (d *device) numberOf(m *move, n *number) hlo.Value {
	if first, slope, ok := n.line(); ok {
		if slope == 0 {
			return d.s32(first)
		}
		v := d.b.Multiply(d.coordinate(m.t.Mesh, m.t.Dims[m.dim]), d.s32(slope))
		if first != 0 {
			v = d.b.Add(v, d.s32(first))
		}
		return v
	}
	tile := d.coordinate(m.t.Mesh, m.t.Dims[m.dim])
	if line, others, ok := n.almostLine(); ok {
		v := d.numberOf(m, line)
		for _, t := range others {
			v = d.b.Select(d.b.Compare(hlo.EQ, tile, d.s32(t)), d.s32(n.values[t]), v)
		}
		return v
	}
	table := make([]int32, len(n.values))
	for t, v := range n.values {
		table[t] = int32(v)
	}
	return d.lookup(table, tile)
}

// almostLine is a line through all but a few tiles, which are mostly the first and the last.
func (n *number) almostLine() (line *number, others []int64, ok bool) {
	i := len(n.values) / 2
	if len(n.values) < 4 || !n.isSet[i-1] || !n.isSet[i] {
		return nil, nil, false
	}
	line = newNumber(int64(len(n.values)))
	for t, set := range n.isSet {
		on := n.values[i] + int64(t-i)*(n.values[i]-n.values[i-1])
		if set && n.values[t] != on {
			others = append(others, int64(t))
		}
		line.set(int64(t), on)
	}
	return line, others, len(others) <= 2
}

// sliceBy is part of an array from a number on.
func (d *device) sliceBy(v hlo.Value, m *move, from *number, size int64) hlo.Value {
	if c, ok := from.constant(); ok {
		if c == 0 && v.Shape().Dim(m.dim) == size {
			return v
		}
		return d.slice(v, m.dim, c, c+size)
	}
	return d.sliceAt(v, m.dim, d.numberOf(m, from), size)
}

// everyOther leaves the elements that are stride apart.
func (d *device) everyOther(v hlo.Value, k int, stride int64) hlo.Value {
	ranges := make([]hlo.SliceDim, v.Shape().Rank())
	for i := range ranges {
		ranges[i] = hlo.SliceDim{Limit: v.Shape().Dim(i), Stride: 1}
	}
	ranges[k].Stride = stride
	return d.b.Slice(v, ranges...)
}

// padded adds elements before, between and behind those of dimension k.
func (d *device) padded(v hlo.Value, k int, by hlo.PaddingDim) hlo.Value {
	if by == (hlo.PaddingDim{}) {
		return v
	}
	a := &hlo.PadAttrs{Padding: make([]hlo.PaddingDim, v.Shape().Rank())}
	a.Padding[k] = by
	return d.b.Op(hlo.OpPad, a, v, d.scalar(v.Shape().Type(), 0))
}

// piece is an array that has elements of the device's tile of a result: element at + j·spread of the tile is element off + j·stride, for j < n.
type piece struct {
	x              *value
	off, at, n     *number
	stride, spread int64
}

func newPiece(m *move, x *value, runs []leg, stride, spread int64) piece {
	p := m.t.tiles(m.dim)
	c := piece{x: x, off: newNumber(p), at: newNumber(p), n: newNumber(p), stride: stride, spread: spread}
	for _, r := range runs {
		c.off.set(r.dst, r.off)
		c.at.set(r.dst, r.at)
		c.n.set(r.dst, r.n)
	}
	return c
}

// inRow puts pieces one behind the other where they lie alike in every tile.
func (d *device) inRow(m *move, pieces []piece) (hlo.Value, bool) {
	pieces = slices.Clone(pieces)
	slices.SortStableFunc(pieces, func(a, b piece) int { return int(a.at.least() - b.at.least()) })
	end := int64(0)
	var row []hlo.Value
	for _, c := range pieces {
		off, ok := c.off.constant()
		at, ok2 := c.at.constant()
		n, ok3 := m.alike(&c)
		if !ok || !ok2 || !ok3 || at != end || c.stride > 1 || c.spread > 1 || m.fill != (hlo.Value{}) && !c.n.all() {
			return hlo.Value{}, false
		}
		end += n
		row = append(row, d.slice(c.x.v, m.dim, off, off+n))
	}
	if end != m.tile || len(row) == 0 {
		return hlo.Value{}, false
	}
	if len(row) == 1 {
		return row[0], true
	}
	return d.b.Concatenate(int64(m.dim), row...), true
}

// alike is how many elements a piece has in every tile, less those that would lie beyond the end of the result.
func (m *move) alike(c *piece) (n int64, ok bool) {
	n = c.n.most()
	for t, set := range c.n.isSet {
		if set && c.n.values[t] < n && int64(t)*m.tile+c.at.values[t]+c.n.values[t] < m.size {
			return 0, false
		}
	}
	return n, true
}

// overlaid lays pieces over each other, each where it has elements.
func (d *device) overlaid(m *move, pieces []piece, tile hlo.Shape) hlo.Value {
	dims := tile.Dimensions()
	fill := m.fill
	if fill == (hlo.Value{}) && len(pieces) == 0 {
		fill = d.scalar(tile.Type(), 0) // nothing but what lies beyond the end
	}
	var v, index hlo.Value
	if fill != (hlo.Value{}) {
		v = d.splat(fill, dims)
	}
	for _, c := range pieces {
		placed := d.placed(m, &c)
		if v == (hlo.Value{}) {
			v = placed
			continue
		}
		if index == (hlo.Value{}) {
			index = d.b.Iota(hlo.MakeShape(hlo.S32, dims...).WithDefaultLayout(), int64(m.dim))
		}
		v = d.b.Select(d.covers(m, &c, index), placed, v)
	}
	return v
}

// placed is a piece with its elements where they are in the tile, and anything elsewhere.
func (d *device) placed(m *move, c *piece) hlo.Value {
	v, off := c.x.v, c.off
	if c.x.isBroadcast() {
		dims := v.Shape().Dimensions()
		dims[m.dim] = m.tile
		return d.splat(c.x.scalar, dims)
	}
	if _, same := off.constant(); c.stride > 1 || c.spread > 1 && !same {
		window := (c.n.most()-1)*c.stride + 1
		if over := off.most() + window - v.Shape().Dim(m.dim); over > 0 {
			v = d.pad(v, m.dim, v.Shape().Dim(m.dim)+over)
		}
		if v = d.sliceBy(v, m, off, window); c.stride > 1 {
			v = d.everyOther(v, m.dim, c.stride)
		}
		off = newNumber(m.t.tiles(m.dim))
	}
	shift := newNumber(m.t.tiles(m.dim))
	for t, set := range c.at.isSet {
		if set {
			shift.set(int64(t), off.values[t]*c.spread-c.at.values[t])
		}
	}
	n := v.Shape().Dim(m.dim)
	long := (n-1)*c.spread + 1
	low, high := max(0, -shift.least()), max(0, shift.most()+m.tile-long)
	v = d.padded(v, m.dim, hlo.PaddingDim{Low: low, High: high, Interior: c.spread - 1})
	return d.sliceBy(v, m, shift.plus(low), m.tile)
}

// covers says which elements of the tile a piece has.
func (d *device) covers(m *move, c *piece, index hlo.Value) hlo.Value {
	p := m.t.tiles(m.dim)
	dims := index.Shape().Dimensions()
	from, to := newNumber(p), newNumber(p)
	for t := range p {
		to.set(t, 0)
		if c.at.isSet[t] && c.n.values[t] > 0 {
			from.set(t, c.at.values[t])
			to.set(t, c.at.values[t]+(c.n.values[t]-1)*c.spread+1)
		}
	}
	var in hlo.Value
	and := func(v hlo.Value) {
		if in == (hlo.Value{}) {
			in = v
		} else {
			in = d.b.Binary(hlo.OpAnd, in, v)
		}
	}
	if from.most() > 0 {
		and(d.b.Compare(hlo.GE, index, d.splat(d.numberOf(m, from), dims)))
	}
	if in == (hlo.Value{}) || to.least() < m.tile {
		and(d.b.Compare(hlo.LT, index, d.splat(d.numberOf(m, to), dims)))
	}
	if c.spread > 1 {
		phase := newNumber(p)
		for t, set := range c.at.isSet {
			if set {
				phase.set(int64(t), c.at.values[t]%c.spread)
			}
		}
		at := d.b.Binary(hlo.OpRemainder, index, d.splat(d.s32(c.spread), dims))
		and(d.b.Compare(hlo.EQ, at, d.splat(d.numberOf(m, phase), dims)))
	}
	return in
}
