package main

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	if os.Getenv("THPX") == "" {
		return
	}
	b := make([]byte, 3<<30)
	p := uintptr(unsafe.Pointer(&b[0])) &^ (64<<20 - 1)
	_, _, e := unix.Syscall(unix.SYS_MADVISE, p, 3<<30, 14)
	println("madvise", e, p)
	b = nil
	runtime.GC()
}
