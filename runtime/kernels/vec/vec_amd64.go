package vec

import "golang.org/x/sys/cpu"

//go:generate go run ./gen

// Best is the highest level that this processor has.
func Best() Level {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasBMI2 && x.HasFMA:
		return AVX512
	case x.HasAVX2 && x.HasFMA && x.HasBMI2:
		return AVX2
	}
	return Portable
}

func find(l Level, name string) kernel {
	switch l {
	case AVX512:
		return avx512()[name]
	case AVX2:
		return avx2()[name]
	}
	return kernel{}
}
