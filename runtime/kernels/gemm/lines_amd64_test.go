package gemm

import "golang.org/x/sys/cpu"

func lines32() map[string]Lines[float32] {
	m := map[string]Lines[float32]{"portable": lines[float32], "best": LinesFor[float32]()}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		m["avx2"] = lineLoop[float32](linesF32AVX2).lines
	}
	return m
}

func lines64() map[string]Lines[float64] {
	m := map[string]Lines[float64]{"portable": lines[float64], "best": LinesFor[float64]()}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		m["avx2"] = lineLoop[float64](linesF64AVX2).lines
	}
	return m
}
