package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// segment is a run of elements along a dimension of a result: element at + j·spread is element from + j·stride of a source, for each j < n.
type segment struct {
	source       int
	from, stride int64
	at, spread   int64
	n            int64
	// group says which segments are one in what they take from the device's own tile: each tile of the result has one at most.
	group int
}

// source is an array that a move reads.
type source struct {
	x *value
	// size is that of the dimension, tile of the part that a device has of it: the size where the array is whole.
	size, tile int64
	whole      bool
}

// move makes tiles of a result along one dimension of elements of sources that lie elsewhere along it: slices, pads, concatenations, rotations.
// Each device sends the runs that others need in rounds, in each of which it sends and receives one at most.
type move struct {
	t        *Tiling // of the result, and of the sources that are not whole
	dim      int
	size     int64 // of the result
	tile     int64
	sources  []source
	segments []segment
	fill     hlo.Value // of what no segment covers; none: they cover all

	local  [][]leg // of each group of segments, by tile of the result
	rounds []round
	cross  *crossing // in place of the rounds
}

// leg is what one tile of a source has for one tile of the result of a segment.
type leg struct {
	segment  int
	src, dst int64 // tiles
	off, at  int64 // in the tiles
	n        int64
}

// round is a collective-permute: runs with sources and targets of their own.
type round struct {
	runs           []leg
	width          int64
	stride, spread int64
}

// maxRunsOfTile bounds the runs of a tile: with more of them gathering is better.
const maxRunsOfTile = 16

// newMove plans a move into tiles of t along dimension dim of an array of some size.
func newMove(t *Tiling, dim int, size int64, sources []*value, segments []segment) (*move, bool) {
	p := t.tiles(dim)
	m := &move{t: t, dim: dim, size: size, tile: ceilDiv(size, p), segments: segments}
	for _, x := range sources {
		n := x.shape.Dim(dim)
		s := source{x: x, size: n, tile: n, whole: len(x.t.Dims[dim]) == 0}
		if !s.whole {
			s.tile = ceilDiv(n, p)
		}
		m.sources = append(m.sources, s)
	}
	if m.tile == 0 {
		return nil, false
	}
	var far []leg
	for i, g := range segments {
		for g.group >= len(m.local) {
			m.local = append(m.local, nil)
		}
		if g.n > 0 && m.sources[g.source].tile == 0 {
			return nil, false
		}
		for _, r := range m.cut(i) {
			if r.src == r.dst {
				m.local[g.group] = append(m.local[g.group], r)
			} else {
				far = append(far, r)
			}
		}
		if int64(len(far)) > maxRunsOfTile*p {
			return nil, false
		}
	}
	m.rounds = m.inRounds(far)
	m.cross = m.crossingOf()
	return m, true
}

// cut cuts a segment where tiles end.
func (m *move) cut(i int) (runs []leg) {
	g, s := m.segments[i], m.sources[m.segments[i].source]
	for j := int64(0); j < g.n; {
		from, at := g.from+j*g.stride, g.at+j*g.spread
		r := leg{segment: i, src: from / s.tile, dst: at / m.tile, off: from % s.tile, at: at % m.tile}
		r.n = min(g.n-j, ceilDiv(m.tile-r.at, g.spread))
		if s.whole {
			r.src, r.off = r.dst, from
		} else {
			r.n = min(r.n, ceilDiv(s.tile-r.off, g.stride))
		}
		runs = append(runs, r)
		j += r.n
	}
	return runs
}

// inRounds puts runs into as few rounds as a greedy choice takes, long ones first, so that those of a round are about as long.
func (m *move) inRounds(far []leg) (rounds []round) {
	slices.SortStableFunc(far, func(a, b leg) int { return int(b.n - a.n) })
	type ends struct{ src, dst map[int64]bool }
	var taken []ends
	for _, r := range far {
		g := m.segments[r.segment]
		i := slices.IndexFunc(taken, func(e ends) bool { return !e.src[r.src] && !e.dst[r.dst] })
		for i >= 0 && i < len(rounds) && (rounds[i].stride != g.stride || rounds[i].spread != g.spread || taken[i].src[r.src] || taken[i].dst[r.dst]) {
			i++
		}
		if i < 0 || i == len(rounds) {
			i = len(rounds)
			rounds = append(rounds, round{width: r.n, stride: g.stride, spread: g.spread})
			taken = append(taken, ends{make(map[int64]bool), make(map[int64]bool)})
		}
		rounds[i].runs = append(rounds[i].runs, r)
		taken[i].src[r.src], taken[i].dst[r.dst] = true, true
	}
	return rounds
}

// cost is what the rounds take for a result of some shape, or the crossing if that is cheaper; it decides between them.
func (m *move) cost(p *partitioner, result hlo.Shape) float64 {
	row := p.cost.Byte * float64(m.t.bytes(result)) / float64(m.tile)
	total := 0.0
	for _, r := range m.rounds {
		total += p.cost.Latency + row*float64(r.width)
	}
	if m.cross != nil {
		if once := p.cost.Latency + row*float64(m.cross.width*m.t.tiles(m.dim)); once < total {
			return once
		}
		m.cross = nil
	}
	return total
}

// moved carries a move out: it is the device's tile of the result.
func (d *device) moved(m *move, shape hlo.Shape) *value {
	var pieces []piece
	if m.cross != nil {
		return &value{v: d.assembled(m, d.crossed(m), shape), shape: shape, t: m.t}
	}
	for _, runs := range m.local {
		if len(runs) > 0 {
			g := m.segments[runs[0].segment]
			pieces = append(pieces, newPiece(m, m.sources[g.source].x, runs, g.stride, g.spread))
		}
	}
	for i := range m.rounds {
		pieces = append(pieces, d.received(m, &m.rounds[i]))
	}
	return &value{v: d.assembled(m, pieces, shape), shape: shape, t: m.t}
}

// assembled puts the pieces of a tile together.
func (d *device) assembled(m *move, pieces []piece, shape hlo.Shape) hlo.Value {
	if v, ok := d.inRow(m, pieces); ok {
		return v
	}
	return d.overlaid(m, pieces, m.t.shard(shape))
}

// received sends the runs of a round, and is what came.
func (d *device) received(m *move, r *round) piece {
	// Runs may come from several sources: a device sends from all of them, one behind the other.
	var parts []hlo.Value
	begin := make(map[int]int64)
	size := int64(0)
	for _, u := range r.runs {
		i := m.segments[u.segment].source
		if _, known := begin[i]; !known {
			begin[i] = size
			parts = append(parts, m.sources[i].x.v)
			size += m.sources[i].tile
		}
	}
	v := parts[0]
	if len(parts) > 1 {
		v = d.b.Concatenate(int64(m.dim), parts...)
	}
	window := (r.width-1)*r.stride + 1
	from := newNumber(m.t.tiles(m.dim))
	got := slices.Clone(r.runs)
	for i, u := range r.runs {
		at := u.off + begin[m.segments[u.segment].source]
		first := at
		if r.stride == 1 {
			first = min(at, max(0, size-window))
		}
		from.set(u.src, first)
		got[i].off = at - first
	}
	if over := from.most() + window - size; over > 0 {
		v = d.pad(v, m.dim, size+over)
	}
	v = d.sliceBy(v, m, from, window)
	if r.stride > 1 {
		v = d.everyOther(v, m.dim, r.stride)
	}
	v = d.permute(v, m.pairs(r.runs))
	return newPiece(m, &value{v: v}, got, 1, r.spread)
}

// pairs are the devices between which runs go.
func (m *move) pairs(runs []leg) (pairs [][]int64) {
	axes := m.t.Dims[m.dim]
	n := m.t.Mesh.size(axes)
	order := m.t.Mesh.listed(append(m.t.Mesh.others(axes), axes...))
	for first := int64(0); first < int64(len(order)); first += n {
		for _, r := range runs {
			pairs = append(pairs, []int64{order[first+r.src], order[first+r.dst]})
		}
	}
	return pairs
}
