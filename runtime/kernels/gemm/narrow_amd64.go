package gemm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// decodesRuns says that decodeRuns is assembly.
var decodesRuns = cpu.X86.HasAVX512F || cpu.X86.HasAVX2 && cpu.X86.HasFMA // as the kernels that take panels of so many columns

// decodeRuns packs n rows of bf16 that are neighbours in memory, the last panel of which may not be full.
func decodeRuns(dst []float32, src []uint16, ks []int, r, n int) bool {
	if !decodesPanels(r) || len(ks) == 0 || n == 0 {
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
		if whole > 0 {
			_ = to[(whole-1)*panel:][:even*r]
			decodePanels(even, whole, bytesOf(from), 2*stride, bytesOf(to), 4*panel, r)
		}
		if rest := n - whole*r; rest > 0 {
			decodeRest(even, from[whole*r:], stride, words(to[whole*panel:][:even*r]), rest, r)
		}
	}
	return true
}

// decodesPanels reports whether decodePanels takes panels of r columns.
func decodesPanels(r int) bool {
	if cpu.X86.HasAVX512F {
		return r <= 32
	}
	return cpu.X86.HasAVX2 && (r == 4 || r == 6 || r == 16)
}

// decodePanels decodes k runs of whole panels of r columns. All distances are in bytes.
func decodePanels(k, panels int, src *byte, stride int, dst *byte, panel, r int) {
	switch {
	case cpu.X86.HasAVX512F:
		all := uint32(1<<r - 1)
		runsBF16AVX512(k, panels, src, stride, 2*r, dst, panel, 4*r, all, all)
	case r == 4:
		runsBF16By4AVX2(k, panels, src, stride, dst, panel)
	case r == 6:
		runsBF16By6AVX2(k, panels, src, stride, dst, panel)
	default:
		runsBF16By16AVX2(k, panels, src, stride, dst, panel)
	}
}

// decodeRest decodes k runs of n columns, stride apart, to a panel of r, which is filled up with zeros.
func decodeRest(k int, from []uint16, stride int, to []uint32, n, r int) {
	if cpu.X86.HasAVX512F {
		runsBF16AVX512(k, 1, bytesOf(from), 2*stride, 0, bytesOf(to), 0, 4*r, 1<<n-1, uint32(1<<r-1))
		return
	}
	decodeLines(k, from, stride, to, n, r)
}

func bytesOf[T any](x []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(x))) }
