package proto

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// OpSharding.Type numbers the kinds otherwise than halo does.
const (
	protoReplicated = iota
	protoMaximal
	protoTuple
	protoOther
	protoManual
	protoUnknown
	protoUnreduced
)

var shardingKinds = map[int32]hlo.ShardingKind{
	protoReplicated: hlo.ShardingReplicated, protoMaximal: hlo.ShardingMaximal, protoTuple: hlo.ShardingTuple, protoOther: hlo.ShardingTiled,
	protoManual: hlo.ShardingManual, protoUnknown: hlo.ShardingUnknown, protoUnreduced: hlo.ShardingUnreduced,
}

var protoKinds = func() map[hlo.ShardingKind]int32 {
	m := map[hlo.ShardingKind]int32{hlo.ShardingNamed: protoOther}
	for p, k := range shardingKinds {
		m[k] = p
	}
	return m
}()

// reductionType marks the metadata entry that stands for a reduction other than a sum.
const reductionType = "sdy::reduction_op"

var reductions = [...]string{hlo.ReductionSum: "SUM", hlo.ReductionMax: "MAX", hlo.ReductionMin: "MIN"}

// sharding reads a shardingMsg; nil for none. Equal ones are one in memory.
func (d *decoder) sharding(raw rawMsg) (*hlo.Sharding, error) { return d.nestedSharding(raw, 0) }

func (d *decoder) nestedSharding(raw rawMsg, depth int) (*hlo.Sharding, error) {
	if raw == nil {
		return nil, nil
	}
	if s, ok := d.shardings[sharedString(raw)]; ok && (depth == 0 || s.Kind != hlo.ShardingTuple) {
		return s, nil
	}
	if depth > maxTupleDepth {
		return nil, errorf("tuples nest deeper than %d", maxTupleDepth)
	}
	var m shardingMsg
	if err := unmarshal(raw, &m); err != nil {
		return nil, err
	}
	s, err := d.decodeSharding(&m, depth)
	if err == nil {
		d.shardings[sharedString(raw)] = s
	}
	return s, err
}

func (d *decoder) decodeSharding(m *shardingMsg, depth int) (*hlo.Sharding, error) {
	kind, ok := shardingKinds[m.Type]
	if !ok {
		return nil, errorf("sharding type %d", m.Type)
	}
	s := &hlo.Sharding{Kind: kind}
	if m.IsShardGroup {
		s.Group, s.GroupID = hlo.ShardAs, m.ShardGroupID
		if m.ShardGroupType == 1 {
			s.Group = hlo.ShardLike
		}
	}
	metadata := m.Metadata
	if m.Named != nil && len(metadata) == 0 {
		metadata = m.Named.Metadata
	}
	for _, e := range metadata {
		if e.OpType == reductionType {
			s.Reduction = hlo.ReductionKind(max(0, slices.Index(reductions[:], e.OpName)))
			continue
		}
		md, err := d.decodeMetadata(e)
		if err != nil {
			return nil, err
		}
		if md == nil {
			md = new(hlo.Metadata)
		}
		s.Metadata = append(s.Metadata, md)
	}
	s.HasMetadata = len(s.Metadata) > 0 || m.Extra != nil && m.Extra.EmptyMetadata
	switch {
	case m.Named != nil:
		s.Kind = hlo.ShardingNamed
		return s, d.named(s, m)
	case kind == hlo.ShardingTuple:
		for i, e := range m.Tuple {
			leaf, err := d.nestedSharding(e, depth+1)
			if err != nil {
				return nil, within(err, at("tuple_shardings", i))
			}
			s.Elements = append(s.Elements, leaf)
		}
	case kind == hlo.ShardingMaximal:
		if len(m.Devices) != 1 {
			return nil, errorf("maximal sharding on %d devices", len(m.Devices))
		}
		s.Devices = m.Devices
	case kind == hlo.ShardingTiled:
		return s, decodeTiles(s, m)
	}
	return s, nil
}

func decodeTiles(s *hlo.Sharding, m *shardingMsg) error {
	s.TileDims, s.ReplicateOnLastTileDim = m.TileDims, m.ReplicateLast
	n, ok := product(m.TileDims)
	if !ok {
		return errorf("tile dimensions %v", m.TileDims)
	}
	if len(m.IotaReshape) > 0 {
		t, err := decodeIota(m.IotaReshape, m.IotaTranspose)
		if err != nil {
			return err
		}
		if size, _ := product(t.Reshape); size != n {
			return errorf("%d devices for %d tiles", size, n)
		}
		s.Iota = t
	} else if s.Devices = m.Devices; int64(len(m.Devices)) != n {
		return errorf("%d devices for %d tiles", len(m.Devices), n)
	}
	for _, t := range m.LastTileDims {
		k, ok := shardingKinds[int32(t)]
		if !ok || k == hlo.ShardingTuple || k == hlo.ShardingTiled {
			return errorf("last tile dimension of type %d", t)
		}
		s.Subgroups = append(s.Subgroups, k)
	}
	return nil
}

func product(dims []int64) (int64, bool) {
	n := int64(1)
	for _, d := range dims {
		if d < 1 || n > 1<<40/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

func decodeIota(reshape, transpose []int64) (*hlo.IotaTile, error) {
	if _, ok := product(reshape); !ok {
		return nil, errorf("iota dimensions %v", reshape)
	}
	t := &hlo.IotaTile{Reshape: reshape}
	seen := make([]bool, len(reshape))
	for _, axis := range transpose {
		if axis < 0 || axis >= int64(len(seen)) || seen[axis] {
			return nil, errorf("iota transpose %v of %d dimensions", transpose, len(reshape))
		}
		seen[axis] = true
		t.Transpose = append(t.Transpose, int(axis))
	}
	if len(transpose) != len(reshape) && (len(reshape) > 1 || len(transpose) > 0) {
		return nil, errorf("iota transpose %v of %d dimensions", transpose, len(reshape))
	}
	if len(reshape) == 1 {
		t.Transpose = nil
	}
	return t, nil
}

// named reads a sharding over a mesh. A body without dimensions is told by the axes it lists, where the message does not say.
func (d *decoder) named(s *hlo.Sharding, m *shardingMsg) error {
	mesh, err := decodeMesh(m.Named.Mesh)
	if err != nil {
		return within(err, "mesh")
	}
	n := &hlo.NamedSharding{Mesh: mesh, Body: hlo.ShardingTiled}
	s.Named = n
	for _, dim := range m.Named.Dims {
		axes, err := decodeAxes(mesh, dim.Axes)
		if err != nil {
			return err
		}
		n.Dims = append(n.Dims, hlo.DimSharding{Axes: axes, Open: !dim.IsClosed})
	}
	for _, list := range []struct {
		to   *[]hlo.AxisRef
		from []*axisRefMsg
	}{{&n.Replicated, m.Named.Replicated}, {&n.Unreduced, m.Named.Unreduced}, {&n.Manual, m.Named.Manual}} {
		if *list.to, err = decodeAxes(mesh, list.from); err != nil {
			return err
		}
	}
	if r := m.Named.Reduction; r != 0 {
		if r < 0 || int(r) >= len(reductions) {
			return errorf("reduction %d", r)
		}
		s.Reduction = hlo.ReductionKind(r)
	}
	if x := m.Extra; x != nil && x.Body > 0 {
		n.Body = hlo.ShardingKind(x.Body - 1)
		if n.Body > hlo.ShardingNamed {
			return errorf("named sharding of kind %d", x.Body-1)
		}
		if n.Body == hlo.ShardingManual && allAxes(mesh, n.Manual) {
			n.Manual = nil
		}
		if n.Body == hlo.ShardingUnreduced && allAxes(mesh, n.Unreduced) {
			n.Unreduced = nil
		}
		return nil
	}
	if len(n.Dims) == 0 {
		switch {
		case len(n.Unreduced) == 0 && len(n.Manual) == 0 && len(n.Replicated) == 0:
			n.Body = hlo.ShardingReplicated
		case allAxes(mesh, n.Unreduced):
			n.Body, n.Unreduced = hlo.ShardingUnreduced, nil
		case allAxes(mesh, n.Manual):
			n.Body, n.Manual = hlo.ShardingManual, nil
		}
	}
	return nil
}

// allAxes reports whether refs are the axes of the mesh in order.
func allAxes(m *hlo.Mesh, refs []hlo.AxisRef) bool {
	for i, r := range refs {
		if r.IsSub || r.Axis != i {
			return false
		}
	}
	return len(refs) == len(m.Axes)
}

func decodeMesh(m *meshMsg) (*hlo.Mesh, error) {
	if m == nil {
		return nil, errorf("missing")
	}
	if len(m.Axes) == 0 && len(m.DeviceIDs) == 1 {
		return &hlo.Mesh{Maximal: true, MaximalDevice: m.DeviceIDs[0]}, nil
	}
	mesh := &hlo.Mesh{DeviceIDs: m.DeviceIDs}
	sizes := make([]int64, len(m.Axes))
	for i, a := range m.Axes {
		mesh.Axes = append(mesh.Axes, hlo.MeshAxis{Name: a.Name, Size: a.Size})
		sizes[i] = a.Size
	}
	n, ok := product(sizes)
	if !ok {
		return nil, errorf("axis sizes %v", sizes)
	}
	if len(m.DeviceIDs) > 0 && int64(len(m.DeviceIDs)) != n {
		return nil, errorf("%d device ids for %d devices", len(m.DeviceIDs), n)
	}
	if m.Iota != nil {
		t, err := decodeIota(m.Iota.Reshape, m.Iota.Transpose)
		if err != nil {
			return nil, err
		}
		mesh.Iota = t
	}
	return mesh, nil
}

func decodeAxes(mesh *hlo.Mesh, refs []*axisRefMsg) ([]hlo.AxisRef, error) {
	var out []hlo.AxisRef
	for _, r := range refs {
		if r.Axis < 0 || r.Axis >= int64(len(mesh.Axes)) {
			return nil, errorf("axis %d of a mesh with %d", r.Axis, len(mesh.Axes))
		}
		ref := hlo.AxisRef{Axis: int(r.Axis)}
		if r.Sub != nil {
			ref.PreSize, ref.Size, ref.IsSub = r.Sub.PreSize, r.Sub.Size, true
			if ref.PreSize < 1 || ref.Size < 1 {
				return nil, errorf("sub-axis (%d)%d", ref.PreSize, ref.Size)
			}
		}
		out = append(out, ref)
	}
	return out, nil
}

// DecodeSharding reads a serialized OpSharding that stands by itself, as older StableHLO programs have it.
func DecodeSharding(data []byte) (*hlo.Sharding, error) {
	d := &decoder{memo: newMemo()}
	return d.sharding(data)
}
