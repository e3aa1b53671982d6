package spmd

import (
	"github.com/gohalo/halo/hlo"
)

// apart makes a slice together with others of the same array: an array that is taken apart along a split dimension, like a product with several weights at
// once or the gates of a cell, is sent in the rounds of one move.
func (s *scope) apart(in hlo.Instruction, want *Tiling) (*value, bool) {
	if v, done := s.parts[in.ID()]; done {
		return v, true
	}
	k, ok := slicedDim(in)
	x := s.operands(in)[0]
	if !ok || x.isBroadcast() || x.t.Maximal || len(x.t.Unreduced) > 0 || len(x.t.Dims[k]) == 0 || len(want.Dims[k]) == 0 || x.t.Mesh != want.Mesh {
		return nil, false
	}
	group := s.siblings(in, k, want)
	if len(group) < 2 {
		return nil, false
	}
	p := want.tiles(k)
	source := []*value{{shape: x.shape, t: want}}
	var segments []segment
	var begins []int64
	whole := int64(0) // of a tile of each slice, one behind the other
	separate := 0.0
	for _, u := range group {
		begins = append(begins, whole)
		whole += ceilDiv(u.Shape().Dim(k), p)
		m, ok := newMove(want, k, u.Shape().Dim(k), source, []segment{wholeSegment(u, k)})
		if !ok {
			return nil, false
		}
		separate += m.cost(s.p, u.Shape())
	}
	for i, u := range group {
		g := wholeSegment(u, k)
		tile := ceilDiv(g.n, p)
		for t := range p {
			n := min(tile, g.n-t*tile)
			if n <= 0 {
				break
			}
			segments = append(segments, segment{from: g.from + t*tile, stride: 1, at: t*whole + begins[i], spread: 1, n: n, group: i})
		}
	}
	shape := resized(x.shape, k, p*whole)
	m, ok := newMove(want, k, p*whole, source, segments)
	if !ok || m.cost(s.p, shape) >= min(separate, s.p.routeCost(x.shape, x.t, want.untiled(k))) {
		return nil, false
	}
	m.sources[0].x = s.d.reshard(x, want)
	all := s.d.moved(m, shape)
	for i, u := range group {
		part := want.shard(u.Shape())
		s.parts[u.ID()] = &value{v: s.d.slice(all.v, k, begins[i], begins[i]+part.Dim(k)), shape: u.Shape(), t: want}
	}
	return s.parts[in.ID()], true
}

// slicedDim is the only dimension of which a slice takes a part, of elements side by side.
func slicedDim(in hlo.Instruction) (dim int, ok bool) {
	for k, r := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
		if isWholeSlice(in, k) {
			continue
		}
		if ok || r.Stride != 1 {
			return 0, false
		}
		dim, ok = k, true
	}
	return dim, ok
}

func wholeSegment(in hlo.Instruction, k int) segment {
	return segment{from: hlo.AttrsOf[hlo.SliceAttrs](in).Slice[k].Start, stride: 1, spread: 1, n: in.Shape().Dim(k)}
}

// siblings are the slices of an instruction's operand along dimension k that are wanted alike, the instruction among them.
func (s *scope) siblings(in hlo.Instruction, k int, want *Tiling) (all []hlo.Instruction) {
	for u := range in.OperandInstr(0).Users() {
		if u.Opcode() != hlo.OpSlice {
			continue
		}
		if d, ok := slicedDim(u); !ok || d != k {
			continue
		}
		if t, err := s.wanted(u); err == nil && t[0].equal(want) && u.Shape().Dim(k) > 0 {
			all = append(all, u)
		}
	}
	return all
}
