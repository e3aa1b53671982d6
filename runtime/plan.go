package runtime

import (
	"fmt"

	"github.com/gohalo/halo/runtime/bef"
)

// Extension sections that carry what the driver of tensor functions needs. Readers that do not know them skip them.
const (
	SectionBufferPlan = bef.BufferPlanSection // BufferPlan
	SectionConstants  = bef.ConstantsSection  // raw bytes, aligned to ConstantAlign
	SectionMetadata   = bef.MetadataSection   // Metadata
)

// Alignments of tensor memory, in bytes. Arena and constant offsets are multiples of BufferAlign, and the memory they are
// offsets into starts on such a boundary, so a vector load of any width is aligned at the start of a planned buffer.
const (
	BufferAlign   = 64
	ConstantAlign = 64
)

// BufferPlan says where the registers of every tensor function live. A function that the plan lists runs on the
// sequential tensor driver; all others are general functions.
type BufferPlan struct {
	Functions []FunctionPlan
}

// FunctionPlan is the plan of one function.
type FunctionPlan struct {
	// Func is the function's id in the file.
	Func int
	// FrameBytes is the size of one activation: its own arena registers and the frames of its callees.
	FrameBytes int64
	// Registers has one entry per register of the function, arguments first.
	Registers []Register
	// Controls has one entry per control kernel, ascending by Kernel.
	Controls []Control
	// Segments divide the kernels, in their order, into parts that may run beside each other. Without any, all kernels run one after the other.
	Segments []Segment
}

// Segment is a part of a function whose kernels run one after the other. The first segment runs where the function was called; each other one
// begins as soon as the kernels that it waits for have run, and the function returns when all have ended. Any order that keeps to that gives
// the same results, the order of the kernels among them.
type Segment struct {
	// Kernels is how many kernels it has.
	Kernels int
	// After lists kernels of earlier segments, by their index in the function.
	After []int
}

// Register describes the buffer that a register stands for: a dense row-major array, one element per byte at least
// (types narrower than a byte are stored one element per byte). A token has no dimensions that matter and no bytes.
type Register struct {
	Type  uint8   // element type code; opaque here, equal to hlo.PrimitiveType by convention
	Dims  []int64 // sizes, major to minor
	Bytes int64   // product of Dims times the bytes of an element
	Slot  Slot
}

// SlotKind says whose memory a register uses.
type SlotKind uint8

const (
	SlotNone  SlotKind = iota // no memory: a token or an async event
	SlotArg                   // memory of the caller, given as argument Index
	SlotOut                   // memory of the caller, given for result Index
	SlotArena                 // Index is a byte offset into the activation's frame
	SlotConst                 // Index is a byte offset into the constants section
)

var slotKindNames = [...]string{"none", "arg", "out", "arena", "const"}

func (k SlotKind) String() string {
	if int(k) < len(slotKindNames) {
		return slotKindNames[k]
	}
	return fmt.Sprintf("slot kind %d", uint8(k))
}

// Slot is a place for a register. Several registers may share one: a bitcast, or a kernel that works in place.
type Slot struct {
	Kind  SlotKind
	Index int64
}

// The slots by name, for writers of plans.
func ArgSlot(i int) Slot     { return Slot{SlotArg, int64(i)} }
func OutSlot(i int) Slot     { return Slot{SlotOut, int64(i)} }
func ArenaSlot(o int64) Slot { return Slot{SlotArena, o} }
func ConstSlot(o int64) Slot { return Slot{SlotConst, o} }

func (s Slot) String() string {
	if s.Kind == SlotNone {
		return "none"
	}
	return fmt.Sprintf("%v(%d)", s.Kind, s.Index)
}

// UnknownTripCount marks a while loop whose number of iterations only its condition knows.
const UnknownTripCount = -1

// Control is what a control kernel needs besides its operands: where its callees' frames lie in the caller's frame, and
// the few numbers that differ by kind. The functions themselves are in the kernel's function list.
type Control struct {
	// Kernel is the index among the function's kernels, counting from 0 and without the pseudo kernel.
	Kernel int
	// Frames has, for each function of the kernel, the offset of its frame within the caller's frame. Callees that never
	// run at the same time (branches; condition and body) may share one.
	Frames []int64
	// Counts has, for a conditional, the number of argument leaves of each branch.
	Counts []int
	// TripCount is the number of iterations of a while loop, or UnknownTripCount. With a known count the condition does
	// not run. Zero for other kernels.
	TripCount int64
	// Thread names the execution thread of an async start; empty means "main".
	Thread string
	// Outputs has, for an async start whose done is in the same function, the registers of the done's results: the callee
	// writes straight into them, so their memory belongs to the callee from the start to the done. A start with Detached
	// set has none.
	Outputs []int
	// Detached marks an async start whose done the plan cannot see, because its event travels through a loop, a branch or
	// a call. It works on a copy of its operands in memory of its own, and any number of its executions may be in
	// flight; the done copies the outputs out. Its entry in Frames is not used.
	Detached bool
}

// Metadata is what a user of a program wants to know about its entry function. It does not influence execution.
type Metadata struct {
	Module     string // name of the HLO module
	Entry      int    // id of the entry function
	Replicas   int    // number of replicas the program was compiled for, at least 1
	Partitions int    // likewise partitions
	Params     []Leaf // one per argument of the entry
	Results    []Leaf // one per result
	Aliases    []Alias
	Properties []Property // anything else, ascending by key
}

// Leaf describes one argument or result of the entry: an array leaf of a parameter or of the root, or a token.
type Leaf struct {
	Name  string  // parameter name and index path, as in "state{1}"
	Shape string  // HLO text of the shape
	Type  uint8   // element type code
	Dims  []int64 // sizes
	Bytes int64
}

// Alias says that a result leaf is meant to be written over a parameter leaf. Where Must is set the caller has to pass
// the same memory for both.
type Alias struct {
	Result, Param int
	Must          bool
}

// Property is a named fact in text.
type Property struct{ Key, Value string }
