package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// conversions are named for the type before and after. Where only the width of integers counts, i stands for s and u.
func conversions() (all []kernel) {
	convert := func(key, doc string, lane int, in, out form, wideOnly bool, body func(m *machine, x vector) vector) {
		all = append(all, conversion(key, doc, lane, in, out, wideOnly, body))
	}
	f32, f64 := elements(4), elements(8)
	convert("bf16.f32", "decodes bf16.", 4, extended(2, "ZX"), f32, false, func(m *machine, x vector) vector { return m.shift("SLL", x, 16) })
	convert("f32.bf16", "encodes bf16, rounding to the nearest.", 4, f32, upper, false, (*machine).carryBF16)
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
		all = append(all, elementwise(op.name+".round.bf16", "sets d to "+op.doc+" of f32 that bf16 can hold, rounded to f32 and then to what bf16 can hold.", 4, 2,
			func(m *machine, in []vector) vector { return m.roundResult(op.body(m, in[0], in[1])) }))
	}
	convert("f16.f32", "decodes f16.", 4, halves, f32, false, nil)
	convert("f32.f16", "encodes f16, rounding to the nearest.", 4, f32, halves, false, nil)
	convert("f32.f64", "widens.", 8, singles, f64, false, nil)
	convert("f64.f32", "rounds to f32.", 8, f64, singles, false, nil)
	return all
}

// conversion is a kernel that converts.
func conversion(key, doc string, lane int, in, out form, wideOnly bool, body func(m *machine, x vector) vector) kernel {
	return kernel{key: "convert." + key, doc: doc, lane: lane, in: []form{in}, out: out, unroll: 2, wideOnly: wideOnly,
		body: func(m *machine, in []vector) vector {
			if body == nil {
				return in[0]
			}
			return body(m, in[0])
		}}
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

// roundResult is roundBF16 for what arithmetic gives of numbers that bf16 can hold: where that is NaN its lower bits are zero, and nothing carries.
func (m *machine) roundResult(x vector) vector {
	return m.bits("AND", m.carry(x), m.pattern(0xffff0000))
}

// carryBF16 rounds to the upper half of the bits, and leaves anything in the lower: adding just less than half of the last place carries
// if there is more, and the last bit itself decides where there is exactly half. NaN stays, made quiet.
func (m *machine) carryBF16(x vector) vector {
	d, isNaN := m.carry(x), m.compare(isUnordered, x, x)
	if m.wide {
		m.op("VPORD", m.pattern(0x400000), x, isNaN.k, d)
		return d
	}
	return m.choose(isNaN, m.bits("OR", x, m.pattern(0x400000)), d)
}

// carry is carryBF16 but for NaN.
func (m *machine) carry(x vector) vector {
	if m.wide {
		odd := m.K()
		m.op("VPTESTMD", m.pattern(1<<16), x, odd)
		d := m.integer3("ADD", x, m.pattern(0x7fff))
		m.op("VPADDD", m.pattern(1), d, odd, d)
		return d
	}
	last := m.bits("AND", m.shift("SRL", x, 16), m.pattern(1))
	return m.integer3("ADD", m.integer3("ADD", x, m.pattern(0x7fff)), last)
}

// upper are the upper halves of lanes of 32 bits.
var upper = form{size: 2, store: func(m *machine, x vector, to operand.Mem, tail operand.Op) {
	if m.wide {
		truncated(2).store(m, m.shift("SRL", x, 16), to, tail)
		return
	}
	m.storeBytes(m.shrunk(x, 2, 2), m.lanes()*2, to)
}}

// extended are narrow integers, as wide ones in lanes: how is ZX or SX.
func extended(size int, how string) form {
	return form{size: size, name: map[string]string{"ZX": "zeros"}[how], load: func(m *machine, from operand.Mem, tail operand.Op) vector {
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
		default:
			m.storeBytes(m.shrunk(x, 0, size), m.lanes()*size, to)
		}
	}}
}

// shrunk are the parts of lanes of 256 bits from a byte on, side by side.
func (m *machine) shrunk(x vector, from, size int) reg.VecVirtual {
	// In each half the wanted bytes come to the front; then the halves are joined.
	order := [16]byte{}
	for i := range order {
		order[i] = 0x80
	}
	each := 16 / m.lane
	for i := range each * size {
		order[i] = byte(i/size*m.lane + from + i%size)
	}
	d, high, joined := m.vector(), m.XMM(), m.XMM()
	m.op("VPSHUFB", m.table(order), x, d)
	m.VEXTRACTI128(operand.U8(1), d.VecVirtual, high)
	name := map[int]string{8: "VPUNPCKLQDQ", 4: "VPUNPCKLDQ", 2: "VPUNPCKLWD"}[each*size]
	m.op(name, high, d.AsX(), joined)
	return joined
}

// storeBytes stores the first n bytes of x: 4, 8 or 16.
func (m *machine) storeBytes(x reg.VecVirtual, n int, to operand.Mem) {
	m.op(map[int]string{4: "VMOVD", 8: "VMOVQ", 16: "VMOVDQU"}[n], x, to)
}

// halves are f16, as f32 in lanes.
var halves = form{size: 2, codes: &halfCodes,
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
