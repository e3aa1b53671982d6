package fourier

// vectors is what a processor has: the complex numbers of a vector, and its passes by radix. Those that are nil are computed by any.
type vectors[T Float] struct {
	lanes  int
	passes [6]func(m, s int, dst, src, twiddles, constants []T)
	halves func(n int, dst, src, twiddles, constants []T) // or nil: see Real
}

// maxRadix bounds the prime factors of lengths.
const maxRadix = 13

// any is a pass of any radix.
func (p *pass[T]) any(dst, src []T, lanes int) {
	var x [maxRadix][2]T
	r, row := p.radix, 2*lanes*p.s // numbers of s vectors
	for i := range p.m {
		w := p.twiddles[2*i*(r-1):][:2*(r-1)]
		for q := 0; q < row; q += 2 {
			for j := range r {
				at := (i+j*p.m)*row + q
				x[j] = [2]T{src[at], src[at+1]}
			}
			for k := range r {
				re, im := x[0][0], x[0][1]
				for j, turn := 1, k; j < r; j++ {
					c, s := p.roots[2*turn], p.roots[2*turn+1]
					re += x[j][0]*c - x[j][1]*s
					im += x[j][0]*s + x[j][1]*c
					if turn += k; turn >= r {
						turn -= r
					}
				}
				if k > 0 {
					c, s := w[2*k-2], w[2*k-1]
					re, im = re*c-im*s, re*s+im*c
				}
				at := (r*i+k)*row + q
				dst[at], dst[at+1] = re, im
			}
		}
	}
}

// portable is for processors without passes in assembly.
func portable[T Float]() vectors[T] { return vectors[T]{lanes: 4} }
