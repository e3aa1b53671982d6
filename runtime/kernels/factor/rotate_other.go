//go:build !amd64

package factor

func loopsFor[R Float]() rotateLoops[R] { return portableLoops[R]() }
