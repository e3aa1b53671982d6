package vec

import (
	"sync"

	"golang.org/x/sys/cpu"
)

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

// The loops of a level by their names, once one is looked for.
var (
	avx512 = sync.OnceValue(func() map[Name]kernel { return byName(levelLoops(AVX512)) })
	avx2   = sync.OnceValue(func() map[Name]kernel { return byName(levelLoops(AVX2)) })
)

func find(l Level, name Name) kernel {
	switch l {
	case AVX512:
		return avx512()[name]
	case AVX2:
		return avx2()[name]
	}
	return kernel{}
}

// levelLoops is the table of a level.
func levelLoops(l Level) []row {
	switch l {
	case AVX512:
		return avx512Loops[:]
	case AVX2:
		return avx2Loops[:]
	}
	return nil
}
