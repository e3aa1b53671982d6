package factor

import "golang.org/x/sys/cpu"

// bestReflect is the best loop for this processor.
func bestReflect() reflectLoop {
	switch {
	case cpu.X86.HasAVX512F:
		return checkedReflect(reflectAVX512)
	case cpu.X86.HasAVX2:
		return checkedReflect(reflectAVX2)
	}
	return portableReflect
}

// checkedReflect checks what assembly reads and writes before it does.
func checkedReflect(run func(c *float64, n int, x, y, z *float64)) reflectLoop {
	return func(c *reflection, n int, x, y, z []float64) {
		_, _, _ = x[n-1], y[n-1], z[n-1]
		run(&c.v1, n, &x[0], &y[0], &z[0])
	}
}
