//go:build !amd64

package gemm

// vectorRuns reports that there is no assembly for this processor.
func vectorRuns[T Number](_, _ []T, _ []int, _, _ int) bool { return false }
