package gemm

// For is the best kernel for T on this processor.
func For[T Number]() Kernel[T] {
	g := portable[T]()
	vectorKernel(&g)
	return g
}

// portable is the kernel for any processor.
func portable[T Number]() Kernel[T] { return Kernel[T]{MR: 2, NR: 4, Run: run2x4[T]} }

// run2x4 keeps eight sums in registers; with more of them amd64 spills.
func run2x4[T Number](k int, a, b []T, c []T, ldc int, add bool) {
	var c00, c01, c02, c03, c10, c11, c12, c13 T
	a, b = a[:2*k], b[:4*k]
	for len(a) >= 4 && len(b) >= 8 {
		a0, a1 := a[0], a[1]
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		c00 += a0 * b0
		c10 += a1 * b0
		c01 += a0 * b1
		c11 += a1 * b1
		c02 += a0 * b2
		c12 += a1 * b2
		c03 += a0 * b3
		c13 += a1 * b3
		a0, a1 = a[2], a[3]
		b0, b1, b2, b3 = b[4], b[5], b[6], b[7]
		c00 += a0 * b0
		c10 += a1 * b0
		c01 += a0 * b1
		c11 += a1 * b1
		c02 += a0 * b2
		c12 += a1 * b2
		c03 += a0 * b3
		c13 += a1 * b3
		a, b = a[4:], b[8:]
	}
	if len(a) >= 2 && len(b) >= 4 {
		a0, a1 := a[0], a[1]
		c00 += a0 * b[0]
		c10 += a1 * b[0]
		c01 += a0 * b[1]
		c11 += a1 * b[1]
		c02 += a0 * b[2]
		c12 += a1 * b[2]
		c03 += a0 * b[3]
		c13 += a1 * b[3]
	}
	r0, r1 := c[:4:4], c[ldc:][:4:4]
	if add {
		r0[0] += c00
		r0[1] += c01
		r0[2] += c02
		r0[3] += c03
		r1[0] += c10
		r1[1] += c11
		r1[2] += c12
		r1[3] += c13
		return
	}
	r0[0], r0[1], r0[2], r0[3] = c00, c01, c02, c03
	r1[0], r1[1], r1[2], r1[3] = c10, c11, c12, c13
}
