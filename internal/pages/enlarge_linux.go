package pages

import "golang.org/x/sys/unix"

// enlarge asks for large pages, of which b is a whole number. A system that gives them to nobody, or to everybody, does as it does.
func enlarge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
