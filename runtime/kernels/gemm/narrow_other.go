//go:build !amd64

package gemm

// decodesRuns says that there is no assembly for this processor.
const decodesRuns = false

func decodeRuns(_ []float32, _ []uint16, _ []int, _, _ int) bool { return false }

func decodeRest(k int, from []uint16, stride int, to []uint32, n, r int) {
	decodeLines(k, from, stride, to, n, r)
}
