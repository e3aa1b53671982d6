package native

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// Complex numbers are two values, of real and of imaginary parts, each of which is a vector of f32 or f64. In memory the parts alternate: a pair of
// vectors is split when it is loaded, and joined when it is stored.

// Pair is an operand of complex numbers, as their real and their imaginary parts, of so many bytes each: as many as lanes have.
func (b *Builder) Pair(part int, along Along) (re, im Value) {
	b.slots++
	x := value{size: part, op: -1, slot: b.slots - 1, along: along, part: 1}
	re, x.part = b.define(x), 2
	return re, b.define(x)
}

// StorePair puts complex numbers with parts of so many bytes into memory.
func (b *Builder) StorePair(part int, re, im Value) {
	b.slots++
	b.stores = append(b.stores, store{v: re, im: im, part: part, slot: b.slots - 1})
}

// pairParts is the size of the parts of all complex numbers that are operands or results, 0 if there are none, and whether they have it in common.
func (b *Builder) pairParts() (size int, ok bool) {
	same := func(part int) bool {
		if size == 0 {
			size = part
		}
		return size == part
	}
	for i := range b.values {
		if x := &b.values[i]; x.part != 0 && !same(x.size) {
			return 0, false
		}
	}
	for i := range b.stores {
		if p := b.stores[i].part; p != 0 && !same(p) {
			return 0, false
		}
	}
	return size, true
}

// wholePart is a recipe that takes parts as they are in registers, and gives such a one.
func (e *expansion) wholePart() *vec.Recipe {
	return vec.FindRecipe(vec.Of(hlo.OpAdd, map[int]hlo.PrimitiveType{4: hlo.F32, 8: hlo.F64}[e.lane]))
}

// part is the register with a part of an operand of complex numbers.
func (e *expansion) part(v Value) int {
	x := &e.b.values[v]
	parts, ok := e.parts[x.slot]
	if !ok {
		parts = e.loadPair(x)
		e.parts[x.slot] = parts
	}
	return parts[x.part-1]
}

// loadPair brings an operand of complex numbers into two vectors. Only its neighbours in memory take more than two instructions.
func (e *expansion) loadPair(x *value) [2]int {
	load := func(o amd64.VectorOp, at memory) int {
		d := e.register(false)
		e.code = append(e.code, instr{op: o, bits: e.vectorBits(), d: d, from: at})
		return d
	}
	switch x.along {
	case Single:
		at := memory{kind: single, index: x.slot, size: e.lane}
		broadcast := map[int]amd64.VectorOp{4: amd64.VBROADCASTSS, 8: amd64.VBROADCASTSD}[e.lane]
		re := load(broadcast, at)
		at.offset = e.lane
		return [2]int{re, load(broadcast, at)}
	case Repeated:
		both := load(amd64.VMOVUPD, memory{kind: repeated, index: x.slot})
		return e.split(both, both)
	}
	at := memory{kind: inSlot, index: x.slot, size: 2 * e.lane}
	low := load(amd64.VMOVUPD, at)
	at.offset = e.vectorBits() / 8
	return e.split(low, load(amd64.VMOVUPD, at))
}

// split takes two vectors apart, whose lanes with even numbers are real parts.
func (e *expansion) split(low, high int) [2]int {
	if e.wide {
		words := e.lane / 4 // of 32 bits in a part
		var even, odd [16]byte
		for i := range even {
			even[i] = byte(2*i - i%words)
			odd[i] = even[i] + byte(words)
		}
		return [2]int{e.chosen(e.constant(even), low, high), e.chosen(e.constant(odd), low, high)}
	}
	var parts [2]int
	for i, each := range [...]uint8{0x88, 0xDD} {
		t := 0
		if e.lane == 4 {
			t = e.shuffled(amd64.VSHUFPS, low, high, each)
		} else {
			t = e.unpacked([...]amd64.VectorOp{amd64.VPUNPCKLQDQ, amd64.VPUNPCKHQDQ}[i], low, high)
		}
		parts[i] = e.register(false)
		e.code = append(e.code, instr{op: amd64.VPERMPD, bits: 256, d: parts[i], y: t, number: 0xD8, hasNumber: true})
	}
	return parts
}

// join undoes split.
func (e *expansion) join(re, im int) (low, high int) {
	if e.wide {
		first, second := e.joinOrder()
		return e.chosen(first, re, im), e.chosen(second, re, im)
	}
	lower, upper := amd64.VUNPCKLPS, amd64.VUNPCKHPS
	if e.lane == 8 {
		lower, upper = amd64.VPUNPCKLQDQ, amd64.VPUNPCKHQDQ
	}
	x, y := e.unpacked(lower, re, im), e.unpacked(upper, re, im)
	return e.shuffled(amd64.VPERM2F128, x, y, 0x20), e.shuffled(amd64.VPERM2F128, x, y, 0x31)
}

func (e *expansion) unpacked(o amd64.VectorOp, x, y int) int {
	d := e.register(false)
	e.code = append(e.code, instr{op: o, bits: 256, d: d, x: x, y: y})
	return d
}

func (e *expansion) shuffled(o amd64.VectorOp, x, y int, how uint8) int {
	d := e.register(false)
	e.code = append(e.code, instr{op: o, bits: 256, d: d, x: x, y: y, number: how, hasNumber: true})
	return d
}

// joinOrder are the constants that say which words of 32 bits of two vectors make two where lanes take turns.
func (e *expansion) joinOrder() (low, high int) {
	words := e.lane / 4
	var first, second [16]byte
	for i := range first {
		lane := i / words
		first[i] = byte(lane/2*words + lane%2*16 + i%words)
		second[i] = first[i] + 8
	}
	return e.constant(first), e.constant(second)
}

// chosen takes 16 words of 32 bits, by the numbers that a constant has, of those of two vectors.
func (e *expansion) chosen(lanes, x, y int) int {
	numbers, d := e.register(false), e.register(false)
	e.code = append(e.code,
		instr{op: amd64.VPMOVZXBD, bits: 512, d: numbers, from: memory{kind: inPool, index: lanes}},
		instr{op: amd64.VMOVUPS, bits: 512, d: d, y: x},
		instr{op: amd64.VPERMT2PS, bits: 512, d: d, x: numbers, y: y, reads: true})
	return d
}

// joinedStores are the vectors of the results that are complex numbers. All are made before the first is stored, which may be where an operand is.
func (e *expansion) joinedStores() [][2]int {
	var all [][2]int
	for i := range e.b.stores {
		s := &e.b.stores[i]
		if s.part == 0 {
			continue
		}
		r := e.wholePart()
		re, im := e.operand(r, 0, s.v), e.operand(r, 1, s.im)
		if e.failure != "" {
			return nil
		}
		low, high := e.join(re, im)
		all = append(all, [2]int{low, high})
	}
	return all
}

// storePair stores what is joined.
func (e *expansion) storePair(s *store, joined [2]int) {
	at := memory{kind: inSlot, index: s.slot, size: 2 * e.lane}
	for _, v := range joined {
		e.code = append(e.code, instr{op: amd64.VMOVUPD, bits: e.vectorBits(), y: v, from: at, stores: true})
		at.offset = e.vectorBits() / 8
	}
}
