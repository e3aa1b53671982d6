//go:build !amd64

package gemm

// vectorLoops leaves v as it is: there is no assembly for this processor.
func vectorLoops[T Number](*Vector[T]) {}
