package native

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// enter calls the code.
//
//go:noescape
func enter(code, slots, spills unsafe.Pointer, n int)

// enterAndTell calls the code, and reports whether since the last time it did so, on this thread, a result has been too small to be exact.
//
//go:noescape
func enterAndTell(code, slots, spills unsafe.Pointer, n int) (underflow bool)

// executable is memory with the code, and what gives it back; or nil, if the system does not let its users run what they write.
func executable(code []byte) (memory []byte, free func([]byte)) {
	memory, err := unix.Mmap(-1, 0, len(code), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil
	}
	copy(memory, code)
	if unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC) != nil {
		_ = unix.Munmap(memory)
		return nil, nil
	}
	return memory, func(memory []byte) { _ = unix.Munmap(memory) }
}
