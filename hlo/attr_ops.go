package hlo

// The own attributes of each op, in print order (hlo-text sections 5.2 to 5.7). Called computations are not here: they are ids in
// the instruction, under the roles of the op table.

// ParameterAttrs is the payload of parameter.
type ParameterAttrs struct {
	attrsTag
	Number int64 `hlo:"-"`
}

// ConstantAttrs is the payload of constant.
type ConstantAttrs struct {
	attrsTag
	Literal *Literal `hlo:"-"`
}

// DimensionsAttrs belongs to broadcast, transpose and reverse (axes), and to reduce (reduced axes) and map.
type DimensionsAttrs struct {
	attrsTag
	Dimensions []int64 `hlo:"dimensions,required"`
}

// BroadcastAttrs says which result axis each operand axis becomes; the list is optional in text for a scalar operand.
type BroadcastAttrs struct {
	attrsTag
	Dimensions []int64 `hlo:"dimensions"`
}

// MapAttrs belongs to map; the list is always all axes in order.
type MapAttrs struct {
	attrsTag
	Dimensions []int64 `hlo:"dimensions"`
}

// AxisAttrs belongs to concatenate, get-dimension-size and set-dimension-size: a list of one axis.
type AxisAttrs struct {
	attrsTag
	Dimensions []int64 `hlo:"dimensions,required,single"`
}

// SortAttrs belongs to sort.
type SortAttrs struct {
	attrsTag
	Dimensions []int64 `hlo:"dimensions,required,single"`
	IsStable   bool    `hlo:"is_stable,omitzero"`
}

// TopKAttrs belongs to topk.
type TopKAttrs struct {
	attrsTag
	K        int64 `hlo:"k,required"`
	Largest  bool  `hlo:"largest,default=true,always"`
	IsStable bool  `hlo:"is_stable,default=true,always"`
}

// ReducePrecisionAttrs belongs to reduce-precision.
type ReducePrecisionAttrs struct {
	attrsTag
	ExponentBits int64 `hlo:"exponent_bits,required"`
	MantissaBits int64 `hlo:"mantissa_bits,required"`
}

// BatchNormAttrs belongs to the three batch-norm ops.
type BatchNormAttrs struct {
	attrsTag
	Epsilon      float32 `hlo:"epsilon,required"`
	FeatureIndex int64   `hlo:"feature_index,required"`
}

// CallAttrs belongs to call.
type CallAttrs struct {
	attrsTag
	IsComposite bool `hlo:"is_composite,omitzero"`
}

// FusionAttrs belongs to fusion.
type FusionAttrs struct {
	attrsTag
	Kind           FusionKind    `hlo:"kind,required"`
	OutputAliasing []OutputAlias `hlo:"output_to_operand_aliasing,omitzero"`
}

// CholeskyAttrs belongs to cholesky.
type CholeskyAttrs struct {
	attrsTag
	Lower bool `hlo:"lower,omitzero"`
}

// TriangularSolveAttrs belongs to triangular-solve.
type TriangularSolveAttrs struct {
	attrsTag
	LeftSide     bool      `hlo:"left_side,omitzero"`
	Lower        bool      `hlo:"lower,omitzero"`
	UnitDiagonal bool      `hlo:"unit_diagonal,omitzero"`
	TransposeA   Transpose `hlo:"transpose_a,omitzero"`
}

// CompareAttrs belongs to compare. Type is printed only when it is not the operand type's own; the zero value means that.
type CompareAttrs struct {
	attrsTag
	Direction Direction    `hlo:"direction,required"`
	Type      CompareType  `hlo:"type,omitzero"`
	Order     CompareOrder `hlo:"order,inputonly"` // the reader turns it into a Type
}

// ConvolutionAttrs belongs to convolution.
type ConvolutionAttrs struct {
	attrsTag
	Window            *Window         `hlo:"window,omitzero"`
	DimLabels         *ConvDims       `hlo:"dim_labels,required"`
	FeatureGroupCount int64           `hlo:"feature_group_count,default=1"`
	BatchGroupCount   int64           `hlo:"batch_group_count,default=1"`
	Kind              ConvolutionKind `hlo:"convolution_kind,omitzero"`
	Precision         PrecisionConfig `hlo:"operand_precision,omitzero"`
	Algorithm         DotAlgorithm    `hlo:"algorithm,omitzero,fold"`
	Sparsity          *SparsityConfig `hlo:"sparsity_config,omitzero"`
}

// DotAttrs belongs to dot and scaled-dot.
type DotAttrs struct {
	attrsTag
	LHSBatch       []int64         `hlo:"lhs_batch_dims,omitzero"`
	LHSContracting []int64         `hlo:"lhs_contracting_dims"`
	RHSBatch       []int64         `hlo:"rhs_batch_dims,omitzero"`
	RHSContracting []int64         `hlo:"rhs_contracting_dims"`
	Precision      PrecisionConfig `hlo:"operand_precision,omitzero"`
	Algorithm      DotAlgorithm    `hlo:"algorithm,omitzero,fold"`
}

// RaggedDotAttrs belongs to ragged-dot.
type RaggedDotAttrs struct {
	attrsTag
	LHSBatch       []int64         `hlo:"lhs_batch_dims,omitzero"`
	LHSContracting []int64         `hlo:"lhs_contracting_dims"`
	RHSBatch       []int64         `hlo:"rhs_batch_dims,omitzero"`
	RHSContracting []int64         `hlo:"rhs_contracting_dims"`
	LHSRagged      []int64         `hlo:"lhs_ragged_dims,omitzero"`
	RHSGroup       []int64         `hlo:"rhs_group_dims,omitzero"`
	Precision      PrecisionConfig `hlo:"operand_precision,omitzero"`
}

// DynamicSliceAttrs belongs to dynamic-slice.
type DynamicSliceAttrs struct {
	attrsTag
	Sizes []int64 `hlo:"dynamic_slice_sizes,required"`
}

// FFTAttrs belongs to fft.
type FFTAttrs struct {
	attrsTag
	Type   FFTType `hlo:"fft_type,required"`
	Length []int64 `hlo:"fft_length,required"`
}

// GatherAttrs belongs to gather.
type GatherAttrs struct {
	attrsTag
	OffsetDims               []int64 `hlo:"offset_dims,required"`
	CollapsedSliceDims       []int64 `hlo:"collapsed_slice_dims,required"`
	StartIndexMap            []int64 `hlo:"start_index_map,required"`
	OperandBatchingDims      []int64 `hlo:"operand_batching_dims,omitzero"`
	StartIndicesBatchingDims []int64 `hlo:"start_indices_batching_dims,omitzero"`
	IndexVectorDim           int64   `hlo:"index_vector_dim,required"`
	SliceSizes               []int64 `hlo:"slice_sizes,required"`
	IndicesAreSorted         bool    `hlo:"indices_are_sorted,omitzero"`
}

// ScatterAttrs belongs to scatter.
type ScatterAttrs struct {
	attrsTag
	UpdateWindowDims           []int64 `hlo:"update_window_dims,required"`
	InsertedWindowDims         []int64 `hlo:"inserted_window_dims,required"`
	ScatterDimsToOperandDims   []int64 `hlo:"scatter_dims_to_operand_dims,required"`
	InputBatchingDims          []int64 `hlo:"input_batching_dims,omitzero"`
	ScatterIndicesBatchingDims []int64 `hlo:"scatter_indices_batching_dims,omitzero"`
	IndexVectorDim             int64   `hlo:"index_vector_dim,required"`
	IndicesAreSorted           bool    `hlo:"indices_are_sorted,omitzero"`
	UniqueIndices              bool    `hlo:"unique_indices,omitzero"`
}

// TupleElementAttrs belongs to get-tuple-element.
type TupleElementAttrs struct {
	attrsTag
	Index int64 `hlo:"index,required"`
}

// IotaAttrs belongs to iota.
type IotaAttrs struct {
	attrsTag
	Dimension int64 `hlo:"iota_dimension,required"`
}

// PadAttrs belongs to pad.
type PadAttrs struct {
	attrsTag
	Padding []PaddingDim `hlo:"padding,required"`
}

// ReshapeAttrs belongs to reshape.
type ReshapeAttrs struct {
	attrsTag
	InferredDimension int64 `hlo:"inferred_dimension,default=-1"`
}

// WindowAttrs belongs to reduce-window and select-and-scatter.
type WindowAttrs struct {
	attrsTag
	Window *Window `hlo:"window,omitzero"`
}

// SliceAttrs belongs to slice.
type SliceAttrs struct {
	attrsTag
	Slice []SliceDim `hlo:"slice,required"`
}

// ScanAttrs belongs to scan.
type ScanAttrs struct {
	attrsTag
	Dimensions    []int64 `hlo:"dimensions,required,single=RED-19"`
	NumCarries    int64   `hlo:"num_carries,required"`
	IsReverse     bool    `hlo:"is_reverse,omitzero"`
	IsAssociative bool    `hlo:"is_associative"`
}

// RngAttrs belongs to rng.
type RngAttrs struct {
	attrsTag
	Distribution RandomDistribution `hlo:"distribution,required,fold"`
}

// RngBitGeneratorAttrs belongs to rng-bit-generator.
type RngBitGeneratorAttrs struct {
	attrsTag
	Algorithm RandomAlgorithm `hlo:"algorithm,required,fold"`
}

// RngStateAttrs belongs to rng-get-and-update-state.
type RngStateAttrs struct {
	attrsTag
	Delta int64 `hlo:"delta,required"`
}

// DomainAttrs belongs to domain.
type DomainAttrs struct {
	attrsTag
	Domain *Domain `hlo:"domain,required"`
}

// AsyncStartAttrs belongs to async-start.
type AsyncStartAttrs struct {
	attrsTag
	ExecutionThread string        `hlo:"async_execution_thread,default=main"`
	OutputAliasing  []OutputAlias `hlo:"output_to_operand_aliasing,omitzero"`
}

// AsyncUpdateAttrs belongs to async-update. The thread is checked against the start's and dropped by the reader.
type AsyncUpdateAttrs struct {
	attrsTag
	ExecutionThread string        `hlo:"async_execution_thread,inputonly"`
	OutputAliasing  []OutputAlias `hlo:"output_to_operand_aliasing,omitzero"`
}

// AsyncDoneAttrs belongs to async-done.
type AsyncDoneAttrs struct {
	attrsTag
	ExecutionThread string `hlo:"async_execution_thread,inputonly"`
}

// CopyStartAttrs belongs to copy-start.
type CopyStartAttrs struct {
	attrsTag
	CrossProgramPrefetchIndex OptInt `hlo:"cross_program_prefetch_index,omitzero"`
}

// SendRecvAttrs belongs to send, recv, send-done and recv-done.
type SendRecvAttrs struct {
	attrsTag
	ChannelID      OptInt `hlo:"channel_id,omitzero"`
	IsHostTransfer bool   `hlo:"is_host_transfer,omitzero"`
}

// InfeedAttrs belongs to infeed.
type InfeedAttrs struct {
	attrsTag
	Config string `hlo:"infeed_config,omitzero"`
}

// OutfeedAttrs belongs to outfeed; the shape is that of the data.
type OutfeedAttrs struct {
	attrsTag
	Shape  Shape  `hlo:"outfeed_shape"`
	Config string `hlo:"outfeed_config,omitzero"`
}

// AllGatherAttrs belongs to all-gather and all-gather-start.
type AllGatherAttrs struct {
	attrsTag
	ChannelID          OptInt         `hlo:"channel_id,omitzero"`
	ReplicaGroups      *ReplicaGroups `hlo:"replica_groups"`
	ConstrainLayout    bool           `hlo:"constrain_layout,omitzero"`
	Dimensions         []int64        `hlo:"dimensions,required,single"`
	UseGlobalDeviceIDs bool           `hlo:"use_global_device_ids,omitzero"`
}

// AllReduceAttrs belongs to all-reduce and all-reduce-start.
type AllReduceAttrs struct {
	attrsTag
	ChannelID          OptInt         `hlo:"channel_id,omitzero"`
	ReplicaGroups      *ReplicaGroups `hlo:"replica_groups"`
	ConstrainLayout    bool           `hlo:"constrain_layout,omitzero"`
	UseGlobalDeviceIDs bool           `hlo:"use_global_device_ids,omitzero"`
	Mode               CollectiveMode `hlo:"mode,inputonly"`
}

// ReduceScatterAttrs belongs to reduce-scatter.
type ReduceScatterAttrs struct {
	attrsTag
	ChannelID          OptInt         `hlo:"channel_id,omitzero"`
	ReplicaGroups      *ReplicaGroups `hlo:"replica_groups"`
	ConstrainLayout    bool           `hlo:"constrain_layout,omitzero"`
	UseGlobalDeviceIDs bool           `hlo:"use_global_device_ids,omitzero"`
	Dimensions         []int64        `hlo:"dimensions,required,single"`
	Mode               CollectiveMode `hlo:"mode,inputonly"`
}

// AllToAllAttrs belongs to all-to-all; without Dimensions the operands are one tuple of pieces.
type AllToAllAttrs struct {
	attrsTag
	ChannelID       OptInt         `hlo:"channel_id,omitzero"`
	ReplicaGroups   *ReplicaGroups `hlo:"replica_groups"`
	ConstrainLayout bool           `hlo:"constrain_layout,omitzero"`
	Dimensions      []int64        `hlo:"dimensions,omitzero,single"`
}

// CollectiveBroadcastAttrs belongs to collective-broadcast.
type CollectiveBroadcastAttrs struct {
	attrsTag
	ChannelID      OptInt         `hlo:"channel_id,omitzero"`
	ReplicaGroups  *ReplicaGroups `hlo:"replica_groups"`
	HasDynamicRoot bool           `hlo:"has_dynamic_root"`
}

// CollectivePermuteAttrs belongs to collective-permute and collective-permute-start.
type CollectivePermuteAttrs struct {
	attrsTag
	ChannelID         OptInt    `hlo:"channel_id,omitzero"`
	SourceTargetPairs [][]int64 `hlo:"source_target_pairs,required"`
	SliceSizes        [][]int64 `hlo:"slice_sizes,omitzero"`
}

// RaggedAllToAllAttrs belongs to ragged-all-to-all.
type RaggedAllToAllAttrs struct {
	attrsTag
	ChannelID     OptInt         `hlo:"channel_id,omitzero"`
	ReplicaGroups *ReplicaGroups `hlo:"replica_groups"`
	Dimensions    []int64        `hlo:"dimensions,inputonly"`
}

// CustomCallAttrs belongs to custom-call.
type CustomCallAttrs struct {
	attrsTag
	Window            *Window            `hlo:"window,omitzero"`
	DimLabels         *ConvDims          `hlo:"dim_labels,omitzero"`
	FeatureGroupCount int64              `hlo:"feature_group_count,default=1"`
	BatchGroupCount   int64              `hlo:"batch_group_count,default=1"`
	Precision         PrecisionConfig    `hlo:"operand_precision,omitzero"`
	PaddingType       PaddingType        `hlo:"padding_type,omitzero"`
	Target            string             `hlo:"custom_call_target,required"`
	OperandLayouts    *ShapeList         `hlo:"operand_layout_constraints,omitzero"`
	HasSideEffect     bool               `hlo:"custom_call_has_side_effect,omitzero"`
	Literal           *Literal           `hlo:"literal,omitzero"`
	OutputAliasing    []OutputAlias      `hlo:"output_to_operand_aliasing,omitzero"`
	Schedule          CustomCallSchedule `hlo:"schedule,omitzero,fold"`
	APIVersion        APIVersion         `hlo:"api_version,omitzero,fold"`
}
