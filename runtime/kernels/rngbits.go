package kernels

import (
	"math/bits"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
)

// rngBitGenerator serves Philox and Threefry for elements of whole bytes. Numbers depend on their counter alone, so parts of an array are
// made in parallel.
func rngBitGenerator(s *site) (runtime.Bound, bool) {
	if s.shape(0).Type() != hlo.U64 || s.shape(0).Rank() != 1 || !s.in.Shape().IsTuple() || s.in.Shape().NumElems() != 2 {
		return runtime.Bound{}, false
	}
	words, out := int(s.shape(0).NumElements()), s.in.Shape().Elem(1)
	width := out.Type().ByteSize()
	if !out.IsArray() || out.Type().Bits() != 8*width || width > 8 || out.NumElements() == 0 || out.Type().IsComplex() {
		return runtime.Bound{}, false
	}
	threeFry := hlo.AttrsOf[hlo.RngBitGeneratorAttrs](s.in).Algorithm == hlo.RngThreeFry
	if threeFry {
		if words < 2 {
			return runtime.Bound{}, false
		}
		return randomBits(newThreeFryArray(out), width, func(state []uint64, used uint64) { state[1] += used }), true
	}
	if words != 2 && words != 3 {
		return runtime.Bound{}, false
	}
	each := 4
	if width == 8 {
		each = 2
	}
	n := int(out.NumElements())
	a := philoxArray{n: n, each: each, blocks: (n-1)/each + 1}
	return randomBits(a, width, func(state []uint64, used uint64) {
		lo, carry := bits.Add64(state[1], used, 0)
		state[1] = lo
		if len(state) == 3 {
			state[2] += carry
		}
	}), true
}

// randomArray is how an algorithm fills an array: counter by counter.
type randomArray interface {
	counters() int
	// The element types that the results of counters [lo, hi) are stored as.
	fill8(dst []uint8, state []uint64, lo, hi int)
	fill16(dst []uint16, state []uint64, lo, hi int)
	fill32(dst []uint32, state []uint64, lo, hi int)
	fill64(dst []uint64, state []uint64, lo, hi int)
}

// randomBits fills result 1 from the state, and then makes the next state.
func randomBits(a randomArray, width int, advance func(state []uint64, used uint64)) runtime.Bound {
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		state, dst := elems[uint64](f.In(0).Data), f.Out(1).Data
		switch width {
		case 1:
			a.fill8(dst, state, lo, hi)
		case 2:
			a.fill16(elems[uint16](dst), state, lo, hi)
		case 4:
			a.fill32(elems[uint32](dst), state, lo, hi)
		default:
			a.fill64(elems[uint64](dst), state, lo, hi)
		}
	})
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		loop.run(f, a.counters(), 1<<12)
		next := elems[uint64](f.Out(0).Data)
		copy(next, elems[uint64](f.In(0).Data))
		advance(next, uint64(a.counters()))
		return nil
	}}
}

// philoxArray is n elements in order, each counter giving four of at most 32 bits or two of 64.
type philoxArray struct{ n, each, blocks int }

func (a philoxArray) counters() int { return a.blocks }

func (a philoxArray) fill8(dst []uint8, state []uint64, lo, hi int) {
	philoxNarrow(a, dst, state, lo, hi)
}
func (a philoxArray) fill16(dst []uint16, state []uint64, lo, hi int) {
	philoxNarrow(a, dst, state, lo, hi)
}
func (a philoxArray) fill32(dst []uint32, state []uint64, lo, hi int) {
	philoxNarrow(a, dst, state, lo, hi)
}

func (a philoxArray) fill64(dst []uint64, state []uint64, lo, hi int) {
	key, ctr := philoxStart(state, lo)
	for i := lo; i < hi; i++ {
		x0, x1, x2, x3 := philox(key, ctr)
		ctr = ctr.next()
		dst[2*i] = uint64(x0) | uint64(x1)<<32
		if 2*i+1 < a.n {
			dst[2*i+1] = uint64(x2) | uint64(x3)<<32
		}
	}
}

func philoxNarrow[T uint8 | uint16 | uint32](a philoxArray, dst []T, state []uint64, lo, hi int) {
	key, ctr := philoxStart(state, lo)
	whole := min(hi, a.n/4)
	for i := lo; i < whole; i++ {
		x0, x1, x2, x3 := philox(key, ctr)
		ctr = ctr.next()
		to := dst[4*i:][:4]
		to[0], to[1], to[2], to[3] = T(x0), T(x1), T(x2), T(x3)
	}
	if whole < hi {
		x0, x1, x2, x3 := philox(key, ctr)
		last := [4]uint32{x0, x1, x2, x3}
		for i, x := range last[:a.n-4*whole] {
			dst[4*whole+i] = T(x)
		}
	}
}

// philoxCounter is a number of 128 bits.
type philoxCounter struct{ lo, hi uint64 }

func (c philoxCounter) plus(n uint64) philoxCounter {
	lo, carry := bits.Add64(c.lo, n, 0)
	return philoxCounter{lo, c.hi + carry}
}

func (c philoxCounter) next() philoxCounter { return c.plus(1) }

// philoxStart is the key and the n-th counter; of a state of two words the key is the counter's high half too.
func philoxStart(state []uint64, n int) (key uint64, c philoxCounter) {
	c = philoxCounter{state[1], state[0]}
	if len(state) == 3 {
		c.hi = state[2]
	}
	return state[0], c.plus(uint64(n))
}

// philox is Philox-4x32 with ten rounds.
func philox(key uint64, c philoxCounter) (c0, c1, c2, c3 uint32) {
	c0, c1, c2, c3 = uint32(c.lo), uint32(c.lo>>32), uint32(c.hi), uint32(c.hi>>32)
	k0, k1 := uint32(key), uint32(key>>32)
	for range 10 {
		p, q := uint64(c0)*0xD2511F53, uint64(c2)*0xCD9E8D57
		c0, c1, c2, c3 = uint32(q>>32)^c1^k0, uint32(q), uint32(p>>32)^c3^k1, uint32(p)
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return
}

// threeFryArray is an array whose elements of 64 bits take a counter each. Of narrower ones a counter gives two, neighbours along the
// split axis: the first of even size, else the first of the largest size.
type threeFryArray struct {
	n            int
	split, inner int // size of the split axis, and elements between neighbours along it
	pairs        int // counters along the split axis
	wide         bool
}

func newThreeFryArray(s hlo.Shape) threeFryArray {
	a := threeFryArray{n: int(s.NumElements()), split: 1, inner: 1, wide: s.Type().Bits() == 64}
	if s.Rank() > 0 {
		axis := eval.ThreeFryAxis(s)
		a.split, a.inner = int(s.Dim(axis)), rowMajor(s.Dimensions())[axis]
	}
	a.pairs = (a.split + 1) / 2
	return a
}

func (a threeFryArray) counters() int {
	if a.wide {
		return a.n
	}
	return a.n / a.split * a.pairs
}

func (a threeFryArray) fill8(dst []uint8, state []uint64, lo, hi int) {
	threeFryPairs(a, dst, state, lo, hi)
}
func (a threeFryArray) fill16(dst []uint16, state []uint64, lo, hi int) {
	threeFryPairs(a, dst, state, lo, hi)
}
func (a threeFryArray) fill32(dst []uint32, state []uint64, lo, hi int) {
	threeFryPairs(a, dst, state, lo, hi)
}

func (a threeFryArray) fill64(dst []uint64, state []uint64, lo, hi int) {
	for i := lo; i < hi; i++ {
		y0, y1 := threeFry(state[0], state[1]+uint64(i))
		dst[i] = uint64(y0) | uint64(y1)<<32
	}
}

func threeFryPairs[T uint8 | uint16 | uint32](a threeFryArray, dst []T, state []uint64, lo, hi int) {
	key, ctr := state[0], state[1]
	// Counter i is at column k of pair p of a block.
	k, p := lo%a.inner, lo/a.inner%a.pairs
	at := (lo/a.inner/a.pairs*a.split+2*p)*a.inner + k
	for i := lo; i < hi; i++ {
		y0, y1 := threeFry(key, ctr+uint64(i))
		dst[at] = T(y0)
		both := 2*p+1 < a.split
		if both {
			dst[at+a.inner] = T(y1)
		}
		at++
		if k++; k == a.inner {
			k = 0
			if both {
				at += a.inner
			}
			if p++; p == a.pairs {
				p = 0
			}
		}
	}
}

// threeFry is Threefry-2x32 with twenty rounds.
func threeFry(key, ctr uint64) (x0, x1 uint32) {
	k0, k1 := uint32(key), uint32(key>>32)
	k2 := k0 ^ k1 ^ 0x1BD11BDA
	x0, x1 = uint32(ctr)+k0, uint32(ctr>>32)+k1
	x0, x1 = threeFryEven(x0, x1)
	x0, x1 = threeFryOdd(x0+k1, x1+k2+1)
	x0, x1 = threeFryEven(x0+k2, x1+k0+2)
	x0, x1 = threeFryOdd(x0+k0, x1+k1+3)
	x0, x1 = threeFryEven(x0+k1, x1+k2+4)
	return x0 + k2, x1 + k0 + 5
}

func threeFryEven(x0, x1 uint32) (uint32, uint32) {
	x0 += x1
	x1 = bits.RotateLeft32(x1, 13) ^ x0
	x0 += x1
	x1 = bits.RotateLeft32(x1, 15) ^ x0
	x0 += x1
	x1 = bits.RotateLeft32(x1, 26) ^ x0
	x0 += x1
	x1 = bits.RotateLeft32(x1, 6) ^ x0
	return x0, x1
}

func threeFryOdd(x0, x1 uint32) (uint32, uint32) {
	x0 += x1
	x1 = bits.RotateLeft32(x1, 17) ^ x0
	x0 += x1
	x1 = bits.RotateLeft32(x1, 29) ^ x0
	x0 += x1
	x1 = bits.RotateLeft32(x1, 16) ^ x0
	x0 += x1
	x1 = bits.RotateLeft32(x1, 24) ^ x0
	return x0, x1
}
