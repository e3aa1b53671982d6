package runtime

import "golang.org/x/sys/unix"

// PhysicalMemory returns the size of the machine's memory in bytes, or 0 if it is not known.
func PhysicalMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
