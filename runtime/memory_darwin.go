package runtime

import "golang.org/x/sys/unix"

// PhysicalMemory returns the size of the machine's memory in bytes, or 0 if it is not known.
func PhysicalMemory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}
