//go:build !amd64

package gemm

// vectorLines is nil: there is no assembly for this processor.
func vectorLines[T Number]() Lines[T] { return nil }
