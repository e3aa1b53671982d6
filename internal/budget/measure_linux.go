package budget

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Total is the number of bytes that this process may use: the size of the machine's memory, or the limit of its control group where that
// is less, as in a container. It is 0 if it is not known.
func Total() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := int64(info.Totalram) * int64(info.Unit)
	if group := groupLimit(); group > 0 {
		total = min(total, group)
	}
	return total
}

// groupLimit is the limit of the control group, or 0.
func groupLimit() int64 {
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} { // version 2, version 1
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// A group without a limit says "max", or a number that no machine has.
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 {
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
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0, 0
	}
	a, _ := strconv.ParseInt(fields[0], 10, 64)
	b, _ := strconv.ParseInt(fields[1], 10, 64)
	page := int64(os.Getpagesize())
	return a * page, b * page
}

// meminfo is a number of /proc/meminfo in bytes, or 0.
func meminfo(key string) int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, key); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}
