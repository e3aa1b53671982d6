package fourier

// chirp transforms lines of any length n by Bluestein's way: since 2jk = j² + k² - (k-j)², a transform is a product with a chirp, a convolution with
// another, and a product again. The convolution is done by transforms of a length of at least 2n-1 that has small factors.
type chirp[T Float] struct {
	inner  *Plan[T]
	turns  []T // exp(-πi j²/n)
	kernel []T // the transform of the conjugates, over the length of inner
}

// maxChirp is the longest line that is transformed so.
const maxChirp = 1 << 15

func newChirp[T Float](n int, v vectors[T]) *chirp[T] {
	m := 2*n - 1
	for !isSmooth(m) {
		m++
	}
	inner, _ := newPlan(m, v)
	c := &chirp[T]{inner: inner, kernel: make([]T, 2*m)}
	for j := range n {
		c.turns = appendRoot(c.turns, j*j%(2*n), 2*n)
	}
	// The kernel is symmetric around 0. It is transformed in the first of the lanes.
	a, b := make([]T, inner.Len()), make([]T, inner.Len())
	put := func(at, j int) { a[2*v.lanes*at], a[2*v.lanes*at+1] = c.turns[2*j], -c.turns[2*j+1] }
	for j := range n {
		put(j, j)
		if j > 0 {
			put(m-j, j)
		}
	}
	y := inner.Transform(a, b)
	for k := range m {
		c.kernel[2*k], c.kernel[2*k+1] = y[2*v.lanes*k]/T(m), y[2*v.lanes*k+1]/T(m)
	}
	return c
}

// isSmooth reports whether n has small factors only, for which there is assembly.
func isSmooth(n int) bool {
	for _, r := range []int{2, 3, 5} {
		for n%r == 0 {
			n /= r
		}
	}
	return n == 1
}

// transform is [Plan.Transform].
func (c *chirp[T]) transform(a, b []T) []T {
	m, n, row := c.inner.n, len(c.turns)/2, 2*c.inner.lanes
	turn(a, a, c.turns, row)
	clear(a[n*row:])
	y := c.inner.Transform(a, b)
	turn(y, y, c.kernel, row)
	spare := b
	if &y[0] == &b[0] {
		spare = a
	}
	z := c.inner.Transform(y, spare)
	to := a
	if &z[0] == &a[0] {
		to = b
	}
	// The inverse transform is the transform in another order.
	turn(to[:row], z[:row], c.turns[:2], row)
	for k := 1; k < n; k++ {
		turn(to[k*row:][:row], z[(m-k)*row:][:row], c.turns[2*k:][:2], row)
	}
	return to
}

// turn multiplies rows of numbers by one number each.
func turn[T Float](dst, src, by []T, row int) {
	for len(by) > 0 {
		c, s := by[0], by[1]
		d, x := dst[:row], src[:row]
		for i := 0; i+1 < len(x) && i+1 < len(d); i += 2 {
			re, im := x[i], x[i+1]
			d[i], d[i+1] = re*c-im*s, re*s+im*c
		}
		if by = by[2:]; len(by) > 0 {
			dst, src = dst[row:], src[row:]
		}
	}
}
