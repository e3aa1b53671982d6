package eval

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/gohalo/halo/hlo"
)

// rng draws from a distribution. HLO leaves the numbers open; these follow the expansion that XLA makes of it: Philox, with a counter per
// instruction and a key made of seed and device.
func rng(c *Call) (*hlo.Literal, error) {
	s := c.In.Shape()
	if err := c.affordable(s); err != nil {
		return nil, err
	}
	if !s.IsStatic() || !s.IsArray() || len(c.Args) != 2 {
		return nil, fmt.Errorf("random numbers of shape %v", s)
	}
	n, t := int(s.NumElements()), s.Type()
	wide := t.Bits() == 64
	count := n + n%2 // Box-Muller takes pairs
	words := uint64(count)
	if wide {
		words *= 2
	}
	key := c.e.o.Seed ^ uint64(c.In.ID())*0x9E3779B97F4A7C15>>32 ^ uint64(c.e.o.Replica) ^ uint64(c.e.o.Partition)<<32
	bits, _ := philoxArray(key, c.advance(words), count, wide)
	switch distribution := hlo.AttrsOf[hlo.RngAttrs](c.In).Distribution; {
	case distribution == hlo.RngUniform && classOf(t) == integers:
		return uniformInts(s, bits[:n], intsOf(c.Args[0])[0], intsOf(c.Args[1])[0])
	case distribution == hlo.RngUniform && classOf(t) == floats:
		return uniformFloats(s, bits[:n], floatsOf(c.Args[0])[0], floatsOf(c.Args[1])[0])
	case distribution == hlo.RngNormal && classOf(t) == floats:
		return normalFloats(s, bits, floatsOf(c.Args[0])[0], floatsOf(c.Args[1])[0])
	default:
		return nil, fmt.Errorf("%v of %v", distribution, t)
	}
}

// unitFloat is random bits as a number in [0, 1), with as many bits as the mantissa has.
func unitFloat(b uint64, t hlo.PrimitiveType) float64 {
	if t == hlo.F64 {
		return float64(b>>12) * 0x1p-52
	}
	return float64(b&math.MaxUint32>>9) * 0x1p-23
}

func uniformFloats(s hlo.Shape, words []uint64, a, b float64) (*hlo.Literal, error) {
	v := make([]float64, len(words))
	for i, x := range words {
		v[i] = unitFloat(x, s.Type())*(b-a) + a
	}
	return packFloats(s, v)
}

func uniformInts(s hlo.Shape, words []uint64, a, b int64) (*hlo.Literal, error) {
	v := make([]int64, len(words))
	span := uint64(b) - uint64(a)
	if s.Type().Bits() < 64 {
		span &= 1<<s.Type().Bits() - 1
	}
	for i, x := range words {
		switch {
		case s.Type() == hlo.PRED:
			v[i] = int64(x & 1)
		case span == 0:
			v[i] = a
		default:
			_, r := bits.Div64(0, x, span)
			v[i] = a + int64(r)
		}
	}
	return packInts(s, v)
}

// normalFloats is the Box-Muller transform of pairs of uniform numbers.
func normalFloats(s hlo.Shape, words []uint64, mean, deviation float64) (*hlo.Literal, error) {
	v := make([]float64, len(words))
	for i := 0; i+1 < len(words); i += 2 {
		u := max(unitFloat(words[i], s.Type()), 1e-7)
		sin, cos := math.Sincos(2 * math.Pi * unitFloat(words[i+1], s.Type()))
		r := math.Sqrt(-2 * math.Log(u))
		v[i], v[i+1] = mean+deviation*r*sin, mean+deviation*r*cos
	}
	return packFloats(s, v[:s.NumElements()])
}
