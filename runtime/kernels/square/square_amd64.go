package square

import (
	"golang.org/x/sys/cpu"
)

//go:generate go run ./gen

var (
	hasVectors  = cpu.X86.HasAVX
	hasIntegers = cpu.X86.HasAVX2 // in such vectors
	hasWide     = cpu.X86.HasAVX512F
)

// whole transposes whole squares of k elements of width bytes along each side.
func whole(dst, src *byte, dstStride, srcStride, rows, cols uintptr, width, k int) {
	switch width {
	case 1:
		transpose8(dst, src, dstStride, srcStride, rows, cols)
	case 2:
		transpose16(dst, src, dstStride, srcStride, rows, cols)
	case 4:
		transpose32(dst, src, dstStride, srcStride, rows, cols)
	case 8:
		if k == 8 {
			wide64(dst, src, dstStride, srcStride, rows, cols)
			return
		}
		transpose64(dst, src, dstStride, srcStride, rows, cols)
	}
}
