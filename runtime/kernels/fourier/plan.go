package fourier

import "math"

// Float is the type of the parts of numbers.
type Float interface{ float32 | float64 }

// Plan is how lines of one length are transformed. It is immutable.
type Plan[T Float] struct {
	n, lanes int
	passes   []pass[T]
	chirp    *chirp[T] // for lengths with large prime factors
	vectors  vectors[T]
	one      []T // 1
	scale    []T // 1/n
}

// pass is one step: n/radix butterflies at each of s places.
type pass[T Float] struct {
	radix, m, s int
	twiddles    []T                                                      // radix-1 numbers for each of the m butterflies
	constants   []T                                                      // of the assembly
	roots       []T                                                      // of the radix
	run         func(m, s, apart int, dst, src, twiddles, constants []T) // in the source, the s vectors of an element are so many parts of numbers apart
	anywhere    bool                                                     // they need not lie together
}

// NewPlan makes a plan for lines of n ≥ 1 elements. It reports false for long lines of lengths with large prime factors.
func NewPlan[T Float](n int) (*Plan[T], bool) { return newPlan(n, best[T]()) }

func newPlan[T Float](n int, v vectors[T]) (*Plan[T], bool) {
	p := &Plan[T]{n: n, lanes: v.lanes, vectors: v, one: []T{1}, scale: []T{1 / T(n)}}
	most := smallRadix
	if v.odd != nil {
		most = mostOdd
	}
	rest, s := n, 1
	for _, r := range []int{4, 2, 5, 3, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61} {
		for r <= most && rest%r == 0 {
			m := rest / r
			step := pass[T]{radix: r, m: m, s: s, twiddles: make([]T, 0, 2*m*(r-1)), constants: constantsOf[T](r), roots: make([]T, 0, 2*r)}
			switch {
			case r < len(v.passes):
				step.run, step.anywhere = v.passes[r], v.passes[r] != nil
			case v.odd != nil:
				step.run = func(m, s, _ int, dst, src, twiddles, constants []T) { v.odd(r, m, s, dst, src, twiddles, constants) }
			}
			for k := range r {
				step.roots = appendRoot(step.roots, k, r)
			}
			for i := range m {
				for k := 1; k < r; k++ {
					step.twiddles = appendRoot(step.twiddles, i*k, rest)
				}
			}
			p.passes = append(p.passes, step)
			rest, s = m, s*r
		}
	}
	if rest > 1 && n <= maxChirp {
		p.passes, p.chirp = nil, newChirp(n, v)
	}
	return p, rest == 1 || p.chirp != nil
}

// Lanes is how many lines of numbers with parts of type T are transformed together.
func Lanes[T Float]() int { return best[T]().lanes }

// Lanes is how many lines are transformed together.
func (p *Plan[T]) Lanes() int { return p.lanes }

// Len is the length of a buffer: Lanes complex numbers for each element, of which there may be more than the line has.
func (p *Plan[T]) Len() int {
	if p.chirp != nil {
		return p.chirp.inner.Len()
	}
	return 2 * p.lanes * p.n
}

// Elements is how many elements a line has.
func (p *Plan[T]) Elements() int { return p.n }

// Transform transforms the lines in a, and returns the buffer that holds the result: a or b, the other of which is overwritten. The sums are not scaled,
// and those of the inverse transform are the same in another order: element n-i for i.
func (p *Plan[T]) Transform(a, b []T) []T { return p.TransformStrip(a, b, 1) }

// HasStrips reports whether strips can be more than one vector wide.
func (p *Plan[T]) HasStrips() bool { return p.chirp == nil }

// TransformStrip is Transform for as many lines as fit into several vectors, which lie side by side for each element. Buffers are as many times as long.
func (p *Plan[T]) TransformStrip(a, b []T, vectors int) []T {
	if p.chirp != nil {
		return p.chirp.transform(a[:p.Len()], b[:p.Len()])
	}
	return p.runPasses(p.passes, a[:vectors*p.Len()], b[:vectors*p.Len()], vectors)
}

// TransformFrom is TransformStrip of lines that may be elsewhere: their elements are so many parts of numbers apart.
func (p *Plan[T]) TransformFrom(src []T, apart int, a, b []T, vectors int) []T {
	row := 2 * p.lanes * vectors
	if len(p.passes) == 0 || !p.passes[0].anywhere {
		for i := range p.n {
			copy(a[i*row:][:row], src[i*apart:])
		}
		return p.TransformStrip(a, b, vectors)
	}
	a, b = a[:vectors*p.Len()], b[:vectors*p.Len()]
	first := &p.passes[0]
	first.run(first.m, first.s*vectors, apart, b, src, first.twiddles, first.constants)
	return p.runPasses(p.passes[1:], b, a, vectors)
}

func (p *Plan[T]) runPasses(passes []pass[T], a, b []T, vectors int) []T {
	for i := range passes {
		s := &passes[i]
		switch {
		case s.run != nil:
			s.run(s.m, s.s*vectors, 2*p.lanes*s.s*vectors, b, a, s.twiddles, s.constants)
		case s.radix > 5:
			s.sums(b, a, p.lanes*vectors)
		default:
			s.any(b, a, p.lanes*vectors)
		}
		a, b = b, a
	}
	return a
}

// Backwards makes of a transform the inverse one: elements from the second on change their order, and all are divided by how many they are. An element is so many vectors.
func (p *Plan[T]) Backwards(y []T, vectors int) {
	scale := p.scale[0]
	row := 2 * p.lanes * vectors
	for k, x := range y[:row] {
		y[k] = x * scale
	}
	switch {
	case p.n < 2:
	case p.vectors.backwards != nil:
		p.vectors.backwards(y, p.n, vectors, p.scale)
	default:
		for i, j := 1, p.n-1; i <= j; i, j = i+1, j-1 {
			a, b := y[i*row:][:row], y[j*row:][:row]
			for k, x := range a {
				a[k], b[k] = b[k]*scale, x*scale
			}
		}
	}
}

// appendRoot appends exp(-2πi k/n), exact at the quarters.
func appendRoot[T Float](v []T, k, n int) []T {
	switch k %= n; {
	case k == 0:
		return append(v, 1, 0)
	case 4*k == n:
		return append(v, 0, -1)
	case 2*k == n:
		return append(v, -1, 0)
	case 4*k == 3*n:
		return append(v, 0, 1)
	}
	s, c := math.Sincos(2 * math.Pi * (float64(k) / float64(n)))
	return append(v, T(c), T(-s))
}

// constantsOf is 1, and the parts of the roots of the radix: of a radix above 5, for each of the first half of the outputs those for the first half of the inputs.
func constantsOf[T Float](radix int) []T {
	switch radix {
	case 3:
		return []T{1, 0.5, T(math.Sqrt(3) / 2)}
	case 5:
		s1, c1 := math.Sincos(2 * math.Pi / 5)
		s2, c2 := math.Sincos(4 * math.Pi / 5)
		return []T{1, T(c1), T(c2), T(s1), T(s2)}
	case 2, 4:
		return []T{1}
	}
	c := []T{1}
	for k := 1; k <= radix/2; k++ {
		for j := 1; j <= radix/2; j++ {
			sin, cos := math.Sincos(2 * math.Pi * (float64(j*k%radix) / float64(radix)))
			c = append(c, T(cos), T(sin))
		}
	}
	return c
}
