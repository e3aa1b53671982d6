package scalar

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// enter runs the code of a native program from an entry on, and returns the instruction of the program that is next.
//
//go:noescape
func enter(code, entry, registers, places unsafe.Pointer, rounds int64) (next int64)

// hasNative says whether this processor has what the code uses: floats with three operands, and shifts by any register.
var hasNative = cpu.X86.HasAVX2 && cpu.X86.HasBMI2

// makeNative translates p, unless the system does not let its users run what they write.
func (p *Program) makeNative() {
	if !hasNative {
		return
	}
	code, entries := translate(p)
	memory, err := unix.Mmap(-1, 0, len(code), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return
	}
	copy(memory, code)
	if unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC) != nil {
		_ = unix.Munmap(memory)
		return
	}
	p.native = &native{memory: memory, entries: entries, rounds: int64(max(16, min(rounds, mostInstructions/len(p.code))))}
	runtime.AddCleanup(p, func(memory []byte) { _ = unix.Munmap(memory) }, memory)
}
