package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// shift is an op on one array that takes elements along some dimensions and leaves them in order: a slice or a pad.
type shift struct {
	in    hlo.Instruction
	dims  []int     // those that change
	segs  []segment // of each dimension that changes
	fill  hlo.Value // of what is padding; none for slices
	local func(dims []int, x hlo.Value) hlo.Value
}

// along adds a dimension that changes.
func (h *shift) along(k int, g segment) { h.dims, h.segs = append(h.dims, k), append(h.segs, g) }

// shiftOr carries out a shift, or the general method of an op, whichever is cheaper.
func (s *scope) shiftOr(h *shift, want []*Tiling, d *details) ([]*value, error) {
	have := s.operands(h.in)
	f, ok := factors(h.in)
	if ok && h.in.Shape().IsStatic() && len(h.dims) > 0 {
		q := &question{in: h.in, factors: f, have: have, want: want[0], mesh: s.meshOf(want, have), slides: true, manual: manualOf(want, have)}
		if v, ok := s.shifted(h, have[0], want[0], s.d.plans(q).cost); ok {
			return []*value{v}, nil
		}
	}
	return s.general(h.in, want, d)
}

// shiftStage is a part of a shift that runs by itself: along dimensions that are whole, or along one that is split.
type shiftStage struct {
	dims   []int
	m      *move   // of a split dimension whose result is split
	reduce []int   // axes along which each device contributes what it has; the result is whole
	t      *Tiling // after the stage
	shape  hlo.Shape
}

// shiftPlan is a way to carry a shift out.
type shiftPlan struct {
	start  *Tiling // of the operand
	stages []shiftStage
	cost   float64
}

// shifted carries a shift out by moves if that is cheaper than otherwise.
func (s *scope) shifted(h *shift, x *value, want *Tiling, otherwise float64) (*value, bool) {
	if x.isBroadcast() || x.t.Maximal || len(x.t.Unreduced) > 0 || len(want.Unreduced) > 0 || x.t.Mesh != want.Mesh || !slices.Equal(x.t.Manual, want.Manual) {
		return nil, false
	}
	var best *shiftPlan
	for _, t := range h.targets(x, want) {
		if p, ok := s.shiftPlan(h, x, t, want); ok && (best == nil || p.cost < best.cost) {
			best = p
		}
	}
	if best == nil || best.cost >= otherwise {
		return nil, false
	}
	y := s.d.reshard(x, best.start)
	for _, g := range best.stages {
		switch {
		case g.m != nil:
			g.m.sources[0].x, g.m.fill = y, h.fill
			combine := y.combine
			y = s.d.moved(g.m, g.shape)
			y.combine = combine
		case g.reduce != nil:
			y = s.contributed(h, y, g)
		default:
			y = &value{v: h.local(g.dims, y.v), shape: g.shape, t: g.t, combine: y.combine}
		}
	}
	y.shape = h.in.Shape()
	return y, true
}

// targets are the tilings of the result that are tried.
func (h *shift) targets(x *value, want *Tiling) []*Tiling {
	all := []*Tiling{want}
	mixed := want
	for _, k := range h.dims {
		if axes := without(x.t.Dims[k], mixed.used()); len(mixed.Dims[k]) == 0 && len(axes) == len(x.t.Dims[k]) {
			mixed = mixed.withDim(k, axes)
		}
	}
	return append(all, mixed, x.t.withDims(x.t.Dims))
}

// shiftPlan plans a shift whose result lies as t, and is then brought to where it is wanted.
func (s *scope) shiftPlan(h *shift, x *value, t, want *Tiling) (*shiftPlan, bool) {
	start := t.withDims(slices.Clone(t.Dims))
	var whole, split, given []int
	for _, k := range h.dims {
		switch {
		case len(x.t.Dims[k]) == 0 && len(t.Dims[k]) == 0:
			whole = append(whole, k)
		case len(t.Dims[k]) > 0:
			split = append(split, k)
			if len(x.t.Dims[k]) == 0 {
				start.Dims[k] = nil
			}
		case h.fill == (hlo.Value{}) && s.canGive(h, k) && len(without(x.t.Dims[k], t.used())) == len(x.t.Dims[k]):
			given = append(given, k)
			start.Dims[k] = x.t.Dims[k]
		default:
			whole = append(whole, k)
		}
	}
	p := &shiftPlan{start: start, cost: s.p.routeCost(x.shape, x.t, start) + float64(start.bytes(x.shape))*s.p.cost.Byte*0.01}
	at, shape := start, x.shape
	add := func(g shiftStage) {
		for _, k := range g.dims {
			shape = resized(shape, k, h.in.Shape().Dim(k))
		}
		at, g.shape = g.t, shape
		p.stages = append(p.stages, g)
	}
	if len(whole) > 0 {
		add(shiftStage{dims: whole, t: at})
	}
	for _, k := range given {
		next := at.untiled(k)
		next.Unreduced = union(next.Unreduced, at.Dims[k])
		add(shiftStage{dims: []int{k}, reduce: at.Dims[k], t: next})
	}
	for _, k := range split {
		next := at.withDim(k, t.Dims[k])
		m, ok := newMove(next, k, h.in.Shape().Dim(k), []*value{{shape: shape, t: at}}, []segment{h.segs[slices.Index(h.dims, k)]})
		if !ok {
			return nil, false
		}
		add(shiftStage{dims: []int{k}, m: m, t: next})
		p.cost += m.cost(s.p, shape)
	}
	p.cost += s.p.routeCost(shape, at, want) + float64(at.bytes(shape))*s.p.cost.Byte*0.01
	return p, true
}

// canGive reports whether devices may each contribute what they have of a dimension.
func (s *scope) canGive(h *shift, k int) bool {
	return brings(h.in.Shape().Type()) && h.segs[slices.Index(h.dims, k)].stride == 1
}

// brings reports whether a sum with an identity, bit for bit, brings values of a type together.
func brings(t hlo.PrimitiveType) bool {
	_, ok := emit.Identity(bringing(t))
	return ok && !t.IsComplex()
}

// bringing is the op that brings values together of which all devices but one have the identity.
func bringing(t hlo.PrimitiveType) (hlo.Opcode, hlo.PrimitiveType) {
	if t == hlo.PRED {
		return hlo.OpOr, t
	}
	return hlo.OpAdd, t
}

// contributed is what each device has of a slice along a split dimension, and the identity elsewhere.
func (s *scope) contributed(h *shift, x *value, g shiftStage) *value {
	k := g.dims[0]
	from := s.d.s32(h.segs[slices.Index(h.dims, k)].from)
	v := s.d.ownPart(x, k, from, g.shape.Dim(k))
	return &value{v: v, shape: g.shape, t: g.t, combine: by(s.p.binary(bringing(x.shape.Type())))}
}

// ownPart is the n elements of dimension k that begin at an index of the whole array, as far as the device has them: the identity of the op that
// brings them together where it does not. The array must have them.
func (d *device) ownPart(x *value, k int, from hlo.Value, n int64) hlo.Value {
	v, tile := x.v, x.v.Shape().Dim(k)
	at := d.b.Subtract(from, d.offset(x.t, k, tile)) // in the tile, or outside of it
	begin := at
	if n < tile {
		begin = d.b.Clamp(d.s32(0), at, d.s32(tile-n))
		v = d.sliceAt(v, k, begin, n)
		begin = d.b.Add(d.b.Subtract(at, begin), d.s32(n))
		v = d.sliceAt(d.padded(v, k, hlo.PaddingDim{Low: n, High: n}), k, begin, n)
	} else {
		v = d.sliceAt(d.padded(v, k, hlo.PaddingDim{Low: n, High: n}), k, d.b.Add(at, d.s32(n)), n)
	}
	id, _ := emit.Identity(bringing(x.shape.Type()))
	dims := v.Shape().Dimensions()
	return d.b.Select(d.within(dims, k, at, tile), v, d.splat(d.b.Constant(id), dims))
}
