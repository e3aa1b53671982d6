package scalar

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// recipe writes an op by instructions.
type recipe func(b *Builder, x []Value) Value

// Named applies an op. It reports false for names without instructions.
func (b *Builder) Named(name Name, args ...Value) (Value, bool) {
	write, ok := allRecipes()[name]
	if !ok {
		return None, false
	}
	return write(b, args), true
}

// Known reports whether Named has instructions for a name.
func Known(name Name) bool { return allRecipes()[name] != nil }

// Names lists what Named knows.
func Names() []Name {
	return slices.SortedFunc(maps.Keys(allRecipes()), func(a, b Name) int { return strings.Compare(a.String(), b.String()) })
}

type recipes map[Name]recipe

// intType is an integer type: in registers of 32 or 64 bits narrower ones are extended where it matters.
type intType struct {
	typ    Type
	bits   int
	signed bool
	word   int // bits of the instructions for it
}

func (t intType) bytes() int { return t.bits / 8 }

// extend makes the bits above the type's what the type's sign asks for.
func (t intType) extend(b *Builder, v Value) Value {
	switch {
	case t.bits == 8 && t.signed:
		return b.op(opExtS8, 8, v)
	case t.bits == 8:
		return b.op(opExtU8, 8, v)
	case t.bits == 16 && t.signed:
		return b.op(opExtS16, 8, v)
	case t.bits == 16:
		return b.op(opExtU16, 8, v)
	case t.bits == 32 && t.signed:
		return b.op(opExtS32, 8, v)
	case t.bits == 32:
		return b.op(opExtU32, 8, v)
	}
	return v
}

// inWord is v so that instructions of the type's word see its value.
func (t intType) inWord(b *Builder, v Value) Value {
	if t.bits < 32 {
		return t.extend(b, v)
	}
	return v
}

// pick is the instruction for the type's word and sign, of four that follow each other as S32, U32, S64 and U64 do.
func (t intType) pick(first op) op {
	if !t.signed {
		first++
	}
	if t.word == 64 {
		first += 2
	}
	return first
}

var intTypes = []intType{
	{S8, 8, true, 32}, {S16, 16, true, 32}, {S32, 32, true, 32}, {S64, 64, true, 64},
	{U8, 8, false, 32}, {U16, 16, false, 32}, {U32, 32, false, 32}, {U64, 64, false, 64},
}

// allRecipes is made when the first loop asks.
var allRecipes = sync.OnceValue(func() recipes {
	r := make(recipes)
	for _, t := range intTypes {
		t.define(r)
	}
	r.definePred()
	r.defineFloat(F32, 4, opAddF32)
	r.defineFloat(F64, 8, opAddF64)
	r.defineRoots()
	r.defineConversions()
	r.defineComplex()
	for _, w := range []int{1, 2, 4, 8} {
		choose := opSelect4
		if w == 8 {
			choose = opSelect8
		}
		r[Name{Op: "select", Type: Sized(w)}] = func(b *Builder, x []Value) Value { return b.op(choose, w, x...) }
	}
	return r
})

func (t intType) define(r recipes) {
	w := t.bytes()
	for name, o := range map[string]op{"add": opAdd, "subtract": opSub, "multiply": opMul, "and": opAnd, "or": opOr, "xor": opXor} {
		r[Name{Op: name, Type: t.typ}] = func(b *Builder, x []Value) Value { return b.op(o, w, x[0], x[1]) }
	}
	for name, first := range map[string]op{"divide": opDivS32, "remainder": opRemS32, "maximum": opMaxS32, "minimum": opMinS32} {
		o := t.pick(first)
		r[Name{Op: name, Type: t.typ}] = func(b *Builder, x []Value) Value { return b.op(o, w, t.inWord(b, x[0]), t.inWord(b, x[1])) }
	}
	r[Name{Op: "clamp", Type: t.typ}] = func(b *Builder, x []Value) Value {
		lo, v, hi := t.inWord(b, x[0]), t.inWord(b, x[1]), t.inWord(b, x[2])
		return b.op(t.pick(opMinS32), w, hi, b.op(t.pick(opMaxS32), max(w, 4), v, lo))
	}
	r[Name{Op: "negate", Type: t.typ}] = func(b *Builder, x []Value) Value { return b.op(opSub, w, b.Const(8, 0), x[0]) }
	r[Name{Op: "not", Type: t.typ}] = func(b *Builder, x []Value) Value { return b.op(opXor, w, x[0], b.Const(8, ^uint64(0))) }
	if t.signed {
		r[Name{Op: "abs", Type: t.typ}] = func(b *Builder, x []Value) Value {
			v := t.inWord(b, x[0])
			return b.op(t.pick(opMaxS32), w, v, b.op(opSub, max(w, 4), b.Const(8, 0), v))
		}
	}
	r[Name{Op: "sign", Type: t.typ}] = func(b *Builder, x []Value) Value {
		v := b.op(t.pick(opMinS32), max(w, 4), t.inWord(b, x[0]), b.Const(8, 1))
		if t.signed {
			v = b.op(t.pick(opMaxS32), w, v, b.Const(8, ^uint64(0)))
		}
		return v
	}
	t.defineCompares(r)
	t.defineShifts(r)
}

func (t intType) defineCompares(r recipes) {
	second := op(0)
	if t.word == 64 {
		second = opEq64 - opEq32
	}
	less := opLtS32
	if !t.signed {
		less = opLtU32
	}
	for name, o := range map[string]op{"eq": opEq32, "ne": opNe32, "lt": less, "le": less + 1} {
		o += second
		r[Name{Op: name, Type: t.typ}] = func(b *Builder, x []Value) Value { return b.op(o, 1, t.inWord(b, x[0]), t.inWord(b, x[1])) }
	}
}

// defineShifts uses that amounts count as unsigned: extended with zeros, the large ones stay large.
func (t intType) defineShifts(r recipes) {
	second := op(0)
	if t.word == 64 {
		second = opShl64 - opShl32
	}
	w, unsigned, signed := t.bytes(), t, t
	unsigned.signed, signed.signed = false, true
	for name, s := range map[string]struct {
		op op
		as intType
	}{"shift-left": {opShl32, unsigned}, "shift-right-logical": {opShr32, unsigned}, "shift-right-arithmetic": {opSar32, signed}} {
		r[Name{Op: name, Type: t.typ}] = func(b *Builder, x []Value) Value {
			return b.op(s.op+second, w, s.as.inWord(b, x[0]), unsigned.inWord(b, x[1]))
		}
	}
}

// definePred works on bytes 0 and 1.
func (r recipes) definePred() {
	for name, o := range map[string]op{"add": opOr, "maximum": opOr, "or": opOr, "multiply": opAnd, "minimum": opAnd, "and": opAnd, "xor": opXor} {
		r[Name{Op: name, Type: Pred}] = func(b *Builder, x []Value) Value { return b.op(o, 1, x[0], x[1]) }
	}
	r[Name{Op: "not", Type: Pred}] = func(b *Builder, x []Value) Value { return b.op(opXor, 1, x[0], b.Const(8, 1)) }
	for _, name := range []string{"eq", "ne", "lt", "le"} {
		r[Name{Op: name, Type: Pred}] = r[Name{Op: name, Type: U8}]
	}
}

// defineFloat uses that the instructions for both types are in the same order; first is the addition.
func (r recipes) defineFloat(t Type, width int, first op) {
	by := func(o op) op { return o - opAddF32 + first }
	for name, o := range map[string]op{"add": opAddF32, "subtract": opSubF32, "multiply": opMulF32, "divide": opDivF32, "maximum": opMaxF32,
		"minimum": opMinF32, "negate": opNegF32, "abs": opAbsF32, "sqrt": opSqrtF32} {
		r[Name{Op: name, Type: t}] = func(b *Builder, x []Value) Value { return b.op(by(o), width, x...) }
	}
	r[Name{Op: "clamp", Type: t}] = func(b *Builder, x []Value) Value {
		return b.op(by(opMinF32), width, x[2], b.op(by(opMaxF32), width, x[1], x[0]))
	}
	for name, how := range map[string]int32{"round-nearest-even": toEven, "floor": toFloor, "ceil": toCeil} {
		r[Name{Op: name, Type: t}] = func(b *Builder, x []Value) Value {
			return b.pure(node{op: by(opRoundF32), width: uint8(width), args: [3]Value{x[0], None, None}, m: how})
		}
	}
	r[Name{Op: "sign", Type: t}] = func(b *Builder, x []Value) Value {
		one, zero := b.floatConst(width, 1), b.Const(width, 0)
		choose := map[int]op{4: opSelect4, 8: opSelect8}[width]
		negative := b.op(choose, width, b.op(by(opLtF32), 1, x[0], zero), b.floatConst(width, -1), x[0])
		return b.op(choose, width, b.op(by(opLtF32), 1, zero, x[0]), one, negative)
	}
	second := op(0)
	if width == 8 {
		second = opEq64 - opEq32
	}
	r[Name{Op: "is-finite", Type: t}] = func(b *Builder, x []Value) Value {
		infinite := map[int]uint64{4: 0xff << 23, 8: 0x7ff << 52}[width]
		return b.op(opLtU32+second, 1, b.op(by(opAbsF32), width, x[0]), b.Const(width, infinite))
	}
	for name, o := range map[string][2]op{"eq": {opEqF32, opEq32}, "ne": {opNeF32, opNe32}, "lt": {opLtF32, opLtS32}, "le": {opLeF32, opLeS32}} {
		r[Name{Op: name, Type: t}] = func(b *Builder, x []Value) Value { return b.op(by(o[0]), 1, x[0], x[1]) }
		r[Name{Op: name, Type: t, Total: true}] = func(b *Builder, x []Value) Value {
			return b.op(o[1]+second, 1, b.op(by(opTotalF32), width, x[0]), b.op(by(opTotalF32), width, x[1]))
		}
	}
}

// ConstFloat64 is an f64.
func (b *Builder) ConstFloat64(v float64) Value { return b.floatConst(8, v) }

// floatConst is a float of so many bytes.
func (b *Builder) floatConst(width int, v float64) Value {
	if width == 4 {
		return b.Const(4, uint64(math.Float32bits(float32(v))))
	}
	return b.Const(8, math.Float64bits(v))
}

// defineRoots rounds once: what is computed from a float32 in float64 is exact enough for that.
func (r recipes) defineRoots() {
	rsqrt := func(b *Builder, x Value) Value { return b.op(opDivF64, 8, b.floatConst(8, 1), b.op(opSqrtF64, 8, x)) }
	r[Name{Op: "rsqrt", Type: F64}] = func(b *Builder, x []Value) Value { return rsqrt(b, x[0]) }
	r[Name{Op: "rsqrt", Type: F32}] = func(b *Builder, x []Value) Value {
		return b.op(opF64ToF32, 4, rsqrt(b, b.op(opF32ToF64, 8, x[0])))
	}
}

func (r recipes) defineConversions() {
	for _, from := range append(intTypes, intType{Pred, 8, false, 32}) {
		for _, to := range intTypes {
			r[Name{Op: "convert", Type: from.typ, To: to.typ}] = func(b *Builder, x []Value) Value {
				if to.bits > from.bits {
					return from.extend(b, x[0])
				}
				return x[0] // what is above the lower bits does not count
			}
		}
		r[Name{Op: "convert", Type: from.typ, To: Pred}] = func(b *Builder, x []Value) Value {
			if from.bits == 64 {
				return b.op(opNe64, 1, x[0], b.Const(8, 0))
			}
			return b.op(opNe32, 1, from.inWord(b, x[0]), b.Const(8, 0))
		}
		if from.typ == U64 {
			continue // rounds from 64 bits without a sign
		}
		for k, to := range []Type{F32, F64} {
			r[Name{Op: "convert", Type: from.typ, To: to}] = func(b *Builder, x []Value) Value {
				if from.bits == 64 || from.typ == U32 {
					return b.op(opS64ToF32+op(k), 4<<k, from.extend(b, x[0]))
				}
				return b.op(opS32ToF32+op(k), 4<<k, from.inWord(b, x[0]))
			}
		}
	}
	r[Name{Op: "convert", Type: BF16, To: F32}] = func(b *Builder, x []Value) Value { return b.op(opShl32, 4, x[0], b.Const(4, 16)) }
	for types, c := range map[[2]Type]struct {
		op    op
		width int
	}{{F32, F64}: {opF32ToF64, 8}, {F64, F32}: {opF64ToF32, 4}, {F32, S32}: {opF32ToS32, 4}, {F64, S32}: {opF64ToS32, 4}} {
		r[Name{Op: "convert", Type: types[0], To: types[1]}] = func(b *Builder, x []Value) Value { return b.op(c.op, c.width, x[0]) }
	}
}
