package hlo

// Sharding says how a value is distributed over devices. It is immutable.
//
// Source: xla/hlo/ir/hlo_sharding.h; text form in hlo-text section 6.2.
type Sharding struct {
	Kind ShardingKind
	// Tuple shardings have one element per leaf of the shape.
	Elements []*Sharding
	// Tiled shardings: the grid, then its devices in row-major order, listed (version 1) or compressed (version 2).
	TileDims []int64
	Devices  []int64
	Iota     *IotaTile
	// ReplicateOnLastTileDim says that the last grid dimension replicates; Subgroups gives the kinds of the last grid dimensions.
	ReplicateOnLastTileDim bool
	Subgroups              []ShardingKind
	// Group joins the value to others that must be sharded as, or like, it.
	Group   ShardGroup
	GroupID int64
	// Reduction of unreduced shardings.
	Reduction ReductionKind
	// Metadata of this leaf; HasMetadata distinguishes an empty list from none.
	Metadata    []*Metadata
	HasMetadata bool
	// Named shardings (version 3).
	Named *NamedSharding
}

// ShardingKind is the form of a sharding.
type ShardingKind uint8

// The kinds of sharding.
const (
	ShardingReplicated ShardingKind = iota
	ShardingMaximal                 // Devices[0] has it all
	ShardingManual
	ShardingUnknown
	ShardingUnreduced
	ShardingTiled
	ShardingTuple
	ShardingNamed
)

// ShardGroup is membership in a shard group.
type ShardGroup uint8

// The memberships.
const (
	NoShardGroup ShardGroup = iota
	ShardAs
	ShardLike
)

// ReductionKind is how unreduced parts combine.
type ReductionKind uint8

// The reductions.
const (
	ReductionSum ReductionKind = iota
	ReductionMax
	ReductionMin
)

// NamedSharding shards dimensions along the axes of a mesh.
type NamedSharding struct {
	Mesh *Mesh
	// Body is the form of the body: a list of dimensions (ShardingTiled), or one word for all (ShardingReplicated, ShardingUnreduced,
	// ShardingManual).
	Body       ShardingKind
	Dims       []DimSharding
	Replicated []AxisRef
	Unreduced  []AxisRef
	Manual     []AxisRef
}

// DimSharding is the list of axes that shard one dimension, major first; an open dimension may be sharded further.
type DimSharding struct {
	Axes []AxisRef
	Open bool
}
