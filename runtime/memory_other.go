//go:build !linux

package runtime

// physicalMemory returns the size of the machine's memory in bytes, or 0 if it is not known.
func physicalMemory() int64 { return 0 }
