package proto

import "github.com/gohalo/halo/hlo"

// The messages of xla/service/hlo.proto that a module consists of; schema_data.go has those of xla/xla_data.proto, such as shapes and attributes. The tag is the field number; those from
// 20000 up are halo's own. An [hlo.OptInt] distinguishes a field written as 0 from a missing one. Fields of releases to come
// are skipped, as those are that text does not have; doc.go says which.

type hloProto struct {
	Module rawMsg `pb:"1"` // moduleMsg
}

// withConfigMsg is a module and what XLA compiled it for. Of other messages around a module, one may have something else where it has the
// configuration.
type withConfigMsg struct {
	Module rawMsg `pb:"1"` // moduleMsg
	Config rawMsg `pb:"2"` // configMsg
}

// configMsg is what of a configuration the header of text has.
type configMsg struct {
	ReplicaCount     int64  `pb:"4"`
	NumPartitions    int64  `pb:"5"`
	UseSPMD          bool   `pb:"7"`
	AliasPassthrough bool   `pb:"17"`
	SPMDToOutput     []bool `pb:"27"`
	SPMDToParameters []bool `pb:"33"`
}

type snapshotMsg struct {
	HLO       *hloProto `pb:"1"`
	Arguments []rawMsg  `pb:"2"` // literalMsg
	Result    rawMsg    `pb:"3"` // literalMsg
	Platform  string    `pb:"4"`
}

type unoptimizedMsg struct {
	Module     rawMsg   `pb:"1"` // moduleMsg
	Partitions []rawMsg `pb:"2"` // inputsMsg
}

type inputsMsg struct {
	Arguments   []rawMsg `pb:"1"` // literalMsg
	Descriptors []rawMsg `pb:"2"` // descriptorMsg
}

// descriptorMsg is about a literal that stands behind the message.
type descriptorMsg struct {
	Version int64 `pb:"1"`
	Size    int64 `pb:"2"`
}

type moduleMsg struct {
	Name             string           `pb:"1"`
	EntryName        string           `pb:"2"`
	Computations     apart            `pb:"3"` // computationMsg
	HostProgramShape *programShapeMsg `pb:"4"`
	ID               int64            `pb:"5"`
	EntryID          int64            `pb:"6"`
	Schedule         *scheduleMsg     `pb:"7"`
	Alias            *aliasMsg        `pb:"8"`
	StackFrames      *stackFramesMsg  `pb:"17"`
	Donor            *donorMsg        `pb:"18"`
	Frontend         rawMsg           `pb:"19"` // frontendMsg
	Recovery         *recoveryMsg     `pb:"20"`
	Payloads         []string         `pb:"22"` // bytes
	Debug            []*debugMsg      `pb:"24"`
	Extra            *moduleExtraMsg  `pb:"20000"`
	foreignMsg
}

// foreignMsg is what of a module text has no words for. It is kept as it is; none of it names computations or instructions by their ids,
// which are others when the module is written again.
type foreignMsg struct {
	CrossProgramPrefetches []rawMsg   `pb:"10"`
	IsDynamic              bool       `pb:"11"`
	SPMDOutputSharding     rawMsg     `pb:"12"`
	Profiles               []rawMsg   `pb:"13"`
	SPMDParameterShardings []rawMsg   `pb:"14"`
	DeviceAssignment       rawMsg     `pb:"15"`
	UseAutoSPMD            bool       `pb:"16"`
	DeviceType             string     `pb:"21"`
	PjRtID                 hlo.OptInt `pb:"23"`
}

// moduleExtraMsg is what XLA keeps in a module's configuration and text shows in the header.
type moduleExtraMsg struct {
	ReplicaCount     int64         `pb:"1"`
	NumPartitions    int64         `pb:"2"`
	SPMDToParameters []bool        `pb:"3"`
	SPMDToOutput     []bool        `pb:"4"`
	AliasPassthrough bool          `pb:"5"`
	UseSPMD          bool          `pb:"6"`
	NoEntryLayout    bool          `pb:"7"`
	Unknown          []*unknownMsg `pb:"8"`
}

type computationMsg struct {
	Name            string `pb:"1"`
	Instructions    apart  `pb:"2"` // instructionMsg
	ProgramShape    rawMsg `pb:"4"` // programShapeMsg; follows from the instructions
	ID              int64  `pb:"5"`
	RootID          int64  `pb:"6"`
	IsFusion        bool   `pb:"7"`
	ExecutionThread string `pb:"8"`
}

type scheduleMsg struct {
	Sequences []*sequenceEntry `pb:"1"`
}

type sequenceEntry struct {
	Key   int64        `pb:"1"`
	Value *sequenceMsg `pb:"2"`
}

type sequenceMsg struct {
	IDs []int64 `pb:"1"`
}

type aliasMsg struct {
	Entries []*aliasEntry `pb:"1"`
}

type aliasEntry struct {
	Output         []int64 `pb:"1"`
	Parameter      int64   `pb:"2"`
	ParameterIndex []int64 `pb:"3"`
	Kind           int32   `pb:"4"`
}

// Kinds of aliases. XLA takes every other for must, too.
const mayAlias, mustAlias int32 = 1, 2

type donorMsg struct {
	Entries []*donorEntry `pb:"1"`
}

type donorEntry struct {
	Parameter int64   `pb:"1"`
	Index     []int64 `pb:"2"`
}

type stackFramesMsg struct {
	FileNames     []string           `pb:"1"`
	FunctionNames []string           `pb:"2"`
	Locations     []*fileLocationMsg `pb:"3"`
	Frames        []*stackFrameMsg   `pb:"4"`
}

type fileLocationMsg struct {
	FileNameID     int32 `pb:"1"`
	FunctionNameID int32 `pb:"2"`
	Line           int32 `pb:"3"`
	Column         int32 `pb:"4"`
	EndLine        int32 `pb:"5"`
	EndColumn      int32 `pb:"6"`
}

type stackFrameMsg struct {
	FileLocationID int32 `pb:"1"`
	ParentFrameID  int32 `pb:"2"`
}

type recoveryMsg struct {
	Entries []*recoveryEntry `pb:"1"`
}

type recoveryEntry struct {
	Lost   *originArrayMsg `pb:"1"`
	Kept   *originArrayMsg `pb:"2"`
	Module rawMsg          `pb:"3"`     // moduleMsg
	Text   string          `pb:"20000"` // of a module that was never read
}

type debugMsg struct {
	Array   *originArrayMsg  `pb:"1"`
	Entries []*debugEntryMsg `pb:"2"`
}

type debugEntryMsg struct {
	LogMode     int32      `pb:"1"` // 1: default, 2: fusion debugger
	CallbackID  hlo.OptInt `pb:"2"`
	OpID        hlo.OptInt `pb:"3"`
	Partitioned bool       `pb:"4"`
}

// An instruction is what tells it from others, which is here, and its attributes, which it often has in common with others. These are
// put aside as they are, to be looked up.
type instructionMsg struct {
	Name       string  `pb:"1"`
	Opcode     string  `pb:"2"`
	Shape      rawMsg  `pb:"3"` // shapeMsg
	Metadata   rawMsg  `pb:"7"` // metadataMsg
	ID         int64   `pb:"35"`
	OperandIDs []int64 `pb:"36"`
	ControlIDs []int64 `pb:"37"`
	CalledIDs  []int64 `pb:"38"`
	Extra      rawMsg  `pb:"20000"` // instructionExtra
	Attributes spans   `pb:"*"`     // attributesMsg
}

// attributesMsg is the rest of an instruction.
type attributesMsg struct {
	ownMsg
	commonMsg
}

// commonMsg is the attributes that any instruction may have.
type commonMsg struct {
	Sharding             rawMsg          `pb:"40"` // shardingMsg
	BackendConfig        string          `pb:"43"` // bytes
	ParameterReplication *replicationMsg `pb:"61"`
	Frontend             rawMsg          `pb:"68"` // frontendMsg
	Statistics           rawMsg          `pb:"82"` // statisticsMsg
	Origin               *originMsg      `pb:"88"`
	ResultAccuracy       *accuracyMsg    `pb:"91"`
	BackendPayload       *payloadMsg     `pb:"99"`
	Unknown              []*unknownMsg   `pb:"20002"`
}

// ownMsg is the attributes of opcodes, of all of them in one.
type ownMsg struct {
	Literal             rawMsg             `pb:"8"` // literalMsg
	ParameterNumber     int64              `pb:"9"`
	FusionKind          string             `pb:"11"`
	TupleIndex          int64              `pb:"13"`
	Dimensions          []int64            `pb:"14"`
	Window              *windowMsg         `pb:"15"`
	ConvDims            *convDimsMsg       `pb:"16"`
	SliceDimensions     []*sliceMsg        `pb:"17"`
	ExponentBits        int64              `pb:"18"`
	MantissaBits        int64              `pb:"19"`
	DynamicSliceSizes   []int64            `pb:"20"`
	Padding             *paddingMsg        `pb:"21"`
	OutfeedConfig       string             `pb:"22"` // bytes
	Distribution        int32              `pb:"23"`
	Epsilon             float32            `pb:"24"`
	FeatureIndex        int64              `pb:"25"`
	ChannelID           hlo.OptInt         `pb:"26"`
	InfeedConfig        string             `pb:"27"` // bytes
	CustomCallTarget    string             `pb:"28"`
	OutfeedShape        rawMsg             `pb:"29"` // shapeMsg
	DotDims             *dotDimsMsg        `pb:"30"`
	FFTType             int32              `pb:"31"`
	FFTLength           []int64            `pb:"32"`
	GatherDims          *gatherDimsMsg     `pb:"33"`
	GatherSliceSizes    []int64            `pb:"34"`
	AllReduceID         int64              `pb:"45"`
	IsHostTransfer      bool               `pb:"47"`
	ScatterDims         *scatterDimsMsg    `pb:"48"`
	ReplicaGroups       []*replicaGroupMsg `pb:"49"` // of older programs
	FeatureGroupCount   int64              `pb:"50"`
	PrecisionConfig     *precisionMsg      `pb:"51"`
	SourceTargetPairs   []*sourceTargetMsg `pb:"52"`
	DomainEntry         rawMsg             `pb:"54"` // shardingMsg
	DomainExit          rawMsg             `pb:"55"` // shardingMsg
	ConstrainLayout     bool               `pb:"56"`
	OperandShapes       []rawMsg           `pb:"57"` // shapeMsg
	BatchGroupCount     int64              `pb:"58"`
	TriangularSolve     *triangularMsg     `pb:"59"`
	IsStable            bool               `pb:"60"`
	Cholesky            *choleskyMsg       `pb:"62"`
	ComparisonDirection string             `pb:"63"`
	HasSideEffect       bool               `pb:"65"`
	Delta               int64              `pb:"66"`
	IndicesAreSorted    bool               `pb:"67"`
	UniqueIndices       bool               `pb:"69"`
	RngAlgorithm        int32              `pb:"70"`
	UseGlobalDeviceIDs  bool               `pb:"71"`
	ComparisonType      string             `pb:"72"`
	IsPrefetch          bool               `pb:"73"` // of older programs: prefetch index 0
	OutputAliasing      []*outputAliasMsg  `pb:"74"`
	PaddingType         int32              `pb:"75"`
	CustomCallSchedule  int32              `pb:"76"`
	CustomCallAPI       int32              `pb:"77"`
	AsyncThread         string             `pb:"79"`
	PrefetchIndex       hlo.OptInt         `pb:"80"`
	K                   int64              `pb:"81"`
	Largest             bool               `pb:"85"`
	DeviceList          rawMsg             `pb:"87"` // deviceListMsg
	IsComposite         bool               `pb:"89"`
	RaggedDotDims       *raggedDotMsg      `pb:"90"`
	IotaDeviceList      rawMsg             `pb:"92"` // iotaGroupsMsg
	MeshDeviceList      rawMsg             `pb:"93"` // meshGroupsMsg
	IsReverse           bool               `pb:"94"`
	NumCarries          int64              `pb:"95"`
	IsAssociative       int32              `pb:"96"` // 1: true, 2: false
	ConvKind            int32              `pb:"97"`
	Sparsity            *sparsityMsg       `pb:"98"`
	HasDynamicRoot      bool               `pb:"100"`
	Extra               *ownExtra          `pb:"20001"`
}

// instructionExtra is where in a text an instruction comes from, and what only an async-done of ours has.
type instructionExtra struct {
	Line      int64   `pb:"6"`
	Column    int64   `pb:"7"`
	CalledIDs []int64 `pb:"8"` // of an async-done whose chain comes out of a tuple
}

// ownExtra is what of the attributes of opcodes only text has.
type ownExtra struct {
	SliceSizes   []*intsMsg `pb:"1"`
	KeepAliasing bool       `pb:"2"` // of an async-update
}

type intsMsg struct {
	Values []int64 `pb:"1"`
}

type unknownMsg struct {
	Key  string `pb:"1"`
	Text string `pb:"2"`
}
