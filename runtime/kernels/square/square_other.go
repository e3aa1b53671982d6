//go:build !amd64

package square

const hasVectors = false

func whole(dst, src *byte, dstStride, srcStride, rows, cols uintptr, width int) {
	panic("square: no vectors")
}
