package eval

import (
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

// group is the devices that the evaluated one takes part with, in rank order; nil when it is in no group.
func (e *evaluator) group(groups *hlo.ReplicaGroups, mode groupMode) ([]Device, error) {
	if e.mesh == nil || e.mesh.NumDevices() == 1 {
		// Alone, a device is the whole program: whatever group it names has to be a group of one.
		if n := groupSize(groups); n > 1 {
			return nil, fmt.Errorf("a group of %d devices, of which one runs", n)
		}
		return []Device{e.here()}, nil
	}
	return e.mesh.group(e.here(), groups, mode)
}

func (m *Mesh) group(here Device, groups *hlo.ReplicaGroups, mode groupMode) ([]Device, error) {
	id, all := int64(here.Replica), m.Replicas
	switch mode {
	case crossPartition:
		id, all = int64(here.Partition), m.Partitions
	case flattenedID:
		id, all = int64(m.Number(here)), m.NumDevices()
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
			for p := range m.Partitions {
				members = append(members, Device{i, p})
			}
		default:
			members = append(members, m.Device(i))
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
