package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// apart is the form of bf16 in memory, for folds in f32: the elements at even places are one vector, those at odd ones the next. Decoding is then a shift or a mask,
// where neighbours in one vector would have to be moved apart first. Only the chains have to be put in order at the end.
func (m *machine) apart() form {
	return form{size: 2, apart: true, upper: m.copyOf(m.pattern(0xffff0000)), codes: &brainCodes}
}

// together is the number of vectors that are taken at once.
func (f form) together() int {
	if f.apart {
		return 2
	}
	return 1
}

// isNarrow reports whether lanes are wider than elements.
func (f form) isNarrow() bool { return f.load != nil || f.apart }

func (m *machine) nextApart(in form, at operand.Mem) []vector { return m.decodeApart(in, m.copyOf(at)) }

func (m *machine) restApart(in form, at operand.Mem, n reg.Register, identity uint64) []vector {
	words := m.as(2)
	mask, v := words.tail(n), words.vector()
	m.op("VMOVDQU64", words.pattern(identity>>16), v)
	m.op("VMOVDQU16", at, mask, v)
	return m.decodeApart(in, v)
}

func (m *machine) decodeApart(in form, v vector) []vector {
	return []vector{m.shift("SLL", v, 16), m.bits("AND", v, in.upper)}
}

// joinApart folds two vectors of elements, which lie apart, in the order of joinLanes: halves first, and neighbours, which are in different vectors, last.
func (m *machine) joinApart(even, odd vector, body func(m *machine, x, y vector) vector) vector {
	half := func(name string, imm uint8) vector {
		d := m.vector()
		m.op(name, operand.U8(imm), odd, even, d)
		return d
	}
	swapped := func(v vector, name string, imm uint8, twice bool) vector {
		d := m.vector()
		if twice {
			m.op(name, operand.U8(imm), v, v, d)
		} else {
			m.op(name, operand.U8(imm), v, d)
		}
		return body(m, v, d)
	}
	var v vector // even elements, and odd ones
	if m.wide {
		v = body(m, half("VSHUFF64X2", 0x44), half("VSHUFF64X2", 0xee))
		v = swapped(v, "VSHUFF64X2", 0xb1, true)
	} else {
		v = body(m, half("VPERM2F128", 0x20), half("VPERM2F128", 0x31))
	}
	v = swapped(v, "VPERMILPS", 0x4e, false)
	v = swapped(v, "VPERMILPS", 0xb1, false)
	if m.wide {
		return swapped(v, "VSHUFF64X2", 0x4e, true)
	}
	return swapped(v, "VPERM2F128", 1, true)
}
