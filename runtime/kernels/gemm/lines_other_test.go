//go:build !amd64

package gemm

func lines32() map[string]Lines[float32] {
	return map[string]Lines[float32]{"portable": lines[float32]}
}

func lines64() map[string]Lines[float64] {
	return map[string]Lines[float64]{"portable": lines[float64]}
}
