package arrays

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/gohalo/halo/hlo"
)

//go:generate go run ./gen

var hasVector = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL

// vectorRun bounds what one call of assembly does, since the scheduler cannot interrupt it: some ten microseconds.
const vectorRun = 1 << 14

// vector makes as many of the draws that data is for as fill vectors, and returns their number. Draw number from is the first.
func (r *fillRule) vector(data []byte, from int) (done int) {
	if !hasVector || r.onlyReal || r.part != hlo.F64 && r.part != hlo.F32 && r.part != hlo.BF16 {
		return 0
	}
	w := r.part.ByteSize()
	n := len(data) / w &^ 7
	for ; done < n; done += vectorRun {
		count, state, dst := min(n-done, vectorRun), r.base+uint64(from+done)+golden, unsafe.Pointer(&data[done*w])
		switch times := r.times * 0x1p-24; r.part {
		case hlo.F64:
			fillF64AVX512((*float64)(dst), count, state, times, r.plus, r.scale)
		case hlo.F32:
			fillF32AVX512((*float32)(dst), count, state, times, r.plus, r.scale)
		case hlo.BF16:
			fillBF16AVX512((*uint16)(dst), count, state, times, r.plus, r.scale)
		}
	}
	return n
}
