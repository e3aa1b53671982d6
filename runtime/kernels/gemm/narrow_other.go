//go:build !amd64

package gemm

// decodesRuns says that there is no assembly for this processor.
const decodesRuns = false

func decodeRuns(_ []float32, _ []uint16, _ []int, _, _ int) bool { return false }
