package native

import (
	"encoding/binary"

	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// shortRow is the number of elements of a row up to which one reciprocal costs more than it saves.
const shortRow = 128

// Quotient is [Builder.Op] for a division whose operands bf16 can hold, and whose result is rounded to what bf16 can hold before anything else is done with it.
// Rows have n elements. A divisor that is the same along a row is inverted once for all of them: see [expansion.divide].
func (b *Builder) Quotient(n int, name vec.Name, x, y Value) Value {
	d := b.Op(name, false, x, y)
	if v := &b.values[y]; n > shortRow && v.op < 0 && v.size == 4 && (v.slot < 0 || v.along != Neighbours) {
		b.ops[len(b.ops)-1].inverts = true
	}
	return d
}

// divide appends the recipe of x / y with (x·s)·(1/(y·s)) in place of the quotient, where s is a power of two. Both round to the same bf16: a quotient of numbers of 8 bits that is
// no midpoint of two numbers of bf16 is at least 2^-17 of itself away from one, and three roundings to f32 move it by less than 2^-22; a midpoint
// is only reached among denormals, where it has so few bits that rounding to f32 restores it. For this y·s and its reciprocal must be normal: s has about half of y's exponent,
// so that x·s overflows only if the quotient does, and what it loses to a denormal is less than the quotient does.
func (e *expansion) divide(o *op) {
	r := vec.FindRecipe(o.name)
	s, inverse := e.inverse(e.operand(r, 1, o.args[1]))
	if e.failure != "" {
		return
	}
	const scale, reciprocal, scaled = vec.Operand(vec.Vector)<<12 | 0xffd, vec.Operand(vec.Vector)<<12 | 0xffe, vec.Operand(vec.Vector)<<12 | 0xfff
	names := map[vec.Operand]int{r.Args[0]: e.operand(r, 0, o.args[0]), scale: s, reciprocal: inverse}
	body := make([]vec.Instr, 0, len(r.Body)+1)
	for _, i := range r.Body {
		if i.Op == amd64.VDIVPS {
			body = append(body, vec.Instr{Op: amd64.VMULPS, Bits: i.Bits, D: scaled, X: i.X, Y: scale}, vec.Instr{Op: amd64.VMULPS, Bits: i.Bits, D: i.D, X: scaled, Y: reciprocal})
			continue
		}
		body = append(body, i)
	}
	e.splice(body, names, memory{})
	e.values[o.d] = held{names[r.Result], form{r.Out.Kind, r.Out.Size, r.Store, names}}
}

// inverse are s and 1/(y·s), for each lane of y. The exponent of s, biased, is 63 + (127 - e/2) where e is y's. They are computed in front of the loop: see [expansion.invariants].
func (e *expansion) inverse(y int) (s, reciprocal int) {
	bits := e.vectorBits()
	and, xor := amd64.VPAND, amd64.VPXOR
	if e.wide {
		and, xor = amd64.VPANDD, amd64.VPXORD
	}
	all := func(pattern uint32) memory {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], pattern)
		return memory{kind: inPool, index: e.repeat(b[:])}
	}
	then := func(o amd64.VectorOp, x, y int, from memory) int {
		d := e.register(false)
		e.code = append(e.code, instr{op: o, bits: bits, d: d, x: x, y: y, from: from})
		return d
	}
	const halfExponent = 127 << 23
	half := then(and, e.shiftAll(amd64.VPSRLD, y, 1), 0, all(halfExponent))
	s = then(amd64.VPADDD, then(xor, half, 0, all(halfExponent)), 0, all(63<<23))
	one := then(amd64.VMOVUPS, 0, 0, all(127<<23))
	reciprocal = then(amd64.VDIVPS, one, then(amd64.VMULPS, y, s, memory{}), memory{})
	e.once = append(e.once, s, reciprocal)
	return s, reciprocal
}
