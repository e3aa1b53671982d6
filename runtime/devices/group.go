package devices

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// groupMode says what the ids in replica groups are.
type groupMode uint8

const (
	crossReplica groupMode = iota
	crossPartition
	crossReplicaAndPartition
	flattenedID
)

// modeOf is the mode of the reductions and gathers, which have a flag for global ids.
func modeOf(channel hlo.OptInt, global bool) groupMode {
	switch {
	case !channel.Set:
		return crossReplica
	case global:
		return flattenedID
	}
	return crossReplicaAndPartition
}

// channelMode is the mode of the other collectives.
func channelMode(channel hlo.OptInt) groupMode {
	if channel.Set {
		return crossPartition
	}
	return crossReplica
}

// Members is the devices that take part in a collective with one, in rank order; none when it is in no group. A collective-permute connects
// the devices that are linked by its pairs.
func (g Grid) Members(in hlo.Instruction, here Device) ([]Device, error) {
	switch a := in.Attrs().(type) {
	case *hlo.AllGatherAttrs:
		return g.group(here, a.ReplicaGroups, modeOf(a.ChannelID, a.UseGlobalDeviceIDs))
	case *hlo.AllReduceAttrs:
		return g.group(here, a.ReplicaGroups, modeOf(a.ChannelID, a.UseGlobalDeviceIDs))
	case *hlo.ReduceScatterAttrs:
		return g.group(here, a.ReplicaGroups, modeOf(a.ChannelID, a.UseGlobalDeviceIDs))
	case *hlo.AllToAllAttrs:
		return g.group(here, a.ReplicaGroups, channelMode(a.ChannelID))
	case *hlo.RaggedAllToAllAttrs:
		return g.group(here, a.ReplicaGroups, channelMode(a.ChannelID))
	case *hlo.CollectiveBroadcastAttrs:
		return g.group(here, a.ReplicaGroups, channelMode(a.ChannelID))
	case *hlo.CollectivePermuteAttrs:
		return g.linked(here, a)
	}
	return nil, fmt.Errorf("%v is not an op of several devices", in.Opcode())
}

// linked is the devices that pairs connect with one.
func (g Grid) linked(here Device, a *hlo.CollectivePermuteAttrs) ([]Device, error) {
	all, err := g.group(here, nil, channelMode(a.ChannelID))
	if err != nil || len(all) == 1 {
		return all, err
	}
	root := make([]int, len(all))
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	for _, pair := range a.SourceTargetPairs {
		if len(pair) != 2 || min(pair[0], pair[1]) < 0 || max(pair[0], pair[1]) >= int64(len(all)) {
			return nil, fmt.Errorf("pair %v of %d devices", pair, len(all))
		}
		root[find(int(pair[0]))] = find(int(pair[1]))
	}
	me := find(slices.Index(all, here))
	var group []Device
	for i := range root {
		if find(i) == me {
			group = append(group, all[i])
		}
	}
	return group, nil
}

// Source is the device from which a collective-permute brings something to one, for a pair with the source id.
func Source(a *hlo.CollectivePermuteAttrs, to Device, id int64) Device {
	if channelMode(a.ChannelID) == crossPartition {
		return Device{to.Replica, int(id)}
	}
	return Device{int(id), to.Partition}
}

// ID is how the pairs of a collective-permute call a device.
func ID(a *hlo.CollectivePermuteAttrs, d Device) int64 {
	if channelMode(a.ChannelID) == crossPartition {
		return int64(d.Partition)
	}
	return int64(d.Replica)
}

// ErrAlone is what the error of a collective wraps whose group is larger than the grid of one device that runs.
var ErrAlone = errors.New("of which one runs")

func (g Grid) group(here Device, groups *hlo.ReplicaGroups, mode groupMode) ([]Device, error) {
	if g.NumDevices() == 1 {
		// Alone, a device is the whole program: whatever group it names has to be a group of one.
		if n := groupSize(groups); n > 1 {
			return nil, fmt.Errorf("a group of %d devices, %w", n, ErrAlone)
		}
		return []Device{here}, nil
	}
	id, all := int64(here.Replica), g.Replicas
	switch mode {
	case crossPartition:
		id, all = int64(here.Partition), g.Partitions
	case flattenedID:
		id, all = int64(g.Number(here)), g.NumDevices()
	}
	ids, err := groupOf(id, all, groups)
	if err != nil {
		return nil, err
	}
	var members []Device
	for _, id := range ids {
		if id < 0 || id >= int64(all) {
			return nil, fmt.Errorf("device id %d of %d", id, all)
		}
		i := int(id)
		switch mode {
		case crossReplica:
			members = append(members, Device{i, here.Partition})
		case crossPartition:
			members = append(members, Device{here.Replica, i})
		case crossReplicaAndPartition:
			for p := range g.Partitions {
				members = append(members, Device{i, p})
			}
		default:
			members = append(members, g.Device(i))
		}
	}
	return members, nil
}

// groupOf is the ids in the same group as id, of all in one when there are no groups.
func groupOf(id int64, all int, groups *hlo.ReplicaGroups) ([]int64, error) {
	lists := groups.Listed()
	if lists != nil && len(lists.Lists) > 0 {
		for _, l := range lists.Lists {
			if slices.Contains(l, id) {
				return l, nil
			}
		}
		return nil, nil
	}
	if lists != nil && (lists.Iota != nil || lists.Mesh != nil) {
		return nil, fmt.Errorf("replica groups %v cannot be listed", groups)
	}
	ids := make([]int64, all)
	for i := range ids {
		ids[i] = int64(i)
	}
	return ids, nil
}

// groupSize is the size of the first group, 0 for all devices.
func groupSize(g *hlo.ReplicaGroups) int {
	lists := g.Listed()
	switch {
	case lists == nil:
		return 0
	case len(lists.Lists) > 0:
		return len(lists.Lists[0])
	}
	return int(lists.GroupSize)
}
