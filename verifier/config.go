package verifier

import (
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
)

// Profile selects a set of rules.
type Profile uint8

// The profiles.
const (
	// Doc demands what the document on async ops promises: each async-start and async-update has exactly one user, its update or
	// done, and ops with asynchronous opcodes of their own are not wrapped.
	Doc Profile = iota
	// XLA accepts what XLA does: asynchronous values may go through tuples and loops.
	XLA
)

func (p Profile) String() string {
	if p == XLA {
		return "xla"
	}
	return "doc"
}

// ParseProfile reads the name of a profile.
func ParseProfile(name string) (Profile, error) {
	switch name {
	case "doc", "":
		return Doc, nil
	case "xla":
		return XLA, nil
	}
	return Doc, fmt.Errorf("no profile %q; there are doc and xla", name)
}

// Config says how to verify. The zero value is the default: profile doc, layouts free, precision strict.
type Config struct {
	Profile Profile
	// Levels limits the rules to those of some levels; zero means all. What a broken module would make unsafe to walk is reported in any case.
	Levels Level
	// Threads limits the op checks to computations of these execution threads; empty means all.
	Threads []string
	// Context says in every message what was verified, or when: `after dce`. Empty says nothing.
	Context string

	LayoutSensitive           bool                       // shapes that must be the same must agree in layout and dynamic flags
	MixedPrecision            bool                       // floating types of operands and result may differ
	BroadcastDimensionsOrder  bool                       // broadcast dimensions must ascend
	ReshapeIsBitcast          bool                       // a reshape must not move bytes
	CallThreadNames           bool                       // calls stay on their thread
	SkipShardingDeviceNumbers bool                       // devices of shardings may be any
	BitcastDifferentSize      bool                       // bitcast may change the padded size
	InstructionNameUnchanged  bool                       // names must equal the scheduling names in metadata
	NoHostMemorySpace         bool                       // nothing may lie in host memory
	NoCollectiveDeadlocks     bool                       // look for deadlocks between send, recv and collectives
	SkipReplicaGroups         bool                       // replica groups may be any
	UnboundedDynamic          func(hlo.Instruction) bool // whether `?` is allowed there; nil: nowhere
	CanChangeLayout           func(hlo.Instruction) bool // whether the instruction may change layouts; nil: unary ops, and what [CanChangeLayout] says. LayoutSensitive only
	ShapeSize                 func(hlo.Shape) int64      // bytes of a shape, -1 for unbounded ones; nil: [DenseSize]

	// Known, when set, are the instructions that read as they did in a version of the module in which the same Config found nothing; the header must
	// be that version's, too. An instruction that is known, and its operands are, is not checked by itself again if nothing but its shape, its
	// attributes and their shapes matter to it.
	Known func(hlo.Instruction) bool

	// Extra are rules beside those of the table.
	Extra []Extra

	// Rules that XLA does not check, and that programs which follow XLA's rules may break.

	RNGState           bool // random states are as large as their algorithm wants; always on in profile doc
	ReducerSignatures  bool // all-reduce and reduce-scatter combine two scalars of the elements' type into one
	TransferTokens     bool // send and recv take tokens
	CollectiveGroups   bool // collective-broadcast has proper groups, all-reduce-start a positive channel
	Defined            bool // ops are defined on the types and sizes of their operands; always on in profile doc
	BatchingAxes       bool // batching axes of gather and scatter have no other role, and the sizes of their partners; always on in profile doc
	ReductionDeadlocks bool // all-reduce and reduce-scatter count in the search for deadlocks
}

// DenseSize is the bytes of a shape whose arrays are dense: sub-byte elements take a byte each, unless the layout gives their size in bits.
// Unbounded shapes are -1.
func DenseSize(s hlo.Shape) int64 {
	return sizeOf(s, func(s hlo.Shape) int64 {
		if l, ok := s.Layout(); ok && l.ElementSizeInBits > 0 {
			return bytesOf(s.NumElements(), l.ElementSizeInBits)
		}
		return s.ByteSize()
	})
}

// PackedSize is the bytes of a shape whose arrays are dense, down to the bit, but for pred, of which each takes a byte.
func PackedSize(s hlo.Shape) int64 {
	return sizeOf(s, func(s hlo.Shape) int64 {
		if s.Type() == hlo.PRED {
			return s.ByteSize()
		}
		return bytesOf(s.NumElements(), int64(s.Type().Bits()))
	})
}

// sizeOf adds up the sizes of arrays.
func sizeOf(s hlo.Shape, array func(hlo.Shape) int64) int64 {
	if s.HasUnbounded() {
		return -1
	}
	if s.IsArray() {
		return array(s)
	}
	n := int64(0)
	for i := range s.NumElems() {
		if n += sizeOf(s.Elem(i), array); n < 0 {
			return math.MaxInt64
		}
	}
	return n
}

// bytesOf is the bytes of n elements of so many bits.
func bytesOf(n, bits int64) int64 {
	if bits <= 0 || n > (math.MaxInt64-7)/bits {
		return math.MaxInt64
	}
	return (n*bits + 7) / 8
}
