//go:build !amd64

package gemm

// ReadsFarRows has no kernel to speak of.
func ReadsFarRows() bool { return false }
