package eval

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// fft transforms the innermost axes, as many as fft_length has. The forward transform is not scaled, the inverse by 1/n per axis. Real
// transforms keep the first n/2+1 elements of the last axis.
func fft(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.FFTAttrs](c.In)
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	lengths := ints(a.Length)
	dims := dimsOf(c.Args[0].Shape())
	if len(lengths) == 0 || len(lengths) > len(dims) || s.Rank() != len(dims) {
		return nil, fmt.Errorf("fft_length %v for %v", lengths, c.Args[0].Shape())
	}
	want := slices.Clone(dims) // the sizes of the operand
	copy(want[len(dims)-len(lengths):], lengths)
	full := slices.Clone(want) // the sizes of the complex array in between
	last := len(dims) - 1
	if a.Type == hlo.IRFFT {
		want[last] = lengths[len(lengths)-1]/2 + 1
	}
	if a.Type == hlo.FFTInvalid || !slices.Equal(want, dims) {
		return nil, fmt.Errorf("%v of length %v of an array of %v", a.Type, lengths, c.Args[0].Shape())
	}
	v := complexOf(c.Args[0])
	inverse := a.Type == hlo.IFFT || a.Type == hlo.IRFFT
	outer := len(dims) - len(lengths)
	switch a.Type {
	case hlo.RFFT:
		transformAxis(v, full, last, false)
		v = firstColumns(v, full[last], full[last]/2+1)
		full[last] = full[last]/2 + 1
		for axis := last - 1; axis >= outer; axis-- {
			transformAxis(v, full, axis, false)
		}
	case hlo.IRFFT:
		half := slices.Clone(dims)
		for axis := last - 1; axis >= outer; axis-- {
			transformAxis(v, half, axis, true)
		}
		v = hermitian(v, half[last], full[last])
		transformAxis(v, full, last, true)
	default:
		for axis := last; axis >= outer; axis-- {
			transformAxis(v, full, axis, inverse)
		}
	}
	if int64(len(v)) != s.NumElements() {
		return nil, fmt.Errorf("%d elements for %v", len(v), s)
	}
	return packComplex(s, v)
}

// firstColumns keeps the first k of every n elements.
func firstColumns(v []complex128, n, k int) []complex128 {
	if n == 0 {
		return nil
	}
	out := make([]complex128, 0, len(v)/n*k)
	for at := 0; at < len(v); at += n {
		out = append(out, v[at:at+k]...)
	}
	return out
}

// hermitian extends rows of k elements to n by conjugate symmetry. What must be real is made so.
func hermitian(v []complex128, k, n int) []complex128 {
	rows := len(v) / k
	out := make([]complex128, rows*n)
	for r := range rows {
		from, to := v[r*k:(r+1)*k], out[r*n:(r+1)*n]
		for i := range to {
			switch {
			case i == 0 || 2*i == n:
				to[i] = complex(real(from[i]), 0)
			case 2*i < n:
				to[i] = from[i]
			default:
				to[i] = complex(real(from[n-i]), -imag(from[n-i]))
			}
		}
	}
	return out
}

// transformAxis transforms every line along an axis in place.
func transformAxis(v []complex128, dims []int, axis int, inverse bool) {
	n := dims[axis]
	if n < 1 || len(v) == 0 {
		return
	}
	stride := product(dims[axis+1:])
	p := newFourier(n, inverse)
	line := make([]complex128, n)
	for block := 0; block < len(v); block += n * stride {
		for k := range stride {
			for i := range line {
				line[i] = v[block+k+i*stride]
			}
			p.transform(line)
			for i, z := range line {
				if inverse {
					z = complex(real(z)/float64(n), imag(z)/float64(n))
				}
				v[block+k+i*stride] = z
			}
		}
	}
}

// fourier is a transform of one length: by halving for powers of two, directly for short lengths, else as a convolution with a chirp
// (Bluestein), by transforms of a power of two.
type fourier struct {
	n       int
	roots   []complex128 // exp(±2πi k/n)
	chirp   []complex128 // exp(±πi k²/n)
	kernel  []complex128 // the transformed conjugate chirp
	forward *fourier     // of a power of two, for Bluestein
	back    *fourier
	scratch []complex128
}

const directLength = 16

func newFourier(n int, inverse bool) *fourier {
	f := &fourier{n: n}
	turn := -1.0
	if inverse {
		turn = 1
	}
	if n&(n-1) == 0 || n <= directLength {
		f.roots = make([]complex128, n)
		for k := range f.roots {
			f.roots[k] = unitRoot(turn*float64(k), float64(n))
		}
		f.scratch = make([]complex128, n)
		return f
	}
	size := 1 << bits.Len(uint(2*n-2))
	f.forward, f.back = newFourier(size, false), newFourier(size, true)
	f.chirp = make([]complex128, n)
	f.kernel = make([]complex128, size)
	f.scratch = make([]complex128, size)
	for k := range n {
		sq := new128(uint64(k)).mod(uint64(2 * n)) // k² modulo 2n keeps the angle small
		f.chirp[k] = unitRoot(turn*float64(sq), float64(2*n))
		conj := complex(real(f.chirp[k]), -imag(f.chirp[k]))
		f.kernel[k] = conj
		if k > 0 {
			f.kernel[size-k] = conj
		}
	}
	f.forward.transform(f.kernel)
	return f
}

// new128 is the square of k in 128 bits.
func new128(k uint64) counter {
	hi, lo := bits.Mul64(k, k)
	return counter{lo, hi}
}

func (c counter) mod(m uint64) uint64 {
	_, r := bits.Div64(c.hi%m, c.lo, m)
	return r
}

// unitRoot is exp(2πi k/n), exact at the quarters.
func unitRoot(k, n float64) complex128 {
	switch k = math.Mod(k, n); {
	case k < 0:
		k += n
	}
	switch 4 * k {
	case 0:
		return 1
	case n:
		return 1i
	case 2 * n:
		return -1
	case 3 * n:
		return -1i
	}
	s, c := math.Sincos(2 * math.Pi * (k / n))
	return complex(c, s)
}

// transform replaces v by its transform, unscaled.
func (f *fourier) transform(v []complex128) {
	switch {
	case f.n&(f.n-1) == 0:
		f.halve(v)
	case f.chirp == nil:
		f.direct(v)
	default:
		f.bluestein(v)
	}
}

func (f *fourier) direct(v []complex128) {
	for j := range f.n {
		sum := complex128(0)
		for k, z := range v {
			sum += z * f.roots[j*k%f.n]
		}
		f.scratch[j] = sum
	}
	copy(v, f.scratch)
}

// halve is the iterative transform of a power of two: elements in bit-reversed order, then butterflies of doubling length.
func (f *fourier) halve(v []complex128) {
	n := f.n
	shift := 64 - bits.Len(uint(n-1))
	for i := range v {
		if j := int(bits.Reverse64(uint64(i)) >> shift); n > 1 && i < j {
			v[i], v[j] = v[j], v[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		half, step := size/2, n/size
		for at := 0; at < n; at += size {
			for k := range half {
				a, b := v[at+k], v[at+k+half]*f.roots[k*step]
				v[at+k], v[at+k+half] = a+b, a-b
			}
		}
	}
}

func (f *fourier) bluestein(v []complex128) {
	s := f.scratch
	clear(s)
	for k, z := range v {
		s[k] = z * f.chirp[k]
	}
	f.forward.transform(s)
	for k := range s {
		s[k] *= f.kernel[k]
	}
	f.back.transform(s)
	scale := 1 / float64(len(s))
	for k := range v {
		z := s[k] * f.chirp[k]
		v[k] = complex(real(z)*scale, imag(z)*scale)
	}
}
