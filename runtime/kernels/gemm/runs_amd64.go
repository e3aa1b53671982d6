package gemm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// vectorRuns is packRuns in assembly, if the columns of a panel are two vectors of the processor and the runs are as far apart as one another.
func vectorRuns[T Number](dst, src []T, ks []int, r, n int) bool {
	var zero T
	size := int(unsafe.Sizeof(zero))
	run := runsAVX2
	switch {
	case cpu.X86.HasAVX512F && r*size == 128:
		run = runsAVX512
	case cpu.X86.HasAVX2 && r*size == 64:
	default:
		return false
	}
	stride, ok := evenStride(ks)
	if !ok {
		return false
	}
	from := src[ks[0]:][:(len(ks)-1)*stride+n]
	dst = dst[:len(ks)*n]
	run(len(ks), n/r, (*byte)(unsafe.Pointer(&from[0])), stride*size, (*byte)(unsafe.Pointer(&dst[0])), len(ks)*r*size)
	return true
}

// evenStride is how far apart two or more places are, if each is as far behind the one before.
func evenStride(ks []int) (stride int, ok bool) {
	if len(ks) < 2 || ks[1] < ks[0] {
		return 0, false
	}
	stride = ks[1] - ks[0]
	for i, at := range ks {
		if at != ks[0]+i*stride {
			return 0, false
		}
	}
	return stride, true
}
