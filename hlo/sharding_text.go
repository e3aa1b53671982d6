package hlo

import "strconv"

// reductionNames are the words that encode a reduction in the metadata of a tile sharding; see [Sharding.AppendText].
var reductionNames = [...]string{ReductionSum: "SUM", ReductionMax: "MAX", ReductionMin: "MIN"}

var reductionWords = [...]string{ReductionSum: "sum", ReductionMax: "max", ReductionMin: "min"}

var shardingWords = [...]string{
	ShardingReplicated: "replicated", ShardingMaximal: "maximal", ShardingManual: "manual", ShardingUnknown: "unknown",
	ShardingUnreduced: "unreduced",
}

// String is the word for kinds that have one: "replicated", "manual".
func (k ShardingKind) String() string { return enumName(shardingWords[:], uint8(k)) }

// AppendText appends the sharding (hlo-text section 6.2), the metadata of its leaves only when metadata is set.
//
// A tile sharding that is or contains unreduced parts, or has a reduction other than a sum, carries it as a metadata entry of op type
// sdy::reduction_op: readers of other programs expect it there. [Sharding.Reduction] is where this IR keeps it.
func (s *Sharding) AppendText(b []byte, metadata bool) []byte {
	switch s.Kind {
	case ShardingTuple:
		b = append(b, '{')
		for i, e := range s.Elements {
			if i > 0 {
				b = append(b, ", "...)
				if i%5 == 0 {
					b = append(strconv.AppendInt(append(b, "/*index="...), int64(i), 10), "*/"...)
				}
			}
			b = e.AppendText(b, metadata)
		}
		return append(b, '}')
	case ShardingNamed:
		return s.appendNamed(b, metadata)
	}
	b = append(b, '{')
	switch s.Kind {
	case ShardingTiled:
		b = s.appendTiles(b)
	case ShardingMaximal:
		b = append(b, "maximal device="...)
		if len(s.Devices) > 0 {
			b = strconv.AppendInt(b, s.Devices[0], 10)
		}
	default:
		b = append(b, s.Kind.String()...)
	}
	switch s.Group {
	case ShardAs:
		b = strconv.AppendInt(append(b, " shard_as "...), s.GroupID, 10)
	case ShardLike:
		b = strconv.AppendInt(append(b, " shard_like "...), s.GroupID, 10)
	}
	if metadata {
		b = s.appendTileMetadata(b)
	}
	return append(b, '}')
}

func (s *Sharding) appendTiles(b []byte) []byte {
	b = append(appendInts(append(b, "devices=["...), s.TileDims), ']')
	if s.Iota != nil {
		b = s.Iota.appendText(append(b, "<="...))
	} else {
		b = appendInts(b, s.Devices)
	}
	if s.ReplicateOnLastTileDim {
		b = append(b, " last_tile_dim_replicate"...)
	}
	if len(s.Subgroups) > 0 {
		b = append(b, " last_tile_dims={"...)
		for i, k := range s.Subgroups {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(b, k.String()...)
		}
		b = append(b, '}')
	}
	return b
}

// hasReductionEntry reports whether the metadata in text has an entry for the reduction.
func (s *Sharding) hasReductionEntry() bool {
	if s.Kind == ShardingUnreduced || s.Reduction != ReductionSum {
		return true
	}
	for _, k := range s.Subgroups {
		if k == ShardingUnreduced {
			return true
		}
	}
	return false
}

func (s *Sharding) appendTileMetadata(b []byte) []byte {
	entries := s.Metadata
	if s.hasReductionEntry() {
		entries = append(entries[:len(entries):len(entries)], s.reductionEntry())
	} else if len(entries) == 0 {
		if s.HasMetadata {
			b = append(b, " metadata={}"...)
		}
		return b
	}
	b = append(b, " metadata="...)
	if len(entries) == 1 {
		return entries[0].AppendText(b)
	}
	return appendMetadataList(b, entries)
}

func (s *Sharding) reductionEntry() *Metadata {
	op := ReductionSum
	if int(s.Reduction) < len(reductionNames) {
		op = s.Reduction
	}
	return &Metadata{OpType: "sdy::reduction_op", OpName: reductionNames[op]}
}

func appendMetadataList(b []byte, entries []*Metadata) []byte {
	b = append(b, '{')
	for i, m := range entries {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = m.AppendText(b)
	}
	return append(b, '}')
}

// appendNamed appends a leaf over a mesh. The mesh is always written; XLA leaves it out of shardings without dimensions, and then reads
// another sharding back.
func (s *Sharding) appendNamed(b []byte, metadata bool) []byte {
	n := s.Named
	b = n.Mesh.AppendText(append(b, '{'))
	switch {
	case n.Mesh.Maximal:
	case n.Body == ShardingManual || n.Body == ShardingReplicated:
		b = append(append(b, ", "...), n.Body.String()...)
	case n.Body == ShardingUnreduced && len(n.Unreduced) == 0:
		b = append(b, ", unreduced"...)
		if s.Reduction != ReductionSum {
			b = append(append(b, '='), reductionWords[s.Reduction]...)
		}
	default:
		b = append(b, ", ["...)
		for i, d := range n.Dims {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = n.Mesh.appendRefs(append(b, '{'), d.Axes, ", ")
			if d.Open {
				if len(d.Axes) > 0 {
					b = append(b, ", "...)
				}
				b = append(b, '?')
			}
			b = append(b, '}')
		}
		b = append(b, ']')
		b = n.appendAxes(b, ", replicated=", n.Replicated)
		unreduced := ", unreduced="
		if s.Reduction != ReductionSum {
			unreduced += reductionWords[s.Reduction]
		}
		b = n.appendAxes(b, unreduced, n.Unreduced)
		b = n.appendAxes(b, ", manual=", n.Manual)
	}
	if metadata && (len(s.Metadata) > 0 || s.HasMetadata) {
		b = appendMetadataList(append(b, ", metadata="...), s.Metadata)
	}
	return append(b, '}')
}

func (n *NamedSharding) appendAxes(b []byte, head string, axes []AxisRef) []byte {
	if len(axes) == 0 {
		return b
	}
	return append(n.Mesh.appendRefs(append(append(b, head...), '{'), axes, ", "), '}')
}

// String is the sharding as text, metadata included.
func (s *Sharding) String() string { return string(s.AppendText(nil, true)) }

// AppendText appends `{kind="sharding", entry=..., exit=...}`.
func (d *Domain) AppendText(b []byte, metadata bool) []byte {
	b = append(b, `{kind="sharding", entry=`...)
	b = append(d.Entry.AppendText(b, metadata), ", exit="...)
	return append(d.Exit.AppendText(b, metadata), '}')
}

// AppendText appends `mesh['x'=2,'y'=4]` with its device ids, or `maximal_mesh[device_id=1]`.
func (m *Mesh) AppendText(b []byte) []byte {
	if m.Maximal {
		return append(strconv.AppendInt(append(b, "maximal_mesh[device_id="...), m.MaximalDevice, 10), ']')
	}
	b = append(b, "mesh["...)
	for i, a := range m.Axes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendAxisName(b, a.Name), '=')
		b = strconv.AppendInt(b, a.Size, 10)
	}
	b = append(b, ']')
	switch {
	case m.Iota != nil:
		b = append(m.Iota.appendText(append(b, ", device_ids=("...)), ')')
	case m.DeviceIDs != nil:
		b = append(appendInts(append(b, ", device_ids=("...), m.DeviceIDs), ')')
	}
	return b
}

func (m *Mesh) appendRefs(b []byte, refs []AxisRef, separator string) []byte {
	for i, r := range refs {
		if i > 0 {
			b = append(b, separator...)
		}
		name := strconv.Itoa(r.Axis)
		if r.Axis >= 0 && r.Axis < len(m.Axes) {
			name = m.Axes[r.Axis].Name
		}
		b = appendAxisName(b, name)
		if r.IsSub {
			b = strconv.AppendInt(append(b, ":("...), r.PreSize, 10)
			b = strconv.AppendInt(append(b, ')'), r.Size, 10)
		}
	}
	return b
}

func appendAxisName(b []byte, name string) []byte {
	return append(appendEscaped(append(b, '\''), name), '\'')
}
