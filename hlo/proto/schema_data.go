package proto

import "github.com/gohalo/halo/hlo"

// The messages of xla/xla_data.proto: shapes, metadata, attributes, shardings, literals. Tags are as in schema.go.

type shapeMsg struct {
	Type       int32      `pb:"2"`
	Dimensions []int64    `pb:"3"`
	Tuple      []rawMsg   `pb:"4"` // shapeMsg
	Layout     *layoutMsg `pb:"5"`
	Dynamic    []bool     `pb:"6"`
}

type layoutMsg struct {
	MinorToMajor   []int64     `pb:"1"`
	Tiles          []*intsMsg  `pb:"6"`
	ElementBits    int64       `pb:"7"`
	MemorySpace    int64       `pb:"8"`
	IndexType      int32       `pb:"11"`
	PointerType    int32       `pb:"12"`
	MetadataPrefix int64       `pb:"15"`
	TailPadding    int64       `pb:"16"`
	SplitConfigs   []*splitMsg `pb:"17"`
}

type splitMsg struct {
	Dimension int64   `pb:"1"`
	Indices   []int64 `pb:"2"`
}

type programShapeMsg struct {
	Parameters []rawMsg `pb:"1"` // shapeMsg
	Result     rawMsg   `pb:"2"` // shapeMsg
	Names      []string `pb:"3"`
}

type metadataMsg struct {
	OpType           string      `pb:"1"`
	OpName           string      `pb:"2"`
	SourceFile       string      `pb:"3"`
	SourceLine       int32       `pb:"4"`
	ProfileType      []int64     `pb:"5"`
	DeduplicatedName string      `pb:"12"`
	StackFrameID     int32       `pb:"15"`
	SchedulingName   string      `pb:"16"`
	SourceEndLine    int32       `pb:"17"`
	SourceColumn     int32       `pb:"18"`
	SourceEndColumn  int32       `pb:"19"`
	Payload          *payloadMsg `pb:"20"`
}

// payloadMsg is bytes, or the number of an entry among the payloads of the module.
type payloadMsg struct {
	Value string     `pb:"1"` // bytes
	ID    hlo.OptInt `pb:"2"`
}

type windowMsg struct {
	Dims []*windowDimMsg `pb:"1"`
}

type windowDimMsg struct {
	Size           int64 `pb:"1"`
	Stride         int64 `pb:"2"`
	PadLow         int64 `pb:"3"`
	PadHigh        int64 `pb:"4"`
	WindowDilation int64 `pb:"5"`
	BaseDilation   int64 `pb:"6"`
	Reversal       bool  `pb:"7"`
}

type convDimsMsg struct {
	KernelInput   int64   `pb:"3"`
	KernelOutput  int64   `pb:"4"`
	KernelSpatial []int64 `pb:"6"`
	InputBatch    int64   `pb:"7"`
	InputFeature  int64   `pb:"8"`
	OutputBatch   int64   `pb:"9"`
	OutputFeature int64   `pb:"10"`
	InputSpatial  []int64 `pb:"11"`
	OutputSpatial []int64 `pb:"12"`
}

type sliceMsg struct {
	Start  int64 `pb:"1"`
	Limit  int64 `pb:"2"`
	Stride int64 `pb:"3"`
}

type paddingMsg struct {
	Dims []*paddingDimMsg `pb:"1"`
}

type paddingDimMsg struct {
	Low      int64 `pb:"1"`
	High     int64 `pb:"2"`
	Interior int64 `pb:"3"`
}

type dotDimsMsg struct {
	LHSContracting []int64 `pb:"1"`
	RHSContracting []int64 `pb:"2"`
	LHSBatch       []int64 `pb:"3"`
	RHSBatch       []int64 `pb:"4"`
}

type raggedDotMsg struct {
	Dot       *dotDimsMsg `pb:"1"`
	LHSRagged []int64     `pb:"2"`
	RHSGroup  []int64     `pb:"3"`
}

type gatherDimsMsg struct {
	OffsetDims               []int64 `pb:"1"`
	CollapsedSliceDims       []int64 `pb:"2"`
	StartIndexMap            []int64 `pb:"3"`
	IndexVectorDim           int64   `pb:"4"`
	OperandBatchingDims      []int64 `pb:"5"`
	StartIndicesBatchingDims []int64 `pb:"6"`
}

type scatterDimsMsg struct {
	UpdateWindowDims           []int64 `pb:"1"`
	InsertedWindowDims         []int64 `pb:"2"`
	ScatterDimsToOperandDims   []int64 `pb:"3"`
	IndexVectorDim             int64   `pb:"4"`
	InputBatchingDims          []int64 `pb:"5"`
	ScatterIndicesBatchingDims []int64 `pb:"6"`
}

type precisionMsg struct {
	Operands  []int64 `pb:"1"`
	Algorithm int32   `pb:"2"`
}

type sourceTargetMsg struct {
	Source int64 `pb:"1"`
	Target int64 `pb:"2"`
}

type triangularMsg struct {
	LeftSide     bool  `pb:"1"`
	Lower        bool  `pb:"2"`
	UnitDiagonal bool  `pb:"3"`
	TransposeA   int32 `pb:"4"`
}

type choleskyMsg struct {
	Lower bool `pb:"1"`
}

type replicationMsg struct {
	Flags []bool `pb:"1"`
}

type frontendMsg struct {
	Entries []*frontendEntry `pb:"1"`
}

type frontendEntry struct {
	Key   string `pb:"1"`
	Value string `pb:"2"`
}

type outputAliasMsg struct {
	Output       []int64 `pb:"1"`
	Operand      int64   `pb:"2"`
	OperandIndex []int64 `pb:"3"`
}

type statisticsMsg struct {
	Visualizing int64           `pb:"1"`
	Entries     []*statisticMsg `pb:"2"`
}

type statisticMsg struct {
	Name  string  `pb:"1"`
	Value float64 `pb:"2"`
}

type accuracyMsg struct {
	Mode      hlo.OptInt    `pb:"1"` // 0: default, 1: highest
	Tolerance *toleranceMsg `pb:"2"`
}

type toleranceMsg struct {
	ATol float64 `pb:"1"`
	RTol float64 `pb:"2"`
	ULPs int64   `pb:"3"`
}

type sparsityMsg struct {
	LHS *operandSparsityMsg `pb:"1"`
	RHS *operandSparsityMsg `pb:"2"`
}

type operandSparsityMsg struct {
	NonZeros  int64      `pb:"1"`
	Block     int64      `pb:"2"`
	Dimension int64      `pb:"3"`
	Stride    int64      `pb:"4"`
	Index     hlo.OptInt `pb:"20000"`
}

type originArrayMsg struct {
	Name  string  `pb:"1"`
	Index []int64 `pb:"2"`
}

type originMsg struct {
	Elements      []*originElementMsg `pb:"1"`
	SyntheticCall bool                `pb:"2"`
	Tree          *originTreeMsg      `pb:"20000"` // where the elements do not say it all
}

type originElementMsg struct {
	Index []int64         `pb:"1"`
	Array *originArrayMsg `pb:"2"`
}

type originTreeMsg struct {
	IsTuple  bool             `pb:"1"`
	Elements []*originTreeMsg `pb:"2"`
	Array    *originArrayMsg  `pb:"3"`
	Calls    []string         `pb:"4"`
}

type shardingMsg struct {
	Type           int32          `pb:"1"`
	TileDims       []int64        `pb:"3"`
	Devices        []int64        `pb:"4"`
	Tuple          []rawMsg       `pb:"5"` // shardingMsg
	ReplicateLast  bool           `pb:"6"`
	Metadata       []*metadataMsg `pb:"7"`
	LastTileDims   []int64        `pb:"8"`
	IotaReshape    []int64        `pb:"9"`
	IotaTranspose  []int64        `pb:"10"`
	IsShardGroup   bool           `pb:"11"`
	ShardGroupID   int64          `pb:"12"`
	ShardGroupType int32          `pb:"13"`
	Named          *namedMsg      `pb:"14"`
	Extra          *shardingExtra `pb:"20000"`
}

type shardingExtra struct {
	EmptyMetadata bool  `pb:"1"`
	Body          int32 `pb:"2"` // of a named sharding: its kind plus one
	Maximal       bool  `pb:"4"`
}

type namedMsg struct {
	Mesh       *meshMsg       `pb:"2"`
	Dims       []*dimSharding `pb:"3"`
	Replicated []*axisRefMsg  `pb:"4"`
	Unreduced  []*axisRefMsg  `pb:"5"`
	Metadata   []*metadataMsg `pb:"6"`
	Manual     []*axisRefMsg  `pb:"7"`
	Reduction  int32          `pb:"8"` // 1: max, 2: min
}

type dimSharding struct {
	Axes     []*axisRefMsg `pb:"1"`
	IsClosed bool          `pb:"2"`
}

type meshMsg struct {
	Axes      []*meshAxisMsg `pb:"1"`
	DeviceIDs []int64        `pb:"2"`
	Iota      *iotaMsg       `pb:"3"`
}

type meshAxisMsg struct {
	Name string `pb:"1"`
	Size int64  `pb:"2"`
}

type iotaMsg struct {
	Reshape   []int64 `pb:"1"`
	Transpose []int64 `pb:"2"`
}

type axisRefMsg struct {
	Axis int64       `pb:"1"`
	Sub  *subAxisMsg `pb:"2"`
}

type subAxisMsg struct {
	PreSize int64 `pb:"1"`
	Size    int64 `pb:"2"`
}

type replicaGroupMsg struct {
	IDs []int64 `pb:"1"`
}

type deviceListMsg struct {
	Groups []*replicaGroupMsg `pb:"1"`
}

type iotaGroupsMsg struct {
	Groups    int64   `pb:"1"`
	GroupSize int64   `pb:"2"`
	Reshape   []int64 `pb:"3"`
	Transpose []int64 `pb:"4"`
}

type meshGroupsMsg struct {
	Mesh *meshMsg      `pb:"1"`
	Axes []*axisRefMsg `pb:"2"`
}

type literalMsg struct {
	Shape        rawMsg   `pb:"1"`
	Preds        varints  `pb:"2"`
	U8           []byte   `pb:"3"`
	S32          varints  `pb:"4"`
	S64          varints  `pb:"5"`
	U32          varints  `pb:"6"`
	U64          varints  `pb:"7"`
	F32          fixed32s `pb:"8"`
	F64          fixed64s `pb:"9"`
	Tuple        []rawMsg `pb:"10"`
	F16          []byte   `pb:"11"`
	C64          fixed32s `pb:"12"`
	BF16         []byte   `pb:"13"`
	S8           []byte   `pb:"15"`
	U16          []byte   `pb:"16"`
	S16          []byte   `pb:"17"`
	C128         fixed64s `pb:"18"`
	F8E5M2       []byte   `pb:"19"`
	F8E4M3FN     []byte   `pb:"20"`
	S4           []byte   `pb:"21"`
	U4           []byte   `pb:"22"`
	F8E4M3B11    []byte   `pb:"23"`
	F8E5M2FNUZ   []byte   `pb:"24"`
	F8E4M3FNUZ   []byte   `pb:"25"`
	S2           []byte   `pb:"26"`
	U2           []byte   `pb:"27"`
	F8E4M3       []byte   `pb:"28"`
	F8E3M4       []byte   `pb:"29"`
	S1           []byte   `pb:"30"`
	U1           []byte   `pb:"31"`
	F4E2M1FN     []byte   `pb:"32"`
	F8E8M0FNU    []byte   `pb:"33"`
	DynamicSizes []int64  `pb:"34"`
	F6E3M2FN     []byte   `pb:"35"`
	F6E2M3FN     []byte   `pb:"36"`
	Elided       bool     `pb:"20000"`
}
