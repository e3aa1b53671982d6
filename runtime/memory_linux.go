package runtime

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// PhysicalMemory returns the number of bytes that this process may use: the size of the machine's memory, or the limit of its control
// group where that is less, as in a container. It is 0 if it is not known.
func PhysicalMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := int64(info.Totalram) * int64(info.Unit)
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} { // version 2, version 1
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// A group without a limit says "max", or a number that no machine has.
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 {
			total = min(total, limit)
		}
	}
	return total
}
