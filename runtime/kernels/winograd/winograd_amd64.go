package winograd

import "golang.org/x/sys/cpu"

//go:generate go run ./gen

// Has reports whether there are loops for this processor.
func Has() bool { return cpu.X86.HasAVX2 }

// hasWide says that vectors of 512 bits are used for lines that are made of them.
var hasWide = cpu.X86.HasAVX512F

// loops are forms of a loop for vectors of 512 and of 256 bits.
type loops[F any] struct{ wide, narrow F }

type transforms = loops[func(count, vectors int, src *float32, srcRow, srcColumn, srcNext int, dst *float32, dstRow, dstColumn, dstNext int)]

var (
	patches   = transforms{patchesAVX512, patchesAVX2}
	filters   = transforms{filtersAVX512, filtersAVX2}
	sums      = transforms{sumsAVX512, sumsAVX2}
	gradients = transforms{gradientsAVX512, gradientsAVX2}
	weights   = transforms{weightsAVX512, weightsAVX2}
	largest   = loops[func(count, vectors int, src *float32, dst *uint32)]{largestAVX512, largestAVX2}
)

// of is the form for lines of n elements, and how many a vector has.
func (l loops[F]) of(n int) (loop F, lanes int) {
	if hasWide && n%16 == 0 {
		return l.wide, 16
	}
	return l.narrow, 8
}
