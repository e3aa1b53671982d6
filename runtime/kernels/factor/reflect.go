package factor

// reflectLoop reflects n elements of three rows, a multiple of lanes.
type reflectLoop func(c *reflection, n int, x, y, z []float64)

// portableReflect is for any processor.
func portableReflect(c *reflection, n int, x, y, z []float64) {
	x, y, z = x[:n], y[:n], z[:n]
	v1, v2, t0, t1, t2 := c.v1, c.v2, c.t0, c.t1, c.t2
	for i, a := range x {
		sum := a + float64(v1*y[i]) + float64(v2*z[i])
		x[i] = a - float64(sum*t0)
		y[i] -= float64(sum * t1)
		z[i] -= float64(sum * t2)
	}
}
