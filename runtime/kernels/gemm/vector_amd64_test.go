package gemm

import "golang.org/x/sys/cpu"

func vectors32() map[string]Vector[float32] {
	m := map[string]Vector[float32]{"portable": {inner[float32], combine[float32]}, "best": VectorFor[float32]()}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		m["avx2"] = assembly[float32]{inner1F32AVX2, inner4F32AVX2, combine1F32AVX2, combine4F32AVX2, combine8F32AVX2}.vector()
	}
	return m
}

func vectors64() map[string]Vector[float64] {
	m := map[string]Vector[float64]{"portable": {inner[float64], combine[float64]}, "best": VectorFor[float64]()}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		m["avx2"] = assembly[float64]{inner1F64AVX2, inner4F64AVX2, combine1F64AVX2, combine4F64AVX2, combine8F64AVX2}.vector()
	}
	return m
}
