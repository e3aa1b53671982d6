package proto

import (
	"github.com/gohalo/halo/hlo"
)

// sharding encodes a sharding; nil for none.
func (e *encoder) sharding(s *hlo.Sharding) rawMsg {
	if s == nil {
		return nil
	}
	raw, ok := e.shardings[s]
	if !ok {
		raw = keep(e, e.shardingMsg(s))
		e.shardings[s] = raw
	}
	return raw
}

func (e *encoder) shardingMsg(s *hlo.Sharding) *shardingMsg {
	m := &shardingMsg{Type: protoKinds[s.Kind]}
	switch s.Group {
	case hlo.ShardAs:
		m.IsShardGroup, m.ShardGroupID = true, s.GroupID
	case hlo.ShardLike:
		m.IsShardGroup, m.ShardGroupID, m.ShardGroupType = true, s.GroupID, 1
	}
	for _, md := range s.Metadata {
		m.Metadata = append(m.Metadata, encodeMetadata(md))
	}
	if s.HasMetadata && len(s.Metadata) == 0 {
		m.Extra = &shardingExtra{EmptyMetadata: true}
	}
	if s.Kind != hlo.ShardingNamed && s.Reduction != hlo.ReductionSum {
		m.Metadata = append(m.Metadata, &metadataMsg{OpType: reductionType, OpName: reductions[s.Reduction]})
	}
	switch s.Kind {
	case hlo.ShardingTuple:
		for _, leaf := range s.Elements {
			m.Tuple = append(m.Tuple, e.sharding(leaf))
		}
	case hlo.ShardingMaximal:
		m.TileDims, m.Devices = []int64{1}, s.Devices
	case hlo.ShardingTiled:
		m.TileDims, m.Devices, m.ReplicateLast = s.TileDims, s.Devices, s.ReplicateOnLastTileDim
		if s.Iota != nil {
			m.IotaReshape, m.IotaTranspose = encodeIota(s.Iota)
		}
		for _, k := range s.Subgroups {
			m.LastTileDims = append(m.LastTileDims, int64(protoKinds[k]))
		}
	case hlo.ShardingNamed:
		encodeNamed(m, s)
	}
	return m
}

func encodeIota(t *hlo.IotaTile) (reshape, transpose []int64) {
	if t.Transpose == nil {
		for i := range t.Reshape {
			transpose = append(transpose, int64(i))
		}
	}
	for _, axis := range t.Transpose {
		transpose = append(transpose, int64(axis))
	}
	return t.Reshape, transpose
}

func encodeNamed(m *shardingMsg, s *hlo.Sharding) {
	n := s.Named
	empty := m.Extra != nil
	m.Extra = &shardingExtra{EmptyMetadata: empty, Body: int32(n.Body) + 1}
	m.Named = &namedMsg{
		Mesh: encodeMesh(n.Mesh), Replicated: encodeAxes(n.Replicated), Unreduced: encodeAxes(n.Unreduced), Manual: encodeAxes(n.Manual),
		Metadata: m.Metadata, Reduction: int32(s.Reduction),
	}
	m.Metadata = nil
	for _, d := range n.Dims {
		m.Named.Dims = append(m.Named.Dims, &dimSharding{encodeAxes(d.Axes), !d.Open})
	}
	// XLA has no bodies of one word: it takes them from the axes, of which none are listed here.
	all := func() (refs []*axisRefMsg) {
		for i := range n.Mesh.Axes {
			refs = append(refs, &axisRefMsg{Axis: int64(i)})
		}
		return refs
	}
	switch {
	case n.Body == hlo.ShardingManual && len(n.Manual) == 0:
		m.Named.Manual = all()
	case n.Body == hlo.ShardingUnreduced && len(n.Unreduced) == 0:
		m.Named.Unreduced = all()
	}
}

func encodeMesh(m *hlo.Mesh) *meshMsg {
	if m.Maximal {
		return &meshMsg{DeviceIDs: []int64{m.MaximalDevice}}
	}
	out := &meshMsg{DeviceIDs: m.DeviceIDs}
	for _, a := range m.Axes {
		out.Axes = append(out.Axes, &meshAxisMsg{a.Name, a.Size})
	}
	if m.Iota != nil {
		out.Iota = new(iotaMsg)
		out.Iota.Reshape, out.Iota.Transpose = encodeIota(m.Iota)
	}
	return out
}

func encodeAxes(refs []hlo.AxisRef) (out []*axisRefMsg) {
	for _, r := range refs {
		m := &axisRefMsg{Axis: int64(r.Axis)}
		if r.IsSub {
			m.Sub = &subAxisMsg{r.PreSize, r.Size}
		}
		out = append(out, m)
	}
	return out
}
