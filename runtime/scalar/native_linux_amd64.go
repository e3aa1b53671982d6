package scalar

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// enter runs the code of a native program from an entry on, and returns the instruction of the program that is next, and the flags of
// floating point, in which those of denormals are of this run and others may be older.
//
//go:noescape
func enter(code, entry, registers, places unsafe.Pointer, rounds int64) (next int64, raised uint32)

// hasNative says whether this processor has what the code uses: floats with three operands, and shifts by any register.
var hasNative = cpu.X86.HasAVX2 && cpu.X86.HasBMI2

// makeNative makes p ready to be translated.
func (p *Program) makeNative() {
	if !hasNative {
		return
	}
	plain := sync.OnceValue(func() machineCode {
		c, _ := mapped(p, false)
		return c
	})
	p.native = &native{plain: plain, rounds: int64(max(16, min(rounds, mostInstructions/len(p.code))))}
	p.native.gentle = sync.OnceValue(func() machineCode {
		if c, ok := mapped(p, true); ok {
			return c
		}
		return plain()
	})
}

// mapped is one translation of p in memory that can be executed, for as long as p lives.
func mapped(p *Program, gentle bool) (c machineCode, ok bool) {
	code, entries := translate(p, gentle)
	memory, err := unix.Mmap(-1, 0, len(code), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return c, false
	}
	copy(memory, code)
	if unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC) != nil {
		_ = unix.Munmap(memory)
		return c, false
	}
	runtime.AddCleanup(p, func(memory []byte) { _ = unix.Munmap(memory) }, memory)
	return machineCode{memory, entries}, true
}
