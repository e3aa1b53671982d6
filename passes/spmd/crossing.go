package spmd

import (
	"github.com/gohalo/halo/hlo"
)

// crossing is an all-to-all that does what the rounds of a move do: each device has at most one run of each segment group for each other one, and all are about
// as long. It sends runs to the device itself as well, so that all of a group come alike.
type crossing struct {
	width  int64 // of the run for one device, padding included
	groups [][]leg
}

// maxCrossing bounds the devices of a crossing: the program has a slice for each of them.
const maxCrossing = 64

// crossingOf is the crossing of a move; nil if it has none.
func (m *move) crossingOf() *crossing {
	if len(m.rounds) < 2 || m.rounds[0].stride != 1 {
		return nil
	}
	for _, s := range m.sources {
		if s.whole {
			return nil
		}
	}
	p := m.t.tiles(m.dim)
	if p > maxCrossing {
		return nil
	}
	c := &crossing{groups: make([][]leg, len(m.local))}
	add := func(l leg) { c.groups[m.segments[l.segment].group] = append(c.groups[m.segments[l.segment].group], l) }
	for _, legs := range m.local {
		for _, l := range legs {
			add(l)
		}
	}
	for _, r := range m.rounds {
		for _, l := range r.runs {
			add(l)
		}
	}
	// Runs that a device sends to another lie in slots: one after the other, since they are of different groups.
	slots := make(map[[2]int64]int64)
	width := int64(0)
	for _, legs := range c.groups {
		seen := make(map[int64]bool)
		n := int64(0)
		for _, l := range legs {
			if g := m.segments[l.segment]; seen[l.dst] || g.stride != 1 || g.spread != 1 {
				return nil
			}
			seen[l.dst] = true
			n = max(n, l.n)
			slots[[2]int64{l.src, l.dst}]++
			if slots[[2]int64{l.src, l.dst}] > 1 {
				return nil
			}
		}
		width = max(width, n)
	}
	c.width = width
	if p*width > 4*m.tile {
		return nil
	}
	return c
}

// crossed sends what devices have for each other, and is the pieces that came: one of each group.
func (d *device) crossed(m *move) (pieces []piece) {
	p, w := m.t.tiles(m.dim), m.cross.width
	var parts []hlo.Value
	begin := make([]int64, len(m.sources))
	size := int64(0)
	for i, s := range m.sources {
		begin[i] = size
		parts = append(parts, s.x.v)
		size += s.tile
	}
	v := parts[0]
	if len(parts) > 1 {
		v = d.b.Concatenate(int64(m.dim), parts...)
	}
	if size < w {
		v, size = d.pad(v, m.dim, w), w
	}
	from := make([]*number, p) // what goes to each device, by what sends
	for to := range from {
		from[to] = newNumber(p)
	}
	got := make([][]leg, len(m.cross.groups))
	for g, legs := range m.cross.groups {
		for _, l := range legs {
			at := l.off + begin[m.segments[l.segment].source]
			first := min(at, size-w)
			from[l.dst].set(l.src, first)
			l.off = l.src*w + at - first
			got[g] = append(got[g], l)
		}
	}
	parts = parts[:0]
	for to := range from {
		parts = append(parts, d.sliceBy(v, m, from[to], w))
	}
	v = d.allToAll(d.b.Concatenate(int64(m.dim), parts...), m.dim, m.t.Mesh, m.t.Dims[m.dim])
	for _, legs := range got {
		if len(legs) > 0 {
			pieces = append(pieces, newPiece(m, &value{v: v}, legs, 1, 1))
		}
	}
	return pieces
}
