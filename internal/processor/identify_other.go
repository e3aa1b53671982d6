//go:build !amd64

package processor

// identify knows nothing of other architectures.
func identify(uint32) (eax, ebx uint32) { return 0, 0 }
