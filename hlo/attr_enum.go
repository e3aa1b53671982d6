package hlo

// Enumerated attribute values. Each is a small integer whose zero value is what an absent attribute means; its spellings are listed
// once, in order, and serve reader and printer.

// Enum is implemented by every enumerated attribute value.
type Enum interface {
	String() string
	// EnumNames lists the spellings; the position is the value. An empty spelling cannot be written.
	EnumNames() []string
}

func enumName(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "invalid"
}

// FusionKind is the kind of a fusion.
type FusionKind uint8

// The fusion kinds.
const (
	FusionInvalid FusionKind = iota
	FusionLoop
	FusionInput
	FusionOutput
	FusionCustom
)

var fusionKinds = []string{"", "kLoop", "kInput", "kOutput", "kCustom"}

func (v FusionKind) String() string    { return enumName(fusionKinds, uint8(v)) }
func (FusionKind) EnumNames() []string { return fusionKinds }

// Transpose says what triangular-solve does to its matrix first.
type Transpose uint8

// The transpositions.
const (
	TransposeUnset Transpose = iota
	NoTranspose
	TransposeA
	AdjointA
)

var transposes = []string{"", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}

func (v Transpose) String() string    { return enumName(transposes, uint8(v)) }
func (Transpose) EnumNames() []string { return transposes }

// Direction is the relation that compare tests.
type Direction uint8

// The directions.
const (
	DirectionInvalid Direction = iota
	EQ
	NE
	GE
	GT
	LE
	LT
)

var directions = []string{"", "EQ", "NE", "GE", "GT", "LE", "LT"}

func (v Direction) String() string    { return enumName(directions, uint8(v)) }
func (Direction) EnumNames() []string { return directions }

// CompareType is the order that compare uses; CompareDefault is the operand type's own.
type CompareType uint8

// The compare types.
const (
	CompareDefault CompareType = iota
	CompareFloat
	CompareTotalOrder
	CompareSigned
	CompareUnsigned
)

var compareTypes = []string{"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}

func (v CompareType) String() string    { return enumName(compareTypes, uint8(v)) }
func (CompareType) EnumNames() []string { return compareTypes }

// CompareOrder is how later releases of XLA spell what CompareType says; it is read and turned into one.
type CompareOrder uint8

// The orders.
const (
	OrderUnset CompareOrder = iota
	OrderPartial
	OrderTotal
)

var compareOrders = []string{"", "PARTIAL", "TOTAL"}

func (v CompareOrder) String() string    { return enumName(compareOrders, uint8(v)) }
func (CompareOrder) EnumNames() []string { return compareOrders }

// DefaultCompareType is the compare type that operands of type t have when none is written.
func DefaultCompareType(t PrimitiveType) CompareType {
	switch t.Class() {
	case ClassSigned:
		return CompareSigned
	case ClassUnsigned, ClassPred:
		return CompareUnsigned
	}
	return CompareFloat
}

// ConvolutionKind says which of the three convolutions of training this one is.
type ConvolutionKind uint8

// The convolution kinds.
const (
	ConvUnset ConvolutionKind = iota
	ConvFprop
	ConvWgrad
	ConvDgrad
)

var convolutionKinds = []string{"unset", "fprop", "wgrad", "dgrad"}

func (v ConvolutionKind) String() string    { return enumName(convolutionKinds, uint8(v)) }
func (ConvolutionKind) EnumNames() []string { return convolutionKinds }

// Precision is the precision demanded of one operand of a contraction.
type Precision uint8

// The precisions.
const (
	PrecisionDefault Precision = iota
	PrecisionHigh
	PrecisionHighest
)

var precisions = []string{"default", "high", "highest"}

func (v Precision) String() string    { return enumName(precisions, uint8(v)) }
func (Precision) EnumNames() []string { return precisions }

// DotAlgorithm is the arithmetic of a contraction.
type DotAlgorithm uint8

// The dot algorithms.
const (
	AlgUnset DotAlgorithm = iota
	AlgAnyF8AnyF8F32
	AlgAnyF8AnyF8F32FastAccum
	AlgF16F16F16
	AlgF16F16F32
	AlgBF16BF16BF16
	AlgBF16BF16F32
	AlgBF16BF16F32X3
	AlgBF16BF16F32X6
	AlgBF16BF16F32X9
	AlgTF32TF32F32
	AlgTF32TF32F32X3
	AlgF32F32F32
	AlgF64F64F64
)

var dotAlgorithms = []string{"unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16", "dot_f16_f16_f32",
	"dot_bf16_bf16_bf16", "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_bf16_bf16_f32_x9",
	"dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32", "dot_f64_f64_f64"}

func (v DotAlgorithm) String() string    { return enumName(dotAlgorithms, uint8(v)) }
func (DotAlgorithm) EnumNames() []string { return dotAlgorithms }

// FFTType is the transform of an fft.
type FFTType uint8

// The transforms.
const (
	FFTInvalid FFTType = iota
	FFT
	IFFT
	RFFT
	IRFFT
)

var fftTypes = []string{"", "FFT", "IFFT", "RFFT", "IRFFT"}

func (v FFTType) String() string    { return enumName(fftTypes, uint8(v)) }
func (FFTType) EnumNames() []string { return fftTypes }

// RandomDistribution is the distribution of rng.
type RandomDistribution uint8

// The distributions.
const (
	RngInvalid RandomDistribution = iota
	RngUniform
	RngNormal
)

var distributions = []string{"", "rng_uniform", "rng_normal"}

func (v RandomDistribution) String() string    { return enumName(distributions, uint8(v)) }
func (RandomDistribution) EnumNames() []string { return distributions }

// RandomAlgorithm is the generator of rng-bit-generator.
type RandomAlgorithm uint8

// The generators.
const (
	RngAlgDefault RandomAlgorithm = iota
	RngThreeFry
	RngPhilox
)

var randomAlgorithms = []string{"rng_default", "rng_three_fry", "rng_philox"}

func (v RandomAlgorithm) String() string    { return enumName(randomAlgorithms, uint8(v)) }
func (RandomAlgorithm) EnumNames() []string { return randomAlgorithms }

// CollectiveMode is read and checked only: XLA derives the mode from the other attributes.
type CollectiveMode uint8

// The modes.
const (
	ModeUnset CollectiveMode = iota
	ModeCrossReplica
	ModeCrossPartition
	ModeCrossReplicaAndPartition
	ModeFlattenedID
)

var collectiveModes = []string{"", "cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"}

func (v CollectiveMode) String() string    { return enumName(collectiveModes, uint8(v)) }
func (CollectiveMode) EnumNames() []string { return collectiveModes }

// PaddingType belongs to custom-calls that stand for convolutions.
type PaddingType uint8

// The padding types.
const (
	PaddingInvalid PaddingType = iota
	PaddingValid
	PaddingSame
)

var paddingTypes = []string{"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"}

func (v PaddingType) String() string    { return enumName(paddingTypes, uint8(v)) }
func (PaddingType) EnumNames() []string { return paddingTypes }

// CustomCallSchedule is a scheduling hint.
type CustomCallSchedule uint8

// The hints.
const (
	ScheduleNone CustomCallSchedule = iota
	ScheduleLatest
	ScheduleEarliest
)

var customCallSchedules = []string{"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"}

func (v CustomCallSchedule) String() string    { return enumName(customCallSchedules, uint8(v)) }
func (CustomCallSchedule) EnumNames() []string { return customCallSchedules }

// APIVersion is the calling convention of a custom-call.
type APIVersion uint8

// The conventions.
const (
	APIOriginal APIVersion = iota
	APIStatusReturning
	APIStatusReturningUnified
	APITypedFFI
)

var apiVersions = []string{"API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"}

func (v APIVersion) String() string    { return enumName(apiVersions, uint8(v)) }
func (APIVersion) EnumNames() []string { return apiVersions }

// DebugLogMode says how a debug attribute logs.
type DebugLogMode uint8

// The log modes.
const (
	DebugLogUnset DebugLogMode = iota
	DebugLogDefault
	DebugLogFusionDebugger
)

var debugLogModes = []string{"", "default", "fusion_debugger"}

func (v DebugLogMode) String() string    { return enumName(debugLogModes, uint8(v)) }
func (DebugLogMode) EnumNames() []string { return debugLogModes }
