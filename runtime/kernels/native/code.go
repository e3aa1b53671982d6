package native

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/gohalo/halo/runtime/kernels/vec"
)

// Code is a loop that can be called, by any number of goroutines at once.
type Code struct {
	memory []byte
	// Lanes is the number of elements that are computed at once. Unless the code is Masked, rows are a multiple of it.
	Lanes  int
	Masked bool
	// Overlaps says that rows need only be as long as a vector: the last one of a row begins where the elements before it are computed a second time. So no result may
	// be where an operand is.
	Overlaps bool
	// Lane is the size of one in bytes.
	Lane int
	// Most is the number of elements up to which a call takes so little time that the garbage collector need not wait for it.
	Most int
	// Memory is the number of bytes of memory that a call needs.
	Memory int
	slots  int
	far    farCode
	underflows
}

// mostInstructions is about how many vector instructions run before the code returns: a tenth of a millisecond of work.
const mostInstructions = 1 << 18

var disabled atomic.Bool

// Disable makes Compile refuse, and returns what undoes that. It is for tests.
func Disable() (restore func()) {
	before := disabled.Swap(true)
	return func() { disabled.Store(before) }
}

// Possible reports whether there is code for this processor at all.
func Possible() bool { return !disabled.Load() && vec.InUse() != vec.Portable }

// Compile makes the code, unless an op has no recipe, the widths of lanes differ, or the system has no memory that can be executed. The builder
// must not be used afterwards.
func (b *Builder) Compile() (*Code, bool) {
	if !Possible() || len(b.stores)+len(b.folds) == 0 {
		return nil, false
	}
	again := b.again()
	c, ok := b.code(false)
	if ok && assists && again.tellsUnderflow() {
		c.canUnderflow(again)
	}
	return c, ok
}

// code makes the code, or what gives the same without arithmetic on denormals.
func (b *Builder) code(gently bool) (*Code, bool) {
	again, inverts := b.again(), true
	m := b.machineCode(inverts, gently)
	if m == nil { // there may be too few registers for reciprocals
		inverts = false
		m = b.machineCode(inverts, gently)
	}
	if m == nil {
		return nil, false
	}
	far := again.appendFar(m, inverts, gently)
	memory, cleanup := executable(m.bytes)
	if memory == nil {
		return nil, false
	}
	c := &Code{memory: memory, Lane: m.lane, Lanes: m.lanes, Masked: m.masked, Overlaps: m.overlaps, Memory: b.frame() + m.spills*slotBytes, slots: b.slots, far: far}
	c.Most = max(64, mostInstructions/max(1, m.instructions)) * m.lanes
	runtime.AddCleanup(c, cleanup, memory)
	return c, true
}

// machineCode is the loop, or nil if there is none in this way.
func (b *Builder) machineCode(inverts, gently bool) *machineCode {
	e, err := expand(b, inverts, gently)
	if err != nil {
		return nil
	}
	return assemble(e)
}

// Run computes bundles of rows of n elements each. Slots are the pointers to what belongs to the first row. Strides are how many bytes further the next one's
// are, of each slot, and then how many bytes more those of the next bundle's first row. Memory is for the code's own use, and so are the slots from then on.
func (c *Code) Run(bundles, rows, n int, slots []unsafe.Pointer, strides []int64, memory []byte) {
	switch {
	case c.gentle == nil:
		enter(c.arguments(bundles, rows, n, slots, strides, memory))
	case c.met.Load() != 0:
		c.runGently(bundles, rows, n, slots, strides, memory)
	case enterAndTell(c.arguments(bundles, rows, n, slots, strides, memory)):
		c.meets(bundles, rows, n, slots, strides)
	}
	runtime.KeepAlive(c) // or its memory would be given back
}

// RunAgain is Run for calls that do the same each time. It leaves the slots as they are, and has room for as many. The memory is of zeros at first, and nothing else
// writes to it.
func (c *Code) RunAgain(bundles, rows, n int, slots, room []unsafe.Pointer, strides []int64, memory []byte) {
	frame := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(memory))), c.Memory/8)
	if frame[frameBundle/8] == 0 || c.met.Load() != 0 {
		copy(room, slots)
		c.Run(bundles, rows, n, room, strides, memory)
		c.arguments(bundles, rows, n, slots, strides, memory) // where pieces may have had theirs
		return
	}
	frame[frameRows/8], frame[frameBundles/8] = int64(rows), int64(bundles) // which the code counts down
	code, first, space := unsafe.Pointer(&c.memory[0]), unsafe.Pointer(unsafe.SliceData(slots)), unsafe.Pointer(unsafe.SliceData(memory))
	if c.gentle == nil {
		enter(code, first, space, n/c.Lanes*c.Lanes)
	} else if enterAndTell(code, first, space, n/c.Lanes*c.Lanes) {
		c.meets(bundles, rows, n, slots, strides)
	}
	runtime.KeepAlive(c)
}

// arguments are those of enter.
func (c *Code) arguments(bundles, rows, n int, slots []unsafe.Pointer, strides []int64, memory []byte) (code, first, space unsafe.Pointer, elements int) {
	whole := n / c.Lanes * c.Lanes
	frame := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(memory))), c.Memory/8)
	frame[frameRows/8], frame[frameTail/8] = int64(rows), 1<<(n-whole)-1
	if c.Overlaps {
		frame[frameTail/8] = int64(whole)
		if whole < n {
			frame[frameTail/8] = int64(n - c.Lanes)
		}
	}
	frame[framePairs/8] = 1<<(2*(n-whole)) - 1
	frame[frameBundles/8], frame[frameBundle/8] = int64(bundles), int64(rows)
	copy(frame[frameStrides/8:], strides[:2*c.slots])
	if c.takesFar(bundles, rows, slots, strides) {
		code = unsafe.Pointer(&c.memory[c.far.at])
	} else {
		code = unsafe.Pointer(&c.memory[0])
	}
	return code, unsafe.Pointer(unsafe.SliceData(slots)), unsafe.Pointer(unsafe.SliceData(memory)), whole
}

// What is where in the memory of a call: the rows of a bundle still to come, the mask of a row's last elements, or where the vector of them begins, the bundles still to come, the rows of
// each, the mask of the last elements' parts, the distances between rows and what bundles add to them, the pointers for which there is no register, and then registers that are spilled.
const (
	frameRows    = 0
	frameTail    = 8
	frameBundles = 16
	frameBundle  = 24
	framePairs   = 32
	frameStrides = 40
)

// framePointers is where the pointers without register are.
func (b *Builder) framePointers() int { return frameStrides + 16*b.slots }

// frame is the size of the memory but for spilled registers.
func (b *Builder) frame() int {
	return (b.framePointers() + 8*max(0, b.slots-len(pointers)) + slotBytes - 1) / slotBytes * slotBytes
}
