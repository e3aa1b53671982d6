package native

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Code is a loop that can be called, by any number of goroutines at once.
type Code struct {
	memory []byte
	// Lanes is the number of elements that are computed at once: a call is for a multiple of it.
	Lanes int
	// Most is the number of elements up to which a call takes so little time that the garbage collector need not wait for it.
	Most int
	// Spills is the number of bytes of memory that a call needs.
	Spills int
}

// mostInstructions is about how many vector instructions run before the code returns: a tenth of a millisecond of work.
const mostInstructions = 1 << 18

var disabled atomic.Bool

// Disable makes Compile refuse, and returns what undoes that. It is for tests.
func Disable() (restore func()) {
	before := disabled.Swap(true)
	return func() { disabled.Store(before) }
}

// Compile makes the code, unless an op has no recipe, the widths of lanes differ, or the system has no memory that can be executed. The builder
// must not be used afterwards.
func (b *Builder) Compile() (*Code, bool) {
	if disabled.Load() || len(b.stores) == 0 {
		return nil, false
	}
	e, err := expand(b)
	if err != nil {
		return nil, false
	}
	m := assemble(e)
	memory, cleanup := executable(m.bytes)
	if memory == nil {
		return nil, false
	}
	c := &Code{memory: memory, Lanes: m.lanes, Spills: m.spills * slotBytes}
	c.Most = max(64, mostInstructions/max(1, m.instructions)) * m.lanes
	runtime.AddCleanup(c, cleanup, memory)
	return c, true
}

// Run computes n elements, a multiple of Lanes, not 0. Slots are the pointers; spills is memory for the code's own use.
func (c *Code) Run(n int, slots []unsafe.Pointer, spills []byte) {
	enter(unsafe.Pointer(&c.memory[0]), unsafe.Pointer(unsafe.SliceData(slots)), unsafe.Pointer(unsafe.SliceData(spills)), n)
	runtime.KeepAlive(c) // or its memory would be given back
}
