//go:build !amd64

package square

const hasVectors, hasIntegers, hasWide = false, false, false

func whole(dst, src *byte, dstStride, srcStride, rows, cols uintptr, width, k int) {
	panic("square: no vectors")
}

func rows32(_, _ *byte, _ *[8]int, _, _, _ uintptr) { panic("square: no vectors") }

func rowsBF16AVX2(_, _ *byte, _ *[8]int, _, _, _ uintptr) { panic("square: no vectors") }

func wideRows32(_, _ *byte, _ *[wideSide]int, _, _ uintptr, _ uint16) { panic("square: no vectors") }

func wideRowsBF16(_, _ *byte, _ *[wideSide]int, _, _ uintptr, _ uint16) { panic("square: no vectors") }
