package main

import (
	"math"
	"math/bits"
	"strings"

	"github.com/mmcloughlin/avo/operand"
)

// kernels are all kernels.
func kernels() []kernel {
	var all []kernel
	for _, group := range [][]kernel{floats(), integers(), bitCounts(), narrowIntegers(), powers(), quotients(), remainders(),
		masks(), conversions(), casts(), complexes(), onParts(), functions(), doubles(), {doublePowers(), doubleAngles()}, reductions(), runFolds(), windowFolds(), scatters(), onBrain(), equalities(), fills(), orders()} {
		all = append(all, group...)
	}
	for i := range all {
		all[i].unroll = max(all[i].unroll, 1)
	}
	return all
}

// elements is the form of elements as wide as lanes.
func elements(size int) form { return form{size: size} }

// elementwise is a kernel on elements as wide as lanes.
func elementwise(key, doc string, lane, arity int, body func(m *machine, in []vector) vector) kernel {
	k := kernel{key: key, doc: doc, out: elements(lane), lane: lane, unroll: 2, body: body}
	for range arity {
		k.in = append(k.in, elements(lane))
	}
	return k
}

// floats are arithmetic and comparison of f32 and f64.
func floats() (all []kernel) {
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		binary := func(name, doc string, body func(m *machine, x, y vector) vector) {
			all = append(all, elementwise(name+"."+typ, doc, lane, 2, func(m *machine, in []vector) vector { return body(m, in[0], in[1]) }))
		}
		unary := func(name, doc string, body func(m *machine, x vector) vector) {
			all = append(all, elementwise(name+"."+typ, doc, lane, 1, func(m *machine, in []vector) vector { return body(m, in[0]) }))
		}
		binary("add", "sets d to a + b.", func(m *machine, x, y vector) vector { return m.add(x, y) })
		binary("subtract", "sets d to a - b.", func(m *machine, x, y vector) vector { return m.sub(x, y) })
		binary("multiply", "sets d to a·b.", func(m *machine, x, y vector) vector { return m.mul(x, y) })
		binary("divide", "sets d to a / b.", func(m *machine, x, y vector) vector { return m.div(x, y) })
		binary("maximum", "sets d to the greater of a and b: NaN if one is, and +0 before -0.", (*machine).maximum)
		binary("minimum", "sets d to the lesser of a and b: NaN if one is, and -0 before +0.", (*machine).minimum)
		unary("negate", "flips signs.", func(m *machine, x vector) vector { return m.bits("XOR", x, m.pattern(1<<(8*m.lane-1))) })
		unary("abs", "clears signs.", (*machine).abs)
		unary("sqrt", "sets d to the square root.", func(m *machine, x vector) vector { return m.sqrt(x) })
		unary("rsqrt", "sets d to 1 over the square root, rounded twice.", func(m *machine, x vector) vector {
			return m.div(m.copyOf(m.constant(1)), m.sqrt(x))
		})
		unary("floor", "rounds down.", func(m *machine, x vector) vector { return m.round(x, down) })
		unary("ceil", "rounds up.", func(m *machine, x vector) vector { return m.round(x, up) })
		unary("round-nearest-even", "rounds to the nearest, ties to even.", func(m *machine, x vector) vector { return m.round(x, toNearest) })
		unary("round-nearest-afz", "rounds to the nearest, ties away from zero.", func(m *machine, x vector) vector {
			// Truncation, and one more if at least a half is left: both are exact.
			whole := m.round(x, toZero)
			rest := m.abs(m.sub(x, whole))
			one := m.withSign(m.copyOf(m.constant(1)), x)
			more := m.compare(isLessEqual, m.copyOf(m.constant(0.5)), rest)
			return m.choose(more, m.add(whole, one), whole)
		})
		unary("sign", "sets d to -1, ±0, 1 or NaN.", func(m *machine, x vector) vector {
			one := m.withSign(m.copyOf(m.constant(1)), x)
			nonzero := m.compare(isLess, m.copyOf(m.constant(0)), m.abs(x))
			return m.choose(nonzero, one, x)
		})
		finite := elementwise("is-finite."+typ, "tells numbers from infinities and NaN.", lane, 1, func(m *machine, in []vector) vector {
			return m.compare(isLess, m.abs(in[0]), m.constant(math.Inf(1)))
		})
		finite.out = predicates
		all = append(all, finite, reducePrecision(typ, lane))
		clamp := elementwise("clamp."+typ, "sets d to b between a and c.", lane, 3, func(m *machine, in []vector) vector {
			return m.minimum(in[2], m.maximum(in[1], in[0]))
		})
		all = append(all, clamp)
		for _, c := range []struct {
			name, doc string
			predicate int
		}{
			{"eq", "sets d to a = b.", isEqual}, {"ne", "sets d to a ≠ b.", isNotEqual},
			{"lt", "sets d to a < b.", isLess}, {"le", "sets d to a ≤ b.", isLessEqual},
		} {
			all = append(all, comparison(c.name+"."+typ, c.doc, lane, func(m *machine, x, y vector) vector { return m.compare(c.predicate, x, y) }))
		}
	}
	for bits, lane := range pairs("32", 4, "64", 8) {
		for predicate, name := range []string{1: "lt", 2: "le"} {
			if name != "" {
				all = append(all, comparison(name+".total"+bits, "compares floating-point numbers in the total order.", lane,
					func(m *machine, x, y vector) vector {
						return m.compareIntegers(uint8(predicate), false, m.totalKey(x), m.totalKey(y))
					}))
			}
		}
	}
	return all
}

// reducePrecision rounds codes as the six numbers at b say, each as wide as a lane: the lowest bit that stays; what is added to even and
// to odd magnitudes, before the bits that do not stay are cleared; the mask of those that do; the magnitude below which nothing is left,
// and the one from which on it is infinite.
func reducePrecision(typ string, lane int) kernel {
	k := elementwise("reduce-precision."+typ, "rounds numbers to a smaller format, which b describes.", lane, 1, nil)
	k.before = func(m *machine) func(*machine, []vector) vector {
		at := m.argument("b")
		var p [6]vector
		for i := range p {
			p[i] = m.vector()
			m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: at, Disp: i * lane}, p[i])
		}
		return func(m *machine, in []vector) vector {
			x := in[0]
			magnitude := m.abs(x)
			even := m.compareIntegers(0, false, m.bits("AND", magnitude, p[0]), m.zero())
			r := m.bits("AND", m.integer3("ADD", magnitude, m.choose(even, p[1], p[2])), p[3])
			r = m.choose(m.compareIntegers(1, false, r, p[4]), m.zero(), r)
			infinity := m.copyOf(m.constant(math.Inf(1)))
			r = m.choose(m.compareIntegers(1, false, r, p[5]), r, infinity)
			r = m.choose(m.compareIntegers(1, false, magnitude, infinity), r, magnitude)
			return m.withSign(r, x)
		}
	}
	k.unroll = 1
	return k
}

// totalKey is an integer that orders as x does in the total order: the negative ones are mirrored.
func (m *machine) totalKey(x vector) vector {
	var negative vector
	if m.wide || m.lane == 4 {
		negative = m.shift("SRA", x, 8*m.lane-1)
	} else {
		negative = m.integer3("CMPGT", m.zero(), x)
	}
	return m.bits("XOR", x, m.bits("AND", negative, m.pattern(1<<(8*m.lane-1)-1)))
}

// pairs goes through types and their sizes.
func pairs(p ...any) func(func(string, int) bool) {
	return func(yield func(string, int) bool) {
		for i := 0; i < len(p); i += 2 {
			if !yield(p[i].(string), p[i+1].(int)) {
				return
			}
		}
	}
}

// maximum takes what both orders of the operands give: they differ for zeros, where AND makes +0 of two signs, and for NaN.
func (m *machine) maximum(x, y vector) vector {
	return m.choose(m.compare(isUnordered, x, y), m.add(x, y), m.bits("AND", m.max(x, y), m.max(y, x)))
}

func (m *machine) minimum(x, y vector) vector {
	return m.choose(m.compare(isUnordered, x, y), m.add(x, y), m.bits("OR", m.min(x, y), m.min(y, x)))
}

func comparison(key, doc string, lane int, body func(m *machine, x, y vector) vector) kernel {
	k := elementwise(key, doc, lane, 2, func(m *machine, in []vector) vector { return body(m, in[0], in[1]) })
	k.out = predicates
	return k
}

// predicates are bytes 0 and 1, as masks.
var predicates = form{size: 1, name: "truth",
	load: func(m *machine, from operand.Mem, tail operand.Op) vector {
		if !m.wide {
			// Lanes of zeros are not set; the others are, whatever they hold.
			x := m.vector()
			m.op(map[int]string{1: "VMOVDQU", 2: "VPMOVZXBW", 4: "VPMOVZXBD", 8: "VPMOVZXBQ"}[m.lane], from, x)
			return m.compareIntegers(4, false, x, m.zero())
		}
		k, x := m.K(), m.part(1)
		switch {
		case tail != nil:
			m.op("VMOVDQU8_Z", from, tail, x)
		case m.lane == 8:
			m.op("VMOVQ", from, x)
		case m.lane == 1:
			m.op("VMOVDQU8", from, x)
		default:
			m.op("VMOVDQU", from, x)
		}
		m.op("VPTESTMB", x, x, k)
		return vector{k: k}
	},
	store: func(m *machine, x vector, to operand.Mem, tail operand.Op) {
		if m.wide {
			ones := m.part(1)
			m.op("VMOVDQU8_Z", m.ones(), x.k, ones)
			switch {
			case tail != nil:
				m.op("VMOVDQU8", ones, tail, to)
			case m.lane == 8:
				m.op("VMOVQ", ones, to)
			case m.lane == 1:
				m.op("VMOVDQU8", ones, to)
			default:
				m.op("VMOVDQU", ones, to)
			}
			return
		}
		if m.lane == 1 {
			m.op("VMOVDQU", m.bits("AND", x, m.ones()), to)
			return
		}
		bytes := m.shrunk(x, 0, 1)
		m.VPAND(m.ones(), bytes, bytes)
		m.storeBytes(bytes, m.lanes(), to)
	},
}

// ones are bytes 1.
func (m *machine) ones() operand.Mem { return m.as(1).pattern(1) }

// part is a register for as many elements of a size as there are lanes.
func (m *machine) part(size int) vector {
	switch bytes := m.lanes() * size; {
	case bytes <= 16:
		return vector{VecVirtual: m.XMM()}
	case bytes == 32:
		return vector{VecVirtual: m.YMM()}
	}
	return vector{VecVirtual: m.ZMM()}
}

// masks are choices by predicates, and logic.
func masks() (all []kernel) {
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		k := elementwise("select."+typ, "sets d to b where a is set, else to c.", lane, 3, func(m *machine, in []vector) vector {
			return m.choose(in[0], in[1], in[2])
		})
		k.in[0] = predicates
		all = append(all, k)
		for _, op := range []string{"and", "or", "xor"} {
			name := map[string]string{"and": "AND", "or": "OR", "xor": "XOR"}[op]
			all = append(all, elementwise(op+"."+typ, "sets d to a "+op+" b.", lane, 2, func(m *machine, in []vector) vector {
				return m.bits(name, in[0], in[1])
			}))
		}
		all = append(all, elementwise("not."+typ, "flips all bits.", lane, 1, func(m *machine, in []vector) vector {
			return m.bits("XOR", in[0], m.pattern(^uint64(0)>>(64-8*lane)))
		}))
	}
	return append(all, elementwise("not.pred", "flips the lowest bit of bytes.", 1, 1, func(m *machine, in []vector) vector {
		return m.bits("XOR", in[0], m.pattern(1))
	}))
}

// integers are arithmetic and comparison of integers.
func integers() (all []kernel) {
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		instruction := func(name, doc, mnemonic string, wideOnly bool) {
			k := elementwise(name+typ, doc, lane, 2, func(m *machine, in []vector) vector { return m.integer3(mnemonic, in[0], in[1]) })
			k.wideOnly = wideOnly
			all = append(all, k)
		}
		instruction("add.i", "sets d to a + b.", "ADD", false)
		instruction("subtract.i", "sets d to a - b.", "SUB", false)
		if lane > 1 {
			instruction("multiply.i", "sets d to a·b.", "MULL", lane == 8)
		}
		for _, signed := range []string{"s", "u"} {
			instruction("maximum."+signed, "sets d to the greater of a and b.", "MAX"+strings.ToUpper(signed), lane == 8)
			instruction("minimum."+signed, "sets d to the lesser of a and b.", "MIN"+strings.ToUpper(signed), lane == 8)
			for _, c := range []struct {
				name, doc string
				predicate uint8
			}{{"lt", "sets d to a < b.", 1}, {"le", "sets d to a ≤ b.", 2}} {
				k := comparison(c.name+"."+signed+typ, c.doc, lane, func(m *machine, x, y vector) vector {
					return m.compareIntegers(c.predicate, signed == "u", x, y)
				})
				all = append(all, k)
			}
			clamp := elementwise("clamp."+signed+typ, "sets d to b between a and c.", lane, 3, func(m *machine, in []vector) vector {
				return m.integer3("MIN"+strings.ToUpper(signed), in[2], m.integer3("MAX"+strings.ToUpper(signed), in[1], in[0]))
			})
			clamp.wideOnly = lane == 8
			all = append(all, clamp)
		}
		for _, c := range []struct {
			name, doc string
			predicate uint8
		}{{"eq", "sets d to a = b.", 0}, {"ne", "sets d to a ≠ b.", 4}} {
			all = append(all, comparison(c.name+".i"+typ, c.doc, lane, func(m *machine, x, y vector) vector {
				return m.compareIntegers(c.predicate, false, x, y)
			}))
		}
		all = append(all, elementwise("negate.i"+typ, "sets d to -a.", lane, 1, func(m *machine, in []vector) vector {
			return m.integer3("SUB", m.zero(), in[0])
		}))
		if lane >= 4 {
			instruction("shift-left.i", "shifts a left by b; amounts as large as the type give 0.", "SLLV", false)
			all = append(all, elementwise("rotate-left.i"+typ, "rotates a left by b, modulo the width.", lane, 2, func(m *machine, in []vector) vector {
				return m.rotate(in[0], in[1])
			}))
			instruction("shift-right-logical.i", "shifts zeros in from the left.", "SRLV", false)
			instruction("shift-right-arithmetic.i", "shifts signs in from the left.", "SRAV", lane == 8)
		}
		all = append(all, elementwise("abs.s"+typ, "sets d to the magnitude of a, modulo 2^n.", lane, 1, func(m *machine, in []vector) vector {
			if lane == 8 && !m.wide {
				negative := m.integer3("CMPGT", m.zero(), in[0])
				return m.integer3("SUB", m.bits("XOR", in[0], negative), negative)
			}
			d := m.vector()
			m.op("VPABS"+m.integerSuffix(), in[0], d)
			return d
		}), elementwise("sign.s"+typ, "sets d to -1, 0 or 1.", lane, 1, func(m *machine, in []vector) vector {
			if lane == 8 && !m.wide {
				return m.integer3("SUB", m.integer3("CMPGT", m.zero(), in[0]), m.integer3("CMPGT", in[0], m.zero()))
			}
			return m.integer3("MAXS", m.integer3("MINS", in[0], m.pattern(1)), m.pattern(^uint64(0)>>(64-8*lane)))
		}))
	}
	return all
}

// compareIntegers takes predicates of 512-bit instructions: 0 is equal, 1 less, 2 less or equal, 4 not equal.
func (m *machine) compareIntegers(predicate uint8, unsigned bool, x, y vector) vector {
	if m.wide {
		name := "VPCMP"
		if unsigned {
			name = "VPCMPU"
		}
		k := m.K()
		m.op(name+m.integerSuffix(), operand.U8(predicate), y, x, k)
		return vector{k: k}
	}
	if unsigned { // order as signed, with the highest bits flipped
		top := m.pattern(1 << (8*m.lane - 1))
		x, y = m.bits("XOR", x, top), m.bits("XOR", y, top)
	}
	var d vector
	switch predicate {
	case 0, 4:
		d = m.integer3("CMPEQ", x, y)
	case 1:
		d = m.integer3("CMPGT", y, x)
	case 2:
		d = m.integer3("CMPGT", x, y)
	}
	if predicate&6 != 0 {
		d = m.bits("XOR", d, m.pattern(^uint64(0)>>(64-8*m.lane)))
	}
	return d
}

// fills repeat one element.
func fills() (all []kernel) {
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		k := elementwise("fill."+typ, "sets all of d to the element at a.", lane, 0, nil)
		k.unroll = 4
		k.before = func(m *machine) func(*machine, []vector) vector {
			x := m.vector()
			m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: m.argument("a")}, x)
			return func(*machine, []vector) vector { return x }
		}
		all = append(all, k)
	}
	return append(all, counting())
}

// counting writes a series of s32, the first and the difference of which are at a.
func counting() kernel {
	k := elementwise("count.i32", "sets d to a[0], a[0] + a[1], a[0] + 2·a[1] and so on.", 4, 0, nil)
	k.before = func(m *machine) func(*machine, []vector) vector {
		at := m.argument("a")
		x, step, first := m.vector(), m.vector(), m.vector()
		m.op("VPBROADCASTD", operand.Mem{Base: at, Disp: 4}, step)
		m.op("VPMULLD", m.indices(), step, x)
		m.op("VPBROADCASTD", operand.Mem{Base: at}, first)
		m.op("VPADDD", first, x, x)
		m.op("VPSLLD", operand.U8(uint8(bits.TrailingZeros(uint(m.lanes())))), step, step)
		return func(*machine, []vector) vector {
			d := m.copyOf(x)
			m.op("VPADDD", step, x, x)
			return d
		}
	}
	return k
}

// rotate turns lanes of 32 or 64 bits to the left.
func (m *machine) rotate(x, by vector) vector {
	if m.wide {
		return m.integer3("ROLV", x, by)
	}
	by = m.bits("AND", by, m.pattern(uint64(8*m.lane-1)))
	back := m.integer3("SUB", m.copyOf(m.pattern(uint64(8*m.lane))), by)
	return m.bits("OR", m.integer3("SLLV", x, by), m.integer3("SRLV", x, back))
}
