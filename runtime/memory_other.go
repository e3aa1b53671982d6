//go:build !linux && !darwin

package runtime

// PhysicalMemory returns the size of the machine's memory in bytes, or 0 if it is not known.
func PhysicalMemory() int64 { return 0 }
