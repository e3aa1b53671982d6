package main

import "github.com/mmcloughlin/avo/operand"

// conversions are named for the type before and after. Where only the width of integers counts, i stands for s and u.
func conversions() (all []kernel) {
	convert := func(key, doc string, lane int, in, out form, wideOnly bool, body func(m *machine, x vector) vector) {
		all = append(all, kernel{key: "convert." + key, doc: doc, lane: lane, in: []form{in}, out: out, unroll: 2, wideOnly: wideOnly,
			body: func(m *machine, in []vector) vector {
				if body == nil {
					return in[0]
				}
				return body(m, in[0])
			}})
	}
	f32, f64 := elements(4), elements(8)
	convert("bf16.f32", "decodes bf16.", 4, extended(2, "ZX"), f32, false, func(m *machine, x vector) vector { return m.shift("SLL", x, 16) })
	convert("f32.bf16", "encodes bf16, rounding to the nearest.", 4, f32, truncated(2), false, func(m *machine, x vector) vector {
		return m.shift("SRL", m.carryBF16(x), 16)
	})
	all = append(all, elementwise("round.bf16", "rounds f32 to what bf16 can hold.", 4, 1, func(m *machine, in []vector) vector {
		return m.roundBF16(in[0])
	}))
	all = append(all, elementwise("round.f16", "rounds f32 to what f16 can hold.", 4, 1, func(m *machine, in []vector) vector {
		half, d := m.part(2), m.vector()
		m.op("VCVTPS2PH", operand.U8(0), in[0], half)
		m.op("VCVTPH2PS", half, d)
		return d
	}))
	for _, op := range []struct {
		name, doc string
		body      func(m *machine, x vector, y operand.Op) vector
	}{
		{"add", "a + b", (*machine).add}, {"subtract", "a - b", (*machine).sub},
		{"multiply", "a·b", (*machine).mul}, {"divide", "a / b", (*machine).div},
	} {
		all = append(all, elementwise(op.name+".round.bf16", "sets d to "+op.doc+" of f32, rounded to f32 and then to what bf16 can hold.", 4, 2,
			func(m *machine, in []vector) vector { return m.roundBF16(op.body(m, in[0], in[1])) }))
	}
	convert("f16.f32", "decodes f16.", 4, halves, f32, true, nil)
	convert("f32.f16", "encodes f16, rounding to the nearest.", 4, f32, halves, true, nil)
	for _, signed := range []string{"s", "u"} {
		extend := map[string]string{"s": "SX", "u": "ZX"}[signed]
		for typ, size := range pairs("8", 1, "16", 2) {
			convert(signed+typ+".i32", "widens integers.", 4, extended(size, extend), f32, false, nil)
			convert(signed+typ+".f32", "converts integers to f32, exactly.", 4, extended(size, extend), f32, false, (*machine).toFloat)
		}
		convert(signed+"32.i64", "widens integers.", 8, extended(4, extend), f64, false, nil)
	}
	convert("i32.i8", "keeps the lowest bits.", 4, f32, truncated(1), true, nil)
	convert("i32.i16", "keeps the lowest bits.", 4, f32, truncated(2), true, nil)
	convert("i64.i32", "keeps the lowest bits.", 8, f64, truncated(4), true, nil)
	convert("s32.f32", "rounds integers to f32.", 4, f32, f32, false, (*machine).toFloat)
	convert("u32.f32", "rounds integers to f32.", 4, f32, f32, true, func(m *machine, x vector) vector {
		d := m.vector()
		m.op("VCVTUDQ2PS", x, d)
		return d
	})
	convert("f32.s32", "truncates, and stops at the ends of the range; NaN gives 0.", 4, f32, f32, false, func(m *machine, x vector) vector {
		d := m.vector()
		m.op("VCVTTPS2DQ", x, d)
		d = m.choose(m.compare(isLessEqual, m.copyOf(m.constant(1<<31)), x), m.copyOf(m.pattern(1<<31-1)), d)
		return m.choose(m.compare(isUnordered, x, x), m.zero(), d)
	})
	convert("f32.f64", "widens.", 8, singles, f64, false, nil)
	convert("f64.f32", "rounds to f32.", 8, f64, singles, false, nil)
	convert("s64.f64", "rounds integers to f64.", 8, f64, f64, true, func(m *machine, x vector) vector {
		d := m.vector()
		m.op("VCVTQQ2PD", x, d)
		return d
	})
	convert("s32.f64", "converts integers to f64, exactly.", 8, signed32, f64, false, nil)
	return all
}

// toFloat converts lanes of s32.
func (m *machine) toFloat(x vector) vector {
	d := m.vector()
	m.op("VCVTDQ2PS", x, d)
	return d
}

// roundBF16 rounds to what bf16 can hold.
func (m *machine) roundBF16(x vector) vector {
	return m.bits("AND", m.carryBF16(x), m.pattern(0xffff0000))
}

// carryBF16 rounds to the upper half of the bits, and leaves anything in the lower: adding just less than half of the last place carries
// if there is more, and the last bit itself decides where there is exactly half. NaN stays, made quiet.
func (m *machine) carryBF16(x vector) vector {
	if m.wide {
		odd := m.K()
		m.op("VPTESTMD", m.pattern(1<<16), x, odd)
		d := m.integer3("ADD", x, m.pattern(0x7fff))
		m.op("VPADDD", m.pattern(1), d, odd, d)
		m.op("VPORD", m.pattern(0x400000), x, m.compare(isUnordered, x, x).k, d)
		return d
	}
	last := m.bits("AND", m.shift("SRL", x, 16), m.pattern(1))
	sum := m.integer3("ADD", m.integer3("ADD", x, m.pattern(0x7fff)), last)
	return m.choose(m.compare(isUnordered, x, x), m.bits("OR", x, m.pattern(0x400000)), sum)
}

// extended are narrow integers, as wide ones in lanes: how is ZX or SX.
func extended(size int, how string) form {
	return form{size: size, load: func(m *machine, from operand.Mem, tail operand.Op) vector {
		name := "VPMOV" + how + letters[size] + letters[m.lane]
		d := m.vector()
		if tail != nil {
			m.op(name+"_Z", from, tail, d)
		} else {
			m.op(name, from, d)
		}
		return d
	}}
}

var letters = map[int]string{1: "B", 2: "W", 4: "D", 8: "Q"}

// truncated are the low parts of lanes.
func truncated(size int) form {
	return form{size: size, store: func(m *machine, x vector, to operand.Mem, tail operand.Op) {
		name := "VPMOV" + letters[m.lane] + letters[size]
		switch {
		case tail != nil:
			m.op(name, x, tail, to)
		case m.wide:
			m.op(name, x, to)
		default: // of 32 bits, which hold numbers of 16
			high, packed := m.XMM(), m.XMM()
			m.VEXTRACTI128(operand.U8(1), x.VecVirtual, high)
			m.VPACKUSDW(high, x.AsX(), packed)
			m.VMOVDQU(packed, to)
		}
	}}
}

// halves are f16, as f32 in lanes.
var halves = form{size: 2,
	load: func(m *machine, from operand.Mem, tail operand.Op) vector {
		d := m.vector()
		if tail != nil {
			m.op("VCVTPH2PS_Z", from, tail, d)
		} else {
			m.op("VCVTPH2PS", from, d)
		}
		return d
	},
	store: func(m *machine, x vector, to operand.Mem, tail operand.Op) {
		if tail != nil {
			m.op("VCVTPS2PH", operand.U8(0), x, tail, to)
		} else {
			m.op("VCVTPS2PH", operand.U8(0), x, to)
		}
	},
}

// signed32 are s32, as f64 in lanes.
var signed32 = form{size: 4, load: func(m *machine, from operand.Mem, tail operand.Op) vector {
	d := m.vector()
	if tail != nil {
		m.op("VCVTDQ2PD_Z", from, tail, d)
	} else {
		m.op("VCVTDQ2PD", from, d)
	}
	return d
}}

// singles are f32, as f64 in lanes.
var singles = form{size: 4,
	load: func(m *machine, from operand.Mem, tail operand.Op) vector {
		d := m.vector()
		if tail != nil {
			m.op("VCVTPS2PD_Z", from, tail, d)
		} else {
			m.op("VCVTPS2PD", from, d)
		}
		return d
	},
	store: func(m *machine, x vector, to operand.Mem, tail operand.Op) {
		if !m.wide {
			half := m.XMM()
			m.op("VCVTPD2PSY", x, half)
			m.op("VMOVUPS", half, to)
			return
		}
		half := m.YMM()
		m.op("VCVTPD2PS", x, half)
		if tail != nil {
			m.op("VMOVUPS", half, tail, to)
		} else {
			m.op("VMOVUPS", half, to)
		}
	},
}
