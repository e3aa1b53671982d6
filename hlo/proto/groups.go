package proto

import "github.com/gohalo/halo/hlo"

// Replica groups are in one of three messages, or, in older programs, a list of the instruction. Programs have few, and many collectives on
// each.

type groupsKey struct{ field, raw string }

// groups reads the replica groups of an instruction.
func (a *attrDecoder) groups() (*hlo.ReplicaGroups, error) {
	in := a.in
	switch {
	case in.IotaDeviceList != nil:
		return a.d.groupsIn("iota_collective_device_list", in.IotaDeviceList, iotaGroups)
	case in.MeshDeviceList != nil:
		return a.d.groupsIn("mesh_axes_replica_group_list", in.MeshDeviceList, meshGroups)
	case in.DeviceList != nil:
		return a.d.groupsIn("collective_device_list", in.DeviceList, listedGroups)
	}
	return groupsOf(in.ReplicaGroups), nil
}

// groupsIn reads the groups in a field, unless they have been read before.
func (d *decoder) groupsIn(field string, raw rawMsg, read func(rawMsg) (*hlo.ReplicaGroups, error)) (*hlo.ReplicaGroups, error) {
	key := groupsKey{field, sharedString(raw)}
	if g, ok := d.groups[key]; ok {
		return g, nil
	}
	g, err := read(raw)
	if err != nil {
		return nil, within(err, field)
	}
	d.groups[key] = g
	return g, nil
}

func iotaGroups(raw rawMsg) (*hlo.ReplicaGroups, error) {
	var m iotaGroupsMsg
	if err := unmarshal(raw, &m); err != nil {
		return nil, err
	}
	t, err := decodeIota(m.Reshape, m.Transpose)
	if err != nil {
		return nil, err
	}
	if n, _ := product(t.Reshape); m.Groups < 1 || m.GroupSize < 1 || n%m.Groups != 0 || n/m.Groups != m.GroupSize {
		return nil, errorf("%d groups of %d out of %d devices", m.Groups, m.GroupSize, n)
	}
	return &hlo.ReplicaGroups{Iota: t, Groups: m.Groups, GroupSize: m.GroupSize}, nil
}

func meshGroups(raw rawMsg) (*hlo.ReplicaGroups, error) {
	var m meshGroupsMsg
	if err := unmarshal(raw, &m); err != nil {
		return nil, err
	}
	mesh, err := decodeMesh(m.Mesh)
	if err != nil {
		return nil, err
	}
	axes, err := decodeAxes(mesh, m.Axes)
	if err != nil {
		return nil, err
	}
	return &hlo.ReplicaGroups{Mesh: mesh, Axes: axes}, nil
}

func listedGroups(raw rawMsg) (*hlo.ReplicaGroups, error) {
	var m deviceListMsg
	if err := unmarshal(raw, &m); err != nil {
		return nil, err
	}
	return groupsOf(m.Groups), nil
}

func groupsOf(lists []*replicaGroupMsg) *hlo.ReplicaGroups {
	g := new(hlo.ReplicaGroups)
	if len(lists) > 0 {
		g.Lists = make([][]int64, len(lists))
	}
	for i, l := range lists {
		g.Lists[i] = l.IDs
	}
	return g
}

// encodeGroups writes lists in the field of today; no lists at all mean one group of all.
func encodeGroups(in *ownMsg, g *hlo.ReplicaGroups) {
	switch {
	case g == nil:
		in.DeviceList = rawMsg{}
	case g.Mesh != nil:
		in.MeshDeviceList = marshal(rawMsg{}, &meshGroupsMsg{encodeMesh(g.Mesh), encodeAxes(g.Axes)})
	case g.Iota != nil:
		m := &iotaGroupsMsg{Groups: g.Groups, GroupSize: g.GroupSize}
		m.Reshape, m.Transpose = encodeIota(g.Iota)
		in.IotaDeviceList = marshal(rawMsg{}, m)
	default:
		m := new(deviceListMsg)
		for _, l := range g.Lists {
			m.Groups = append(m.Groups, &replicaGroupMsg{l})
		}
		in.DeviceList = marshal(rawMsg{}, m)
	}
}
