package pages

import "golang.org/x/sys/unix"

// enlarge asks for large pages, a whole number of which are n bytes from an address. A system that gives them to nobody, or to everybody, does as it does.
func enlarge(from, n uintptr) { _, _, _ = unix.Syscall(unix.SYS_MADVISE, from, n, unix.MADV_HUGEPAGE) }

// populate touches n bytes from an address, and changes nothing of what they hold. Memory that the system cannot touch so is touched when it is needed.
func populate(from, n uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, n, unix.MADV_POPULATE_WRITE)
}
