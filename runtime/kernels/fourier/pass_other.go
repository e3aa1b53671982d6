//go:build !amd64

package fourier

func best[T Float]() vectors[T] { return portable[T]() }

func narrow[T Float]() vectors[T] { return portable[T]() }
