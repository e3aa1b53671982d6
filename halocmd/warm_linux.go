package halocmd

import (
	"bytes"
	"os"
	goruntime "runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// warmHeap is how much of the heap is mapped in advance at most. The work on a program of usual size takes less.
const warmHeap = 2 << 20

// warm has another core map the pages of the program's code, and those that the heap will grow into. A process that lives for a few
// milliseconds else spends a quarter of them on touching pages for the first time, four kilobytes after four.
func warm() {
	if goruntime.NumCPU() == 1 {
		return
	}
	go func() {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			return
		}
		heap := uint64(uintptr(unsafe.Pointer(&maps[0])))
		for line := range bytes.Lines(maps) {
			fields := bytes.Fields(line)
			if len(fields) < 5 {
				continue
			}
			low, high, _ := bytes.Cut(fields[0], []byte("-"))
			from, err := strconv.ParseUint(string(low), 16, 64)
			to, err2 := strconv.ParseUint(string(high), 16, 64)
			switch {
			case err != nil || err2 != nil:
			case string(fields[1]) == "r-xp" && len(fields) > 5 && fields[5][0] == '/':
				populate(from, to, unix.MADV_POPULATE_READ)
			case string(fields[1]) == "rw-p" && from <= heap && heap < to:
				heap &^= 1<<12 - 1
				populate(heap, min(to, heap+warmHeap), unix.MADV_POPULATE_WRITE)
			}
		}
	}()
}

// populate maps a range of addresses. A kernel that cannot do that leaves it as it is.
func populate(from, to uint64, how int) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), uintptr(how))
}
