//go:build !amd64

package gemm

func vectorQuads(*Quads) {}

// moveSigns belongs to kernels that begin sums, of which there is none for this processor.
func moveSigns(_ int, _ []int32, _ int, _, _ uint32, _ []int32) {}

func quadsOfRuns(_ []int32, _ []byte, _ []int, _, _, _ int) bool { return false }
