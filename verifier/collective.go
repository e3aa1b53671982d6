package verifier

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Collectives: replica groups (verifier 5.12) and source-target pairs.

// groupMode is what the ids in replica groups stand for.
type groupMode uint8

const (
	crossReplica groupMode = iota
	crossPartition
	crossReplicaAndPartition
	flattenedID
)

// groupAttrs are the attributes of a collective that say who takes part.
type groupAttrs struct {
	groups  *hlo.ReplicaGroups
	channel hlo.OptInt
	global  bool // use_global_device_ids
	hasFlag bool // the op knows that attribute
}

// groupAttrsOf reads the attributes of the collectives with replica groups.
func groupAttrsOf(in hlo.Instruction) (groupAttrs, bool) {
	switch a := in.Attrs().(type) {
	case *hlo.AllGatherAttrs:
		return groupAttrs{a.ReplicaGroups, a.ChannelID, a.UseGlobalDeviceIDs, true}, true
	case *hlo.AllReduceAttrs:
		return groupAttrs{a.ReplicaGroups, a.ChannelID, a.UseGlobalDeviceIDs, true}, true
	case *hlo.ReduceScatterAttrs:
		return groupAttrs{a.ReplicaGroups, a.ChannelID, a.UseGlobalDeviceIDs, true}, true
	case *hlo.AllToAllAttrs:
		return groupAttrs{groups: a.ReplicaGroups, channel: a.ChannelID}, true
	case *hlo.RaggedAllToAllAttrs:
		return groupAttrs{groups: a.ReplicaGroups, channel: a.ChannelID}, true
	}
	return groupAttrs{}, false
}

func (a *groupAttrs) mode() groupMode {
	switch {
	case !a.channel.Set:
		return crossReplica
	case !a.hasFlag:
		return crossPartition
	case a.global:
		return flattenedID
	}
	return crossReplicaAndPartition
}

// devices is the configured number of replicas and partitions, both at least 1.
func (r *run) devices() (replicas, partitions int64) {
	c := r.m.Config()
	return max(c.ReplicaCount, 1), max(c.NumPartitions, 1)
}

// groupSizes is the number of groups, the size of the first, whether all have that size, and the number of ids in all. Groups that are not
// listed are not spelled out.
func groupSizes(g *hlo.ReplicaGroups) (count, first, total int64, uniform bool) {
	switch {
	case g == nil:
		return 0, 0, 0, true
	case g.Iota != nil:
		return g.Groups, g.GroupSize, g.Groups * g.GroupSize, true
	case g.Mesh != nil:
		total, first = int64(1), int64(1)
		for _, a := range g.Mesh.Axes {
			total *= max(a.Size, 1)
		}
		for _, a := range g.Axes {
			switch {
			case a.IsSub:
				first *= max(a.Size, 1)
			case a.Axis >= 0 && a.Axis < len(g.Mesh.Axes):
				first *= max(g.Mesh.Axes[a.Axis].Size, 1)
			}
		}
		return total / first, first, total, true
	}
	uniform = true
	for i, list := range g.Lists {
		if i == 0 {
			first = int64(len(list))
		}
		uniform = uniform && int64(len(list)) == first
		total += int64(len(list))
	}
	return int64(len(g.Lists)), first, total, uniform
}

// groupSize is the number of devices that a collective of in's group works on together; 0 when in has no groups.
func (r *run) groupSize(in hlo.Instruction) int64 {
	a, ok := groupAttrsOf(in)
	if !ok {
		return 0
	}
	replicas, partitions := r.devices()
	count, first, _, _ := groupSizes(a.groups)
	switch mode := a.mode(); mode {
	case crossReplica, crossReplicaAndPartition:
		n := first
		if count == 0 {
			n = replicas
		}
		if mode == crossReplicaAndPartition {
			n *= partitions
		}
		return n
	case crossPartition:
		if count == 0 {
			return partitions
		}
	}
	return first
}

// groups checks the replica groups of a collective; false when they are wrong.
func (r *run) groups(in hlo.Instruction) bool {
	a, ok := groupAttrsOf(in)
	if !ok {
		return true
	}
	if a.global && !a.channel.Set {
		r.report(in, "COLL-01", "Cannot have use_global_device_ids=true without channel_id being specified")
		return false
	}
	if r.cfg.SkipReplicaGroups {
		return true
	} else if !r.listedIDs(in, a.groups) || !r.groupTotals(in, &a) {
		return false
	} else if _, _, _, uniform := groupSizes(a.groups); !uniform {
		if _, free := in.Attrs().(*hlo.AllReduceAttrs); !free {
			r.report(in, "REPL-08", "Replica groups expected to be of uniform size in %%%s", in.Name())
			return false
		}
	}
	return true
}

// listedIDs checks that listed groups name every id below their number once.
func (r *run) listedIDs(in hlo.Instruction, g *hlo.ReplicaGroups) bool {
	if g == nil || r.goodGroups[g] {
		return true
	}
	n := int64(0)
	for _, list := range g.Lists {
		if len(list) == 0 {
			r.report(in, "REPL-01", "Instruction cannot have an empty replica group: %%%s", in.Name())
			return false
		}
		n += int64(len(list))
	}
	seen := make([]bool, n)
	for _, list := range g.Lists {
		for _, id := range list {
			if id < 0 || id >= n {
				r.report(in, "REPL-02", "Replica %d in instruction's replica-groups is out of range (should be in [0, %d) range)", id, n)
				return false
			}
			if seen[id] {
				r.report(in, "REPL-03", "Replica %d is repeated in instruction's replica-groups", id)
				return false
			}
			seen[id] = true
		}
	}
	if r.goodGroups == nil {
		r.goodGroups = make(map[*hlo.ReplicaGroups]bool)
	}
	r.goodGroups[g] = true
	return true
}

func (r *run) groupTotals(in hlo.Instruction, a *groupAttrs) bool {
	replicas, partitions := r.devices()
	count, _, n, _ := groupSizes(a.groups)
	if count == 0 {
		if a.mode() == flattenedID {
			r.report(in, "REPL-07", "Replica groups must be specified in flattened-id mode")
			return false
		}
		return true
	}
	switch a.mode() {
	case crossPartition:
		if partitions != 1 && n != partitions {
			r.report(in, "REPL-05", "In kCrossPartition mode, replica groups should contain %d partitions, but found %d", partitions, n)
			return false
		}
	case flattenedID:
		if all := replicas * partitions; all != 1 && n != all {
			r.report(in, "REPL-06", "In kFlattenedID mode, replica groups should contain %d flattened IDs, but found %d", all, n)
			return false
		}
	default:
		if replicas != 1 && n != replicas {
			r.report(in, "REPL-04", "In kCrossReplica or kCrossReplicaAndPartition mode, replica groups should contain %d replicas, but found %d", replicas, n)
			return false
		}
	}
	return true
}

// allReduce checks channel ids, and that all all-reduces of the module constrain their layouts or none does.
func (r *run) allReduce(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.AllReduceAttrs](in)
	if !hlo.Info(in.Opcode()).Pair.Begins(in.Opcode()) && a.ChannelID.Set && a.ChannelID.Value <= 0 {
		r.report(in, "COLL-10", "All reduce channel id must be greater than 0 for %%%s", in.Name())
	}
	k := 0
	if a.ConstrainLayout {
		k = 1
	}
	if r.layoutConstrained[k].IsZero() {
		r.layoutConstrained[k] = in
		if other := r.layoutConstrained[1-k]; !other.IsZero() {
			r.report(in, "MISC-01", "HloModule has a mix of layout constrained and unconstrained AllReduce instructions: %%%s and %%%s", other.Name(), in.Name())
		}
	}
}

// permutePairs checks sources and targets of collective-permute.
func (r *run) permutePairs(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.CollectivePermuteAttrs](in)
	replicas, partitions := r.devices()
	limit := replicas
	if a.ChannelID.Set {
		limit = partitions
	}
	if limit == 1 { // unknown: whatever the pairs name
		for _, p := range a.SourceTargetPairs {
			limit = max(limit, 1+slices.Max(append([]int64{-1}, p...)))
		}
	}
	times := 1 // that a device may be source, or target
	if a.SliceSizes != nil {
		times = max(len(a.SliceSizes), 1)
	}
	sources, targets := make(map[int64]int), make(map[int64]int)
	for _, p := range a.SourceTargetPairs {
		if len(p) != 2 {
			r.report(in, "CPERM-01", "a source-target pair has %d entries", len(p))
			return
		}
		for i, side := range []struct {
			name, rule, twice string
			seen              map[int64]int
		}{{"Source", "CPERM-01", "CPERM-03", sources}, {"Target", "CPERM-02", "CPERM-04", targets}} {
			switch id := p[i]; {
			case id < 0:
				r.report(in, side.rule, "%s %d in the instruction's source-target pair must be >= 0", side.name, id)
				return
			case id >= limit:
				r.report(in, side.rule, "%s %d in the instruction's source-target pair must be < %d", side.name, id, limit)
				return
			case side.seen[id] == times:
				r.report(in, side.twice, "%s %d appears more than once in instruction's source-target pairs", side.name, id)
				return
			default:
				side.seen[id]++
			}
		}
	}
}
