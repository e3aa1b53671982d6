package budget

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Total is the number of bytes that this process may use: the size of the machine's memory, or the limit of its control group where that
// is less, as in a container. It is 0 if it is not known. The system is asked once.
func Total() int64 { return total() }

var total = sync.OnceValue(func() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := int64(info.Totalram) * int64(info.Unit)
	if group := groupLimit(); group > 0 {
		total = min(total, group)
	}
	return total
})

// page has room for a file of numbers, as the system writes it for who asks.
type page [4096]byte

// read returns the beginning of a file of the system, or nothing. Nobody waits for such a file: with the calls of package os, which prepare for that, asking takes more than
// twice as long.
func (p *page) read(path string) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, p[:])
	if err != nil {
		return nil
	}
	return p[:n]
}

// groupLimit is the limit of the control group, or 0.
func groupLimit() int64 {
	var p page
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} { // version 2, version 1
		// A group without a limit says "max", or a number that no machine has.
		if limit, err := strconv.ParseInt(string(bytes.TrimSpace(p.read(file))), 10, 64); err == nil && limit > 0 {
			return limit
		}
	}
	return 0
}

func measure() machine {
	m := machine{left: math.MaxInt64, addressSpace: math.MaxInt64}
	size, resident := pages()
	if available := meminfo("MemAvailable:"); available > 0 {
		m.known, m.left = true, available
	} else if total := Total(); total > 0 {
		m.known, m.left = true, total-resident
	}
	if group := groupLimit(); group > 0 {
		m.known, m.left = true, min(m.left, group-resident)
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) == nil && limit.Cur < math.MaxInt64 {
		m.known, m.addressSpace = true, int64(limit.Cur)-size-threads
	}
	return m
}

// threads is address space for stacks of threads to come, and for the collector.
const threads = 256 << 20

// AddressSpace is the limit of the process's address space, or 0.
func AddressSpace() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur >= math.MaxInt64 {
		return 0
	}
	return int64(limit.Cur)
}

// pages are the bytes that the process has mapped and those in memory.
func pages() (size, resident int64) {
	var p page
	fields := strings.Fields(string(p.read("/proc/self/statm")))
	if len(fields) < 2 {
		return 0, 0
	}
	a, _ := strconv.ParseInt(fields[0], 10, 64)
	b, _ := strconv.ParseInt(fields[1], 10, 64)
	size = int64(os.Getpagesize())
	return a * size, b * size
}

// meminfo is a number of /proc/meminfo in bytes, or 0.
func meminfo(key string) int64 {
	var p page
	for line := range strings.Lines(string(p.read("/proc/meminfo"))) {
		if value, ok := strings.CutPrefix(line, key); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}
