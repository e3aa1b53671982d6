package eval

import (
	"fmt"
	"math/bits"

	"github.com/gohalo/halo/hlo"
)

// Random numbers.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpRngBitGenerator:      rngBitGenerator,
		hlo.OpRngGetAndUpdateState: rngGetAndUpdateState,
		hlo.OpRng:                  rng,
	})
}

// rngBitGenerator is (next state, bits), a function of the state.
func rngBitGenerator(c *Call) (*hlo.Literal, error) {
	s := c.In.Shape()
	if !s.IsTuple() || s.NumElems() != 2 || c.Args[0].Shape().Type() != hlo.U64 {
		return nil, fmt.Errorf("a state of %v, a result of %v", c.Args[0].Shape(), s)
	}
	if err := c.affordable(s); err != nil {
		return nil, err
	}
	state := append([]int64(nil), intsOf(c.Args[0])...)
	out := s.Elem(1)
	if !out.IsArray() || out.Type().Bits() > 64 || out.Type().IsComplex() {
		return nil, fmt.Errorf("random bits as %v", out)
	}
	var words []uint64
	switch algorithm := hlo.AttrsOf[hlo.RngBitGeneratorAttrs](c.In).Algorithm; {
	case algorithm == hlo.RngThreeFry && len(state) >= 2:
		var used uint64
		words, used = threeFryArray(uint64(state[0]), uint64(state[1]), out)
		state[1] += int64(used)
	case algorithm != hlo.RngThreeFry && (len(state) == 2 || len(state) == 3):
		ctr := counter{uint64(state[1]), uint64(state[0])} // of two words the key is the high half too
		if len(state) == 3 {
			ctr.hi = uint64(state[2])
		}
		var used uint64
		words, used = philoxArray(uint64(state[0]), ctr, int(out.NumElements()), out.Type().Bits() == 64)
		ctr = ctr.plus(used)
		state[1] = int64(ctr.lo)
		if len(state) == 3 {
			state[2] = int64(ctr.hi)
		}
	default:
		return nil, fmt.Errorf("algorithm %v with a state of %v", algorithm, c.Args[0].Shape())
	}
	next, err := packInts(c.Args[0].Shape(), state)
	if err != nil {
		return nil, err
	}
	data, err := hlo.NewLiteral(out, lowBytes(words, out.Type()))
	if err != nil {
		return nil, err
	}
	return hlo.NewTupleLiteral(next, data), nil
}

// lowBytes stores the low bits of each word as one element of type t, whatever t means.
func lowBytes(words []uint64, t hlo.PrimitiveType) []byte {
	w := t.ByteSize()
	b := make([]byte, len(words)*w)
	for i, x := range words {
		if t.Bits() < 8 {
			x = uint64(wrapBits(t, int64(x)))
		}
		for k := range w {
			b[i*w+k] = byte(x >> (8 * k))
		}
	}
	return b
}

// wrapBits cuts x to the width of a type narrower than a byte, which may be a floating type.
func wrapBits(t hlo.PrimitiveType, x int64) int64 {
	if t.IsInteger() || t == hlo.PRED {
		return wrap(t, x)
	}
	return x & (1<<t.Bits() - 1)
}

// counter is a 128-bit number.
type counter struct{ lo, hi uint64 }

func (c counter) plus(n uint64) counter {
	lo, carry := bits.Add64(c.lo, n, 0)
	return counter{lo, c.hi + carry}
}

// threeFry is Threefry-2x32 with 20 rounds.
func threeFry(key, ctr uint64) (y0, y1 uint32) {
	k := [3]uint32{uint32(key), uint32(key >> 32)}
	k[2] = k[0] ^ k[1] ^ 0x1BD11BDA
	x0, x1 := uint32(ctr)+k[0], uint32(ctr>>32)+k[1]
	rotations := [2][4]int{{13, 15, 26, 6}, {17, 29, 16, 24}}
	for g := range 5 {
		for _, r := range rotations[g%2] {
			x0 += x1
			x1 = bits.RotateLeft32(x1, r) ^ x0
		}
		x0 += k[(g+1)%3]
		x1 += k[(g+2)%3] + uint32(g+1)
	}
	return x0, x1
}

// ThreeFryAxis is the axis of a shape along which two neighbours of less than 64 bits share a counter: the first of even size, else the first of the
// largest size. The shape is not a scalar.
func ThreeFryAxis(s hlo.Shape) int {
	axis := 0
	for i := range s.Rank() {
		if s.Dim(i)%2 == 0 {
			return i
		}
		if s.Dim(i) > s.Dim(axis) {
			axis = i
		}
	}
	return axis
}

// threeFryArray fills an array and says how many counters it took. Elements of 64 bits take one each; of narrower ones a pair shares a
// counter: see [ThreeFryAxis].
func threeFryArray(key, ctr uint64, s hlo.Shape) ([]uint64, uint64) {
	n := int(s.NumElements())
	words := make([]uint64, n)
	if s.Type().Bits() == 64 {
		for i := range words {
			y0, y1 := threeFry(key, ctr+uint64(i))
			words[i] = uint64(y0) | uint64(y1)<<32
		}
		return words, uint64(n)
	}
	dims := dimsOf(s)
	if len(dims) == 0 {
		y0, _ := threeFry(key, ctr)
		words[0] = uint64(y0)
		return words, 1
	}
	split := ThreeFryAxis(s)
	half := append([]int(nil), dims...)
	half[split] = (dims[split] + 1) / 2
	strides := rowMajor(dims)
	used := uint64(0)
	for o := newOdometer(half); !o.done; o.next() {
		y0, y1 := threeFry(key, ctr+used)
		used++
		at := dot(o.index, strides) + o.index[split]*strides[split]
		words[at] = uint64(y0)
		if 2*o.index[split]+1 < dims[split] {
			words[at+strides[split]] = uint64(y1)
		}
	}
	return words, used
}

// philox is Philox-4x32 with 10 rounds.
func philox(key uint64, ctr counter) [4]uint32 {
	c0, c1, c2, c3 := uint32(ctr.lo), uint32(ctr.lo>>32), uint32(ctr.hi), uint32(ctr.hi>>32)
	k0, k1 := uint32(key), uint32(key>>32)
	for range 10 {
		p, q := uint64(c0)*0xD2511F53, uint64(c2)*0xCD9E8D57
		c0, c1, c2, c3 = uint32(q>>32)^c1^k0, uint32(q), uint32(p>>32)^c3^k1, uint32(p)
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return [4]uint32{c0, c1, c2, c3}
}

// philoxArray makes n elements of 64 or at most 32 bits in row-major order and says how many counters it took.
func philoxArray(key uint64, ctr counter, n int, wide bool) ([]uint64, uint64) {
	words := make([]uint64, 0, n+3)
	used := uint64(0)
	for len(words) < n {
		b := philox(key, ctr.plus(used))
		used++
		if wide {
			words = append(words, uint64(b[0])|uint64(b[1])<<32, uint64(b[2])|uint64(b[3])<<32)
		} else {
			words = append(words, uint64(b[0]), uint64(b[1]), uint64(b[2]), uint64(b[3]))
		}
	}
	return words[:n], used
}
