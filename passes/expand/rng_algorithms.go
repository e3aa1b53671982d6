package expand

import (
	"math/bits"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/passes/emit"
)

// threeFry is Threefry-2x32 with 20 rounds of counters under a key: pairs of words.
func threeFry(at emit.At, key, ctr hlo.InstrID) (x0, x1 hlo.InstrID) {
	dims := at.Shape(ctr).Dimensions()
	low, high := half(at, key, false), half(at, key, true)
	k := [3]hlo.InstrID{low, high, at.Binary(hlo.OpXor, at.Binary(hlo.OpXor, low, high), at.Int(hlo.U32, 0x1BD11BDA))}
	add := func(x, scalar hlo.InstrID) hlo.InstrID { return at.Binary(hlo.OpAdd, x, at.Fill(scalar, dims...)) }
	x0, x1 = add(half(at, ctr, false), k[0]), add(half(at, ctr, true), k[1])
	rotations := [2][4]int64{{13, 15, 26, 6}, {17, 29, 16, 24}}
	for g := range 5 {
		for _, r := range rotations[g%2] {
			x0 = at.Binary(hlo.OpAdd, x0, x1)
			left := at.Binary(hlo.OpShiftLeft, x1, at.Fill(at.Int(hlo.U32, r), dims...))
			right := at.Binary(hlo.OpShiftRightLogical, x1, at.Fill(at.Int(hlo.U32, 32-r), dims...))
			x1 = at.Binary(hlo.OpXor, at.Binary(hlo.OpOr, left, right), x0)
		}
		x0 = add(x0, k[(g+1)%3])
		x1 = add(x1, at.Binary(hlo.OpAdd, k[(g+2)%3], at.Int(hlo.U32, int64(g)+1)))
	}
	return x0, x1
}

// threeFryArray fills a shape, and says how many counters it takes: of 64 bits one each; of fewer, two neighbours along one axis share
// one: see [eval.ThreeFryAxis].
func threeFryArray(at emit.At, key, ctr hlo.InstrID, s hlo.Shape) (data hlo.InstrID, used int64) {
	dims := s.Dimensions()
	numbered := func(dims []int64) hlo.InstrID {
		n := hlo.MakeShape(hlo.U64, dims...).NumElements()
		count := at.Iota(hlo.U64, 0, n)
		return at.Reshape(at.Binary(hlo.OpAdd, count, at.Fill(ctr, n)), dims...)
	}
	if s.Type().Bits() == 64 {
		x0, x1 := threeFry(at, key, numbered(dims))
		return asType(at, joined(at, x0, x1), s.Type()), s.NumElements()
	}
	if len(dims) == 0 {
		x0, _ := threeFry(at, key, ctr)
		return asType(at, x0, s.Type()), 1
	}
	split := eval.ThreeFryAxis(s)
	halves := s.Dimensions()
	halves[split] = (dims[split] + 1) / 2
	x0, x1 := threeFry(at, key, numbered(halves))
	return asType(at, interleaved(at, split, dims[split], x0, x1), s.Type()), hlo.MakeShape(hlo.U64, halves...).NumElements()
}

// philoxCounters is how many counters an array takes: each makes four words of 32 bits.
func philoxCounters(s hlo.Shape) int64 {
	per := int64(4)
	if s.Type().Bits() == 64 {
		per = 2
	}
	return (s.NumElements() + per - 1) / per
}

// philoxArray fills a shape in the order of its elements.
func philoxArray(at emit.At, key hlo.InstrID, ctr counter, s hlo.Shape) hlo.InstrID {
	n := philoxCounters(s)
	w := philox(at, key, counter{lo: at.Fill(ctr.lo, n), hi: at.Fill(ctr.hi, n)}.plus(at, at.Iota(hlo.U64, 0, n)))
	parts := w[:]
	if s.Type().Bits() == 64 {
		parts = []hlo.InstrID{joined(at, w[0], w[1]), joined(at, w[2], w[3])}
	}
	return asType(at, at.Reshape(interleaved(at, 0, s.NumElements(), parts...), s.Dimensions()...), s.Type())
}

// philox is Philox-4x32 with 10 rounds of counters under a key.
func philox(at emit.At, key hlo.InstrID, ctr counter) [4]hlo.InstrID {
	dims := at.Shape(ctr.lo).Dimensions()
	c := [4]hlo.InstrID{half(at, ctr.lo, false), half(at, ctr.lo, true), half(at, ctr.hi, false), half(at, ctr.hi, true)}
	k := [2]hlo.InstrID{half(at, key, false), half(at, key, true)}
	times := func(x hlo.InstrID, by int64) (low, high hlo.InstrID) {
		p := at.Binary(hlo.OpMultiply, at.Convert(x, hlo.U64), at.Fill(at.Int(hlo.U64, by), dims...))
		return half(at, p, false), half(at, p, true)
	}
	xor := func(x, y, key hlo.InstrID) hlo.InstrID {
		return at.Binary(hlo.OpXor, at.Binary(hlo.OpXor, x, y), at.Fill(key, dims...))
	}
	const a, b = 0xD2511F53, 0xCD9E8D57
	for range 10 {
		lowP, highP := times(c[0], a)
		lowQ, highQ := times(c[2], b)
		c = [4]hlo.InstrID{xor(highQ, c[1], k[0]), lowQ, xor(highP, c[3], k[1]), lowP}
		k[0] = at.Binary(hlo.OpAdd, k[0], at.Int(hlo.U32, 0x9E3779B9))
		k[1] = at.Binary(hlo.OpAdd, k[1], at.Int(hlo.U32, 0xBB67AE85))
	}
	return c
}

// golden spreads small numbers over the high half of a key.
func golden(n uint64) uint64 {
	high, _ := bits.Mul64(n, 0x9E3779B97F4A7C15)
	return high ^ n*0x9E3779B97F4A7C15
}
