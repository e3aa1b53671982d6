package halocmd

import (
	"bytes"
	"os"
	goruntime "runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// warmHeap is how much of the heap is mapped in advance at most, and warmCompiler how much where a program is compiled: the work on one of usual
// size takes less.
const (
	warmHeap     = 2 << 20
	warmCompiler = 8 << 20
	hugePage     = 2 << 20
)

// warm has another core map the pages of the program's code, and those that the heap will grow into. A process that lives for a few
// milliseconds else spends a quarter of them on touching pages for the first time, four kilobytes after four.
func warm() {
	if goruntime.NumCPU() > 1 {
		go mapPages(func(m mapping) {
			if m.isCode {
				advise(m.from, m.to, unix.MADV_POPULATE_READ)
			} else {
				advise(m.heap, min(m.to, m.heap+warmHeap), unix.MADV_POPULATE_WRITE)
			}
		})
	}
}

// warmMore maps what the heap has grown to, and is soon full of; what is whole is one large page.
func warmMore() {
	mapPages(func(m mapping) {
		if to := min(m.to, m.from+warmCompiler); !m.isCode {
			if huge := (m.heap + hugePage - 1) &^ (hugePage - 1); huge < to {
				advise(huge, to, unix.MADV_HUGEPAGE)
			}
			advise(m.from, to, unix.MADV_POPULATE_WRITE)
		}
	})
}

// mapping is one of the process: of code, or the one of the heap in which heap is the page of a young object.
type mapping struct {
	from, to, heap uint64
	isCode         bool
}

// mapPages calls do with the mappings of code and with that of the heap.
func mapPages(do func(mapping)) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	heap := uint64(uintptr(unsafe.Pointer(&maps[0]))) &^ (1<<12 - 1)
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
			do(mapping{from: from, to: to, isCode: true})
		case string(fields[1]) == "rw-p" && from <= heap && heap < to:
			do(mapping{from: from, to: to, heap: heap})
		}
	}
}

// advise advises the system about a range of addresses. A kernel that cannot do that leaves it as it is.
func advise(from, to uint64, how int) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), uintptr(how))
}
