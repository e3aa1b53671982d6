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
	turn := c.inner.turn
	turn(a, a, c.turns, false)
	clear(a[n*row:])
	y := c.inner.Transform(a, b)
	turn(y, y, c.kernel, false)
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
	turn(to, z, c.turns[:2], false)
	if n > 1 {
		turn(to[row:], z[(m-n+1)*row:m*row], c.turns[2:], true)
	}
	return to
}

// turn multiplies vectors, read from the first or from the last on, by one number each.
func (p *Plan[T]) turn(dst, src, by []T, back bool) {
	if p.vectors.turn != nil {
		p.vectors.turn(dst, src, by, back)
		return
	}
	row, n := 2*p.lanes, len(by)/2
	for k := range n {
		c, s := by[2*k], by[2*k+1]
		from := k
		if back {
			from = n - 1 - k
		}
		d, x := dst[k*row:][:row], src[from*row:][:row]
		for i := 0; i+1 < len(x) && i+1 < len(d); i += 2 {
			re, im := x[i], x[i+1]
			d[i], d[i+1] = re*c-im*s, re*s+im*c
		}
	}
}
