package stablehlo

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

func setCollectiveWriters() {
	writers[hlo.OpAllReduce] = writeAllReduce
	writers[hlo.OpAllGather] = writeAllGather
	writers[hlo.OpReduceScatter] = writeReduceScatter
	writers[hlo.OpAllToAll] = writeAllToAll
	writers[hlo.OpCollectivePermute] = writeCollectivePermute
	writers[hlo.OpCollectiveBroadcast] = writeCollectiveBroadcast
	writers[hlo.OpRng] = writeRng
	writers[hlo.OpRaggedDot] = writeRaggedDot
}

// channelOf adds the channel of a collective, and whether devices are numbered over all replicas and partitions.
func (w *writer) channelOf(list mlir.Attrs, channel hlo.OptInt, global bool) mlir.Attrs {
	if channel.Set {
		list = append(list, attrs("channel_handle", record("channel_handle", "handle", w.i64(channel.Value), "type", w.i64(1)))...)
	}
	if global {
		list = append(list, attrs("use_global_device_ids", mlir.Unit{})...)
	}
	return list
}

// groupsOf are replica groups as a matrix: -1 fills rows that are shorter than others.
func (w *writer) groupsOf(g *hlo.ReplicaGroups) mlir.Attr {
	var lists [][]int64
	if g != nil {
		if listed := g.Listed(); listed != nil {
			lists = listed.Lists
		} else {
			w.missing["replica groups that cannot be listed"] = true
		}
	}
	width := 0
	for _, l := range lists {
		width = max(width, len(l))
	}
	d := mlir.Dense{Type: w.types.Tensor(w.types.Scalar(hlo.S64), []int64{int64(len(lists)), int64(width)}, nil)}
	for _, l := range lists {
		for i := range width {
			v := int64(-1)
			if i < len(l) {
				v = l[i]
			}
			d.Data = append(d.Data, mlir.ElementBytes(hlo.S64, uint64(v))...)
		}
	}
	return d
}

func writeAllReduce(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.AllReduceAttrs](in)
	list := b.channelOf(attrs("replica_groups", b.groupsOf(a.ReplicaGroups)), a.ChannelID, a.UseGlobalDeviceIDs)
	return written{name: "stablehlo.all_reduce", regions: []mlir.Region{b.region(in, 0)}, attrs: list}
}

func writeAllGather(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.AllGatherAttrs](in)
	list := attrs("all_gather_dim", b.i64(a.Dimensions[0]), "replica_groups", b.groupsOf(a.ReplicaGroups))
	return written{name: "stablehlo.all_gather", attrs: b.channelOf(list, a.ChannelID, a.UseGlobalDeviceIDs)}
}

func writeReduceScatter(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.ReduceScatterAttrs](in)
	if in.NumOperands() != 1 {
		b.missing["reduce-scatter of several arrays"] = true
	}
	list := attrs("scatter_dimension", b.i64(a.Dimensions[0]), "replica_groups", b.groupsOf(a.ReplicaGroups))
	return written{name: "stablehlo.reduce_scatter", regions: []mlir.Region{b.region(in, 0)},
		attrs: b.channelOf(list, a.ChannelID, a.UseGlobalDeviceIDs)}
}

// writeAllToAll: without a dimension, the operands are the pieces of one array each of which goes to another device, which StableHLO
// cannot say.
func writeAllToAll(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.AllToAllAttrs](in)
	count := int64(0)
	if g := a.ReplicaGroups; g != nil {
		if listed := g.Listed(); listed != nil && len(listed.Lists) > 0 {
			count = int64(len(listed.Lists[0]))
		}
	}
	if len(a.Dimensions) != 1 || count == 0 {
		b.missing["all-to-all without a dimension or groups"] = true
		return written{name: "stablehlo.all_to_all"}
	}
	list := attrs("split_dimension", b.i64(a.Dimensions[0]), "concat_dimension", b.i64(a.Dimensions[0]), "split_count", b.i64(count),
		"replica_groups", b.groupsOf(a.ReplicaGroups))
	return written{name: "stablehlo.all_to_all", attrs: b.channelOf(list, a.ChannelID, false)}
}

func writeCollectivePermute(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.CollectivePermuteAttrs](in)
	pairs := make([][2]int64, len(a.SourceTargetPairs))
	for i, p := range a.SourceTargetPairs {
		if len(p) == 2 {
			pairs[i] = [2]int64{p[0], p[1]}
		}
	}
	return written{name: "stablehlo.collective_permute", attrs: b.channelOf(attrs("source_target_pairs", b.matrix(pairs)), a.ChannelID, false)}
}

func writeCollectiveBroadcast(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.CollectiveBroadcastAttrs](in)
	return written{name: "stablehlo.collective_broadcast", attrs: b.channelOf(attrs("replica_groups", b.groupsOf(a.ReplicaGroups)), a.ChannelID, false)}
}

// writeRng: the shape is an operand.
func writeRng(b *bodyWriter, in hlo.Instruction) written {
	dims := in.Shape().Dimensions()
	t := b.types.Tensor(b.types.Scalar(hlo.S64), []int64{int64(len(dims))}, nil)
	d := mlir.Dense{Type: t}
	for _, n := range dims {
		d.Data = append(d.Data, mlir.ElementBytes(hlo.S64, uint64(n))...)
	}
	shape := b.add("stablehlo.constant", attrs("value", d), nil, []*mlir.Type{t})
	kind := "UNIFORM"
	if hlo.AttrsOf[hlo.RngAttrs](in).Distribution == hlo.RngNormal {
		kind = "NORMAL"
	}
	return written{name: "stablehlo.rng", operands: append(b.operands(in), shape...), attrs: attrs("rng_distribution", word("rng_distribution", kind))}
}

func writeRaggedDot(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.RaggedDotAttrs](in)
	return written{name: "chlo.ragged_dot", attrs: attrs("ragged_dot_dimension_numbers", mlir.Struct{Name: "ragged_dot", Dialect: "chlo", Fields: attrs(
		"lhs_batching_dimensions", b.ints(a.LHSBatch), "rhs_batching_dimensions", b.ints(a.RHSBatch),
		"lhs_contracting_dimensions", b.ints(a.LHSContracting), "rhs_contracting_dimensions", b.ints(a.RHSContracting),
		"lhs_ragged_dimensions", b.ints(a.LHSRagged), "rhs_group_dimensions", b.ints(a.RHSGroup))})}
}
