package gemm

// For is the best kernel for T on this processor.
func For[T Number]() Kernel[T] {
	g := portable[T]()
	vectorKernel(&g)
	return g
}

// Fit is the best kernel for products of m rows and n columns: what little they have may fill the panels of a smaller one better. All
// kernels add in the same order.
func Fit[T Number](m, n int) Kernel[T] {
	best := For[T]()
	for _, smaller := range smallerKernels[T]() {
		if worth*smaller.steps(m, n) < (worth-1)*best.steps(m, n) {
			best = smaller
		}
	}
	return best
}

// OfRows is a kernel with panels of mr rows, if there is one that is not much slower than the best.
func OfRows[T Number](mr int) (Kernel[T], bool) {
	best := For[T]()
	for _, k := range append(smallerKernels[T](), best) {
		if k.MR == mr && k.NR == best.NR {
			return k, true
		}
	}
	return best, false
}

// InPlace is the kernel whose [Kernel.BlockInPlace] can be used, if there is one.
func InPlace[T Number]() (Kernel[T], bool) {
	best := For[T]()
	for _, k := range append(smallerKernels[T](), best) {
		if k.HasInPlace() {
			return k, true
		}
	}
	return best, false
}

// worth is the part of the time that a smaller kernel has to save: it reads more memory for each multiplication.
const worth = 16

// steps is how many vectors are multiplied for each of k.
func (g *Kernel[T]) steps(m, n int) int { return Padded(m, g.MR) * (Padded(n, g.NR) / g.NR) }

// Pairs is the best kernel for elements that are two integers of 16 bits each: the low ones are multiplied with the low ones and the high ones
// with the high ones, and both products are added.
func Pairs() Kernel[int32] {
	g := portablePairs()
	vectorPairs(&g)
	return g
}

// Pair is two integers as one element of [Pairs].
func Pair(lo, hi int16) int32 { return int32(uint16(lo)) | int32(hi)<<16 }

func portablePairs() Kernel[int32] {
	return Kernel[int32]{MR: 2, NR: 4, Run: eachPanel(func(k int, a, b []int32, c []int32, ldc int, add bool) {
		var sums [2][4]int32
		for x := range k {
			for i, p := range a[2*x:][:2] {
				for j, q := range b[4*x:][:4] {
					sums[i][j] += int32(int16(p))*int32(int16(q)) + (p>>16)*(q>>16)
				}
			}
		}
		for i := range sums {
			for j, s := range sums[i] {
				if add {
					s += c[i*ldc+j]
				}
				c[i*ldc+j] = s
			}
		}
	})}
}

// portable is the kernel for any processor.
func portable[T Number]() Kernel[T] { return Kernel[T]{MR: 2, NR: 4, Run: eachPanel(run2x4[T])} }

// eachPanel makes the Run of a kernel from a loop for one panel of two rows.
func eachPanel[T Number](run func(k int, a, b []T, c []T, ldc int, add bool)) func(panels, k int, a, b []T, c []T, ldc int, add bool, next Ahead[T]) {
	return func(panels, k int, a, b []T, c []T, ldc int, add bool, _ Ahead[T]) {
		for i := range panels {
			run(k, a[2*i*k:], b, c[2*i*ldc:], ldc, add)
		}
	}
}

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
