package hlo

// Structured attribute values. Values are immutable once an instruction holds them; their text forms are in attr_text.go (printing)
// and hlo/parser (grammars).

// OptInt is an integer that may be absent.
type OptInt struct {
	Value int64
	Set   bool
}

// SomeInt is a present OptInt.
func SomeInt(v int64) OptInt { return OptInt{v, true} }

// Window describes how a window moves over the dimensions of an array.
type Window struct{ Dims []WindowDim }

// WindowDim is one dimension of a [Window]. Stride and dilations are at least 1; padding may be negative.
type WindowDim struct {
	Size, Stride    int64
	PadLow, PadHigh int64
	BaseDilation    int64 // lhs_dilate: distance of neighbouring elements of the base
	WindowDilation  int64 // rhs_dilate: distance of neighbouring elements of the window
	Reversal        bool  // rhs_reversal
}

// DefaultWindowDim is a window of the given size with everything else at its default.
func DefaultWindowDim(size int64) WindowDim {
	return WindowDim{Size: size, Stride: 1, BaseDilation: 1, WindowDilation: 1}
}

// ConvDims says what each axis of the operands and the result of a convolution is. Axes labelled `?` are in Unknown.
type ConvDims struct {
	InputBatch, InputFeature                   int64
	InputSpatial                               []int64
	KernelInput, KernelOutput                  int64
	KernelSpatial                              []int64
	OutputBatch, OutputFeature                 int64
	OutputSpatial                              []int64
	InputUnknown, KernelUnknown, OutputUnknown []int64
}

// PaddingDim is the padding of one dimension of pad; Low and High may be negative.
type PaddingDim struct{ Low, High, Interior int64 }

// SliceDim is the range of one dimension of slice.
type SliceDim struct{ Start, Limit, Stride int64 }

// PrecisionConfig is the precision of each operand of a contraction; empty means all default.
type PrecisionConfig []Precision

// ShapeList is a braced list of shapes; a nil pointer is an absent list.
type ShapeList struct{ Shapes []Shape }

// OutputAlias says that the result at Output shares memory with operand Operand at OperandIndex.
type OutputAlias struct {
	Output       ShapeIndex
	Operand      int64
	OperandIndex ShapeIndex
}

// Domain is the attribute of the domain op: only shardings exist.
type Domain struct{ Entry, Exit *Sharding }

// SparsityConfig describes structured sparsity of a convolution's operands; nil sides are dense.
type SparsityConfig struct{ LHS, RHS *Sparsity }

// Sparsity is `{sparsity=NxB dimension=D stride=S idx=I}`: N nonzeros in every block of B.
type Sparsity struct {
	NonZeros, Block   int64
	Dimension, Stride int64
	Index             OptInt
}

// IotaTile is a device list in compressed form: iota over the product of Reshape, shaped so, transposed by Transpose, and read in
// row-major order.
type IotaTile struct {
	Reshape   []int64
	Transpose []int // nil when there is one dimension
}

// ReplicaGroups says which devices take part in a collective together. Exactly one form is set; a nil pointer or an empty Lists with
// nothing else set means all participants in one group.
type ReplicaGroups struct {
	Lists [][]int64 // version 1
	// version 2: Groups rows of GroupSize devices out of Iota
	Iota              *IotaTile
	Groups, GroupSize int64
	// version 3: devices that differ only in Axes form a group
	Mesh *Mesh
	Axes []AxisRef
}

// Mesh is a named grid of devices.
type Mesh struct {
	Axes      []MeshAxis
	DeviceIDs []int64   // nil: 0..n-1 in row-major order
	Iota      *IotaTile // the device ids in compressed form, instead of DeviceIDs
	// Maximal meshes have one device and no axes.
	Maximal       bool
	MaximalDevice int64
}

// MeshAxis is a named axis of a mesh.
type MeshAxis struct {
	Name string
	Size int64
}

// AxisRef refers to a mesh axis, or to part of one: the sub-axis of size Size after PreSize.
type AxisRef struct {
	Axis          int // index into the mesh's axes
	PreSize, Size int64
	IsSub         bool
}
