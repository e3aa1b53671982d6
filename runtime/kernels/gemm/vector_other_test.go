//go:build !amd64

package gemm

func vectors32() map[string]Vector[float32] {
	return map[string]Vector[float32]{"portable": VectorFor[float32]()}
}

func vectors64() map[string]Vector[float64] {
	return map[string]Vector[float64]{"portable": VectorFor[float64]()}
}
