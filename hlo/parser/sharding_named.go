package parser

import (
	"github.com/gohalo/halo/hlo"
)

// buildNamed makes a named sharding of its syntax (hlo-text section 6.2.3).
func (p *parser) buildNamed(n *namedLeaf, at int) *hlo.Sharding {
	r := valueReader{p, at}
	m := r.mesh(&n.Mesh)
	v := &hlo.NamedSharding{Mesh: m, Body: hlo.ShardingReplicated}
	s := &hlo.Sharding{Kind: hlo.ShardingNamed, Named: v}
	b := n.Body
	if b == nil {
		b = new(namedBody)
	}
	hasBody := b.Dims != nil || b.Replicated || b.Unreduced != nil || b.Manual
	switch {
	case m.Maximal && hasBody:
		r.bad("a maximal mesh has nothing to shard along")
	case !m.Maximal && !hasBody:
		r.bad("expects dimensions, replicated, unreduced or manual after the mesh")
	case m.Maximal:
		v.Body = hlo.ShardingMaximal
	case b.Unreduced != nil:
		v.Body = hlo.ShardingUnreduced
		s.Reduction = reductions[b.Unreduced.Reduction]
		if b.Unreduced.Axes != nil {
			v.Body = hlo.ShardingTiled
			v.Unreduced = r.axes(m, b.Unreduced.Axes.Axes)
		}
	case b.Manual:
		v.Body = hlo.ShardingManual
	case b.Dims != nil:
		v.Body = hlo.ShardingTiled
		r.namedDims(s, b.Dims)
	}
	if b.Metadata != nil {
		if s.HasMetadata {
			r.bad("attribute metadata already exists")
		}
		r.shardingMetadata(s, b.Metadata)
	}
	lists := [][]hlo.AxisRef{v.Replicated, v.Unreduced, v.Manual}
	for _, d := range v.Dims {
		lists = append(lists, d.Axes)
	}
	r.checkDisjoint(m, lists...)
	r.checkSorted(v.Replicated, "replicated")
	r.checkSorted(v.Unreduced, "unreduced")
	r.checkSorted(v.Manual, "manual")
	return s
}

func (r valueReader) namedDims(s *hlo.Sharding, d *namedDims) {
	v := s.Named
	v.Dims = make([]hlo.DimSharding, len(d.Dims))
	for i, dim := range d.Dims {
		for k := range dim.Axes {
			a := &dim.Axes[k]
			switch {
			case v.Dims[i].Open:
				r.bad("Saw axis ref after '?'")
			case a.Open:
				v.Dims[i].Open = true
			default:
				v.Dims[i].Axes = append(v.Dims[i].Axes, r.axis(v.Mesh, a.Ref))
			}
		}
	}
	for _, e := range d.Extras {
		switch {
		case e.Replicated != nil:
			v.Replicated = append(v.Replicated, r.axes(v.Mesh, e.Replicated.Axes)...)
		case e.Unreduced != nil:
			s.Reduction = reductions[e.Unreduced.Reduction]
			v.Unreduced = append(v.Unreduced, r.axes(v.Mesh, e.Unreduced.Axes.Axes)...)
		case e.Manual != nil:
			v.Manual = append(v.Manual, r.axes(v.Mesh, e.Manual.Axes)...)
		case e.Metadata != nil:
			r.shardingMetadata(s, e.Metadata)
		}
	}
}
