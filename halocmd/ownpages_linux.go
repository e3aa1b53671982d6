package halocmd

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetPages gives back the pages of files that are mapped for reading, which is the program itself first of all. Starting touches its tables,
// grammars and command line once, the system brings in sixteen pages around each place that is touched, and beside a text of a few
// megabytes that would be half of the memory that counts as used. What is needed again comes back from the system's cache.
//
// A mapping that has pages of its own is left alone: what the loader has relocated is not in the file.
func forgetPages() {
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	var begin, end uint64 // of the mapping at hand, 0 when it is none of these
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		f := strings.Fields(lines.Text())
		switch {
		case len(f) == 0:
		case !strings.HasSuffix(f[0], ":"): // address range, permissions, offset, device, inode, path
			begin, end = 0, 0
			if len(f) < 6 || f[5][0] != '/' || strings.Contains(f[1], "w") {
				continue
			}
			from, to, _ := strings.Cut(f[0], "-")
			begin, _ = strconv.ParseUint(from, 16, 64)
			end, _ = strconv.ParseUint(to, 16, 64)
		case f[0] == "Anonymous:" && begin < end && len(f) > 1 && f[1] == "0":
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
		}
	}
}
