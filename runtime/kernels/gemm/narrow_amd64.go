package gemm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// decodesRuns says that decodeRuns is assembly.
var decodesRuns = cpu.X86.HasAVX512F

// decodeRuns packs n rows of bf16 that are neighbours in memory, the last panel of which may not be full.
func decodeRuns(dst []float32, src []uint16, ks []int, r, n int) bool {
	if !decodesRuns || r > 32 || len(ks) == 0 || n == 0 {
		return false
	}
	even := 1 // how many runs, from one on, are as far apart as the first two
	for k := 0; k < len(ks); k += even {
		stride := 0
		even = 1
		if k+1 < len(ks) && ks[k+1] >= ks[k] {
			stride = ks[k+1] - ks[k]
			for k+even < len(ks) && ks[k+even] == ks[k]+even*stride {
				even++
			}
		}
		from, to := src[ks[k]:][:(even-1)*stride+n], dst[k*r:]
		panel := len(ks) * r
		whole := n / r
		all := uint32(1<<r - 1)
		if whole > 0 {
			_ = to[(whole-1)*panel:][:even*r]
			runsBF16AVX512(even, whole, bytesOf(from), 2*stride, 2*r, bytesOf(to), 4*panel, 4*r, all, all)
		}
		if rest := n - whole*r; rest > 0 {
			to = to[whole*panel:][:even*r]
			runsBF16AVX512(even, 1, bytesOf(from[whole*r:]), 2*stride, 0, bytesOf(to), 0, 4*r, 1<<rest-1, all)
		}
	}
	return true
}

func bytesOf[T any](x []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(x))) }
