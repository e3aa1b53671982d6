package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// casts are the conversions from and to integers, named as in conversions.
func casts() (all []kernel) {
	cast := func(key, doc string, lane int, in, out form, wideOnly bool, body func(m *machine, x vector) vector) {
		all = append(all, conversion(key, doc, lane, in, out, wideOnly, body))
	}
	const doc = "truncates, and stops at the ends of the range; NaN gives 0."
	f32, f64 := elements(4), elements(8)
	for typ, size := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		for to, toSize := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
			if toSize < size {
				cast("i"+typ+".i"+to, "keeps the lowest bits.", size, elements(size), truncated(toSize), false, nil)
			}
		}
		truth := conversion("i"+typ+".pred", "tells zero from other numbers.", size, elements(size), predicates, false, func(m *machine, x vector) vector {
			return m.compareIntegers(4, false, x, m.zero())
		})
		all = append(all, truth)
		for _, sign := range []string{"s", "u"} {
			extend := map[string]string{"s": "SX", "u": "ZX"}[sign]
			for to, toSize := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
				if toSize > size {
					cast(sign+typ+".i"+to, "widens integers.", toSize, extended(size, extend), elements(toSize), false, nil)
				}
			}
			if size < 4 {
				cast(sign+typ+".f32", "converts integers to f32, exactly.", 4, extended(size, extend), f32, false, (*machine).toFloat)
				cast(sign+typ+".f64", "converts integers to f64, exactly.", 8, extendedToDouble(size, extend), f64, false, nil)
			}
		}
	}
	cast("s32.f32", "rounds integers to f32.", 4, f32, f32, false, (*machine).toFloat)
	cast("u32.f32", "rounds integers to f32.", 4, f32, f32, false, (*machine).unsignedToFloat)
	cast("s32.f64", "converts integers to f64, exactly.", 8, extendedToDouble(4, "SX"), f64, false, nil)
	cast("u32.f64", "converts integers to f64, exactly.", 8, extended(4, "ZX"), f64, false, func(m *machine, x vector) vector {
		// A number below 2^52 becomes a double by the exponent of 2^52 in front of it.
		return m.sub(m.bits("OR", x, m.pattern(0x4330000000000000)), m.constant(1<<52))
	})
	for _, c := range []struct{ typ, letter string }{{"s64", ""}, {"u64", "U"}} {
		cast(c.typ+".f64", "rounds integers to f64.", 8, f64, f64, true, func(m *machine, x vector) vector {
			d := m.vector()
			m.op("VCVT"+c.letter+"QQ2PD", x, d)
			return d
		})
		cast(c.typ+".f32", "rounds integers to f32.", 8, f64, quadsAsSingles("VCVT"+c.letter+"QQ2PS"), true, nil)
	}
	for _, from := range []struct {
		typ  string
		lane int
		in   form
	}{{"f32", 4, f32}, {"f64", 8, f64}} {
		all = append(all, conversion(from.typ+".pred", "tells zero from other numbers.", from.lane, from.in, predicates, false, func(m *machine, x vector) vector {
			return m.compare(isNotEqual, x, m.zero())
		}))
		for _, to := range []struct {
			typ    string
			size   int
			lo, hi float64
		}{{"s8", 1, math.MinInt8, math.MaxInt8}, {"u8", 1, 0, math.MaxUint8}, {"s16", 2, math.MinInt16, math.MaxInt16}, {"u16", 2, 0, math.MaxUint16}} {
			cast(from.typ+"."+to.typ, doc, from.lane, from.in, truncated(to.size), from.lane == 8, func(m *machine, x vector) vector {
				return m.truncate(m.between(x, to.lo, to.hi), x)
			})
		}
	}
	cast("f32.s32", doc, 4, f32, f32, false, func(m *machine, x vector) vector {
		return m.choose(m.compare(isLessEqual, m.copyOf(m.constant(1<<31)), x), m.copyOf(m.pattern(1<<31-1)), m.truncate(x, x))
	})
	cast("f32.u32", doc, 4, f32, f32, true, func(m *machine, x vector) vector { return m.truncateUnsigned(x) })
	cast("f64.s32", doc, 8, f64, truncated(4), true, func(m *machine, x vector) vector {
		return m.truncate(m.between(x, math.MinInt32, math.MaxInt32), x)
	})
	cast("f64.u32", doc, 8, f64, truncated(4), true, func(m *machine, x vector) vector { return m.truncate(m.between(x, 0, math.MaxUint32), x) })
	for i, in := range []form{singles, f64} {
		from := []string{"f32", "f64"}[i]
		cast(from+".s64", doc, 8, in, f64, true, func(m *machine, x vector) vector {
			return m.choose(m.compare(isLessEqual, m.copyOf(m.constant(1<<63)), x), m.copyOf(m.pattern(1<<63-1)), m.truncate(x, x))
		})
		cast(from+".u64", doc, 8, in, f64, true, func(m *machine, x vector) vector { return m.truncateUnsigned(x) })
	}
	return all
}

// unsignedToFloat converts lanes of u32.
func (m *machine) unsignedToFloat(x vector) vector {
	if m.wide {
		d := m.vector()
		m.op("VCVTUDQ2PS", x, d)
		return d
	}
	// Both halves are exact, and so is all but the last addition.
	high := m.toFloat(m.shift("SRL", x, 16))
	low := m.toFloat(m.bits("AND", x, m.pattern(0xffff)))
	return m.add(m.mul(high, m.constant(1<<16)), low)
}

// truncate makes signed integers as wide as lanes of x, and 0 where number is NaN. What is too small becomes the least one.
func (m *machine) truncate(x, number vector) vector {
	d := m.vector()
	if m.lane == 8 {
		m.op("VCVTTPD2QQ", x, d)
	} else {
		m.op("VCVTTPS2DQ", x, d)
	}
	return m.choose(m.compare(isUnordered, number, number), m.zero(), d)
}

// truncateUnsigned makes unsigned integers, the greatest of which what is too large becomes.
func (m *machine) truncateUnsigned(x vector) vector {
	d := m.vector()
	positive := m.max(x, m.zero()) // 0 for NaN
	m.op(map[int]string{4: "VCVTTPS2UDQ", 8: "VCVTTPD2UQQ"}[m.lane], positive, d)
	return d
}

// extendedToDouble are integers of at most 32 bits, as f64 in lanes.
func extendedToDouble(size int, how string) form {
	return form{size: size, load: func(m *machine, from operand.Mem, tail operand.Op) vector {
		d := m.vector()
		switch {
		case m.wide && size == 4 && tail != nil:
			m.op("VCVTDQ2PD_Z", from, tail, d)
		case m.wide && size < 4:
			m.op("VCVTQQ2PD", extended(size, how).load(m, from, tail), d)
		case size == 4:
			m.op("VCVTDQ2PD", from, d)
		default:
			words := m.XMM()
			m.op("VPMOV"+how+letters[size]+"D", from, words)
			m.op("VCVTDQ2PD", words, d)
		}
		return d
	}}
}

// quadsAsSingles are f32 of integers in lanes of 64 bits.
func quadsAsSingles(instruction string) form {
	return form{size: 4, store: func(m *machine, x vector, to operand.Mem, tail operand.Op) {
		half := m.YMM()
		m.op(instruction, x, half)
		if tail != nil {
			m.op("VMOVUPS", half, tail, to)
		} else {
			m.op("VMOVUPS", half, to)
		}
	}}
}

// complexes are parts of complex numbers of two f32, which are lanes of 64 bits, and their product.
func complexes() (all []kernel) {
	all = append(all, kernel{key: "real.c64", doc: "takes real parts.", lane: 8, in: []form{elements(8)}, out: truncated(4), unroll: 2,
		body: func(_ *machine, in []vector) vector { return in[0] }})
	all = append(all, kernel{key: "imag.c64", doc: "takes imaginary parts.", lane: 8, in: []form{elements(8)}, out: truncated(4), unroll: 2,
		body: func(m *machine, in []vector) vector { return m.shift("SRL", in[0], 32) }})
	all = append(all, kernel{key: "complex.c64", doc: "joins parts.", lane: 8, in: []form{extended(4, "ZX"), extended(4, "ZX")}, out: elements(8), unroll: 2,
		body: func(m *machine, in []vector) vector { return m.bits("OR", in[0], m.shift("SLL", in[1], 32)) }})
	all = append(all, conversion("f32.c64", "adds imaginary parts of 0.", 8, extended(4, "ZX"), elements(8), false, nil))
	all = append(all, kernel{key: "abs.c64", doc: "sets d to magnitudes: see rootOfSquares.", lane: 8, in: []form{elements(8)}, out: singles, unroll: 2,
		body: func(m *machine, in []vector) vector {
			re, im := m.lowSingles(in[0]), m.lowSingles(m.shift("SRL", in[0], 32))
			return m.magnitude(re, im)
		}})
	// Products are loops over the parts, of which there are 2n. Those of f32 are computed in f64, as Go does.
	for i, part := range []form{singles, elements(8)} {
		all = append(all, kernel{key: "multiply." + []string{"c64", "c128"}[i], doc: "multiplies complex numbers; n counts their parts.", lane: 8,
			in: []form{part, part}, out: part, unroll: 2 - i, body: func(m *machine, in []vector) vector { return m.complexProduct(in[0], in[1], i == 0) }})
	}
	return all
}

// magnitude is the absolute value of a complex number with parts of f32, as f64, in which their squares neither overflow nor round.
func (m *machine) magnitude(re, im vector) vector {
	return m.rootOfSquares(m.fma(re, re, m.mul(im, im)))
}

// lowSingles is the f32 in the low half of each lane, as f64.
func (m *machine) lowSingles(x vector) vector {
	d := m.vector()
	if m.wide {
		half := m.YMM()
		m.op("VPMOVQD", x, half)
		m.op("VCVTPS2PD", half, d)
	} else {
		m.op("VCVTPS2PD", m.shrunk(x, 0, 4).AsX(), d)
	}
	return d
}

// rootOfSquares is the root of sums of squares of f32, in f64. The instruction for wide vectors takes several times as long as refining an estimate of 14 bits
// twice: exact roots stay exact, others differ from its by one place at most, rarely.
func (m *machine) rootOfSquares(x vector) vector {
	if !m.wide {
		return m.sqrt(x)
	}
	// Numbers in the place of 0 and infinity give a root that f32 has rounded to the same. NaN stays.
	limit := m.copyOf(m.constant(0x1p900))
	bounded := m.max(m.copyOf(m.constant(0x1p-320)), m.min(limit, x))
	estimate := m.vector()
	m.op("VRSQRT14PD", bounded, estimate)
	root, half := m.mul(bounded, estimate), m.mul(estimate, m.constant(0.5))
	wrong := m.fnma(root, half, m.constant(0.5))
	root, half = m.fma(root, wrong, root), m.fma(half, wrong, half)
	return m.fma(m.fnma(root, root, bounded), half, root)
}

// complexProduct may join multiplications with what follows where products are exact.
func (m *machine) complexProduct(x, y vector, isExact bool) vector {
	re, im, swapped := m.vector(), m.vector(), m.vector()
	m.op("VMOVDDUP", x, re)
	m.op("VPERMILPD", operand.U8(0xff), x, im)
	m.op("VPERMILPD", operand.U8(0x55), y, swapped)
	if isExact {
		d := m.mul(im, swapped)
		m.op("VFMADDSUB231PD", y, re, d)
		return d
	}
	// The real part is a difference: of the second products it takes the negative.
	second := m.bits("XOR", m.mul(im, swapped), m.table([16]byte{7: 0x80}))
	return m.add(m.mul(re, y), second)
}
