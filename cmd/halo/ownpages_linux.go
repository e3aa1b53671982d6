package main

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetPages gives back the pages of files that are mapped for reading, which is the program itself first of all. Starting touches its tables,
// grammars and command line once, the system brings in sixteen pages around each place that is touched, and beside a text of a few
// megabytes that would be half of the memory that counts as used. What is needed again comes back from the system's cache.
func forgetPages() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line) // address range, permissions, offset, device, inode, path
		if len(f) < 6 || f[5][0] != '/' || strings.Contains(f[1], "w") {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		begin, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
		}
	}
}
