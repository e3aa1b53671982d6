//go:build !amd64

package gemm

// vectorKernel leaves g as it is: there is no assembly for this processor.
func vectorKernel[T Number](*Kernel[T]) {}

func smallerKernels[T Number]() []Kernel[T] { return nil }

func vectorPairs(*Kernel[int32]) {}
