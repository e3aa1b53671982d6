package budget

import (
	"math"

	"golang.org/x/sys/unix"
)

// Total is the size of the machine's memory in bytes, or 0 if it is not known.
func Total() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}

// AddressSpace is the limit of the process's address space, or 0.
func AddressSpace() int64 { return 0 }

func measure() machine {
	total := Total()
	return machine{known: total > 0, left: total - readHeap().used, addressSpace: math.MaxInt64}
}
