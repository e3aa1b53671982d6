package fourier

// vectors is what a processor has: the complex numbers of a vector, and its passes by radix. Those that are nil are computed by any.
type vectors[T Float] struct {
	lanes  int
	passes [6]func(m, s, apart int, dst, src, twiddles, constants []T)
	odd    func(radix, m, s int, dst, src, twiddles, constants []T) // a pass of any odd radix up to mostOdd, or nil
	halves func(n int, dst, src, twiddles, constants []T)           // or nil: see Real
	// turn multiplies vectors, read from the first or from the last on, by one number each, and backwards exchanges elements 1 to n-1, of so many vectors each, from both ends and scales them; or nil.
	turn      func(dst, src, by []T, back bool)
	backwards func(y []T, n, each int, scale []T)
	// scale and multiply copy n rows of so many vectors, whose numbers are multiplied by one or by one each. Rows are so many parts of numbers apart, and those of
	// the source are taken from the last on if that is negative.
	scale, multiply func(n, each, to, from int, dst, src, by []T)
}

// Prime factors of lengths are radices of passes up to mostOdd; those of more than smallRadix are so where there is assembly for them.
const (
	smallRadix = 13
	mostOdd    = 61
)

// sums is a pass of any odd radix. Inputs as far from both ends are added and subtracted, and two outputs, as far from both ends, are sums of these with the same factors.
func (p *pass[T]) sums(dst, src []T, lanes int) {
	var even, odd [mostOdd / 2][2]T
	r, row := p.radix, 2*lanes*p.s // numbers of s vectors
	half := r / 2
	for i := range p.m {
		w := p.twiddles[2*i*(r-1):][:2*(r-1)]
		for q := 0; q < row; q += 2 {
			x := src[i*row+q:][:2]
			first := [2]T{x[0], x[1]}
			for j := 1; j <= half; j++ {
				u, v := src[(i+j*p.m)*row+q:][:2], src[(i+(r-j)*p.m)*row+q:][:2]
				even[j-1], odd[j-1] = [2]T{u[0] + v[0], u[1] + v[1]}, [2]T{u[0] - v[0], u[1] - v[1]}
				first[0], first[1] = first[0]+even[j-1][0], first[1]+even[j-1][1]
			}
			at := r*i*row + q
			dst[at], dst[at+1] = first[0], first[1]
			factors := p.constants[1:]
			for k := 1; k <= half; k++ {
				a, b := [2]T{x[0], x[1]}, [2]T{}
				for j := range half {
					c, s := factors[2*j], factors[2*j+1]
					a[0], a[1] = a[0]+even[j][0]*c, a[1]+even[j][1]*c
					b[0], b[1] = b[0]+odd[j][0]*s, b[1]+odd[j][1]*s
				}
				factors = factors[2*half:]
				p.put(dst, (r*i+k)*row+q, a[0]+b[1], a[1]-b[0], w[2*k-2:])
				p.put(dst, (r*i+r-k)*row+q, a[0]-b[1], a[1]+b[0], w[2*(r-k)-2:])
			}
		}
	}
}

// put writes a number times a root.
func (p *pass[T]) put(dst []T, at int, re, im T, root []T) {
	c, s := root[0], root[1]
	dst[at], dst[at+1] = re*c-im*s, re*s+im*c
}

// any is a pass of any radix up to 5.
func (p *pass[T]) any(dst, src []T, lanes int) {
	var x [5][2]T
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
func portable[T Float]() vectors[T] { return vectors[T]{lanes: 4}.rowsInGo() }
