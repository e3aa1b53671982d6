package main

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/mmcloughlin/avo/operand"
)

// bitCounts are popcnt and count-leading-zeros.
func bitCounts() (all []kernel) {
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		all = append(all, elementwise("popcnt.i"+typ, "counts bits that are set.", lane, 1, func(m *machine, in []vector) vector {
			return m.bitCount(in[0])
		}), elementwise("count-leading-zeros.i"+typ, "counts zeros from the highest bit on.", lane, 1, func(m *machine, in []vector) vector {
			x := in[0]
			for by := 1; by < 8*lane; by *= 2 { // until all bits below the highest are set
				x = m.bits("OR", x, m.shiftDown(x, by))
			}
			return m.bitCount(m.bits("XOR", x, m.pattern(^uint64(0)>>(64-8*lane))))
		}))
	}
	for i := range all {
		all[i].unroll = 1
	}
	return all
}

// shiftDown shifts lanes right, bytes too, for which there is no instruction.
func (m *machine) shiftDown(x vector, by int) vector {
	if m.lane > 1 {
		return m.shift("SRL", x, by)
	}
	return m.bits("AND", m.as(2).shift("SRL", x, by), m.pattern(0xff>>by))
}

// bitCount looks the halves of bytes up in a table, and adds up the bytes of lanes.
func (m *machine) bitCount(x vector) vector {
	var counts [16]byte
	for i := range counts {
		counts[i] = byte(bits.OnesCount(uint(i)))
	}
	b := m.as(1)
	table := m.copyOf(m.table(counts))
	look := func(halves vector) vector {
		d := m.vector()
		m.op("VPSHUFB", halves, table, d)
		return d
	}
	low := b.bits("AND", x, b.pattern(0x0f))
	s := b.integer3("ADD", look(low), look(b.bits("AND", m.as(2).shift("SRL", x, 4), b.pattern(0x0f))))
	joined := m.vector()
	switch m.lane {
	case 1:
		return s
	case 2:
		m.op("VPMADDUBSW", m.ones(), s, joined)
	case 4:
		m.op("VPMADDUBSW", m.ones(), s, joined)
		m.op("VPMADDWD", m.as(2).pattern(1), joined, joined)
	case 8:
		m.op("VPSADBW", m.zero(), s, joined)
	}
	return joined
}

// narrowIntegers are ops on 8 and 16 bits for which there are no instructions: they are done with more bits.
func narrowIntegers() (all []kernel) {
	for _, op := range []struct{ name, doc, instruction, extend string }{
		{"shift-left", "shifts a left by b; amounts as large as the type give 0.", "SLLV", "ZX"},
		{"shift-right-logical", "shifts zeros in from the left.", "SRLV", "ZX"},
		{"shift-right-arithmetic", "shifts signs in from the left.", "SRAV", "SX"},
	} {
		for typ, size := range pairs("8", 1, "16", 2) {
			all = append(all, kernel{key: op.name + ".i" + typ, doc: op.doc, lane: 4, out: truncated(size), unroll: 2, halfOnly: true,
				in:   []form{extended(size, op.extend), extended(size, "ZX")},
				body: func(m *machine, in []vector) vector { return m.integer3(op.instruction, in[0], in[1]) }})
			k := elementwise(op.name+".i"+typ, op.doc, size, 2, func(m *machine, in []vector) vector {
				if size == 2 {
					return m.integer3(op.instruction, in[0], in[1])
				}
				return m.shiftBytes(op.instruction, in[0], in[1])
			})
			k.wideOnly = true
			all = append(all, k)
		}
	}
	all = append(all, elementwise("multiply.i8", "sets d to a·b.", 1, 2, func(m *machine, in []vector) vector {
		words, x, y := m.as(2), in[0], in[1]
		upper := words.integer3("MULL", words.upperBytes(x), words.shift("SRL", y, 8))
		return words.bits("OR", upper, words.lowerBytes(words.integer3("MULL", x, y)))
	}))
	for _, sign := range []string{"s", "u"} {
		instruction := map[string]string{"s": "MULH", "u": "MULHU"}[sign]
		all = append(all, elementwise("mulhi."+sign+"8", "sets d to the upper half of a·b.", 1, 2, func(m *machine, in []vector) vector {
			words, x, y := m.as(2), in[0], in[1]
			upper := words.integer3(instruction, words.upperBytes(x), words.upperBytes(y))
			lower := words.integer3(instruction, words.shift("SLL", x, 8), words.shift("SLL", y, 8))
			return words.bits("OR", words.upperBytes(upper), words.shift("SRL", lower, 8))
		}), elementwise("mulhi."+sign+"16", "sets d to the upper half of a·b.", 2, 2, func(m *machine, in []vector) vector {
			return m.integer3(instruction, in[0], in[1])
		}))
	}
	return all
}

// upperBytes and lowerBytes are every second byte, and zeros.
func (m *machine) upperBytes(x vector) vector { return m.bits("AND", x, m.pattern(0xff00)) }
func (m *machine) lowerBytes(x vector) vector { return m.bits("AND", x, m.pattern(0xff)) }

// shiftBytes shifts bytes where they are in words. What passes from one to its neighbour is cleared before or afterwards.
func (m *machine) shiftBytes(instruction string, x, by vector) vector {
	words := m.as(2)
	byLower, byUpper := words.lowerBytes(by), words.shift("SRL", by, 8)
	switch instruction {
	case "SLLV":
		return words.bits("OR", words.integer3(instruction, words.upperBytes(x), byUpper), words.lowerBytes(words.integer3(instruction, x, byLower)))
	case "SRLV":
		return words.bits("OR", words.upperBytes(words.integer3(instruction, x, byUpper)), words.integer3(instruction, words.lowerBytes(x), byLower))
	}
	lower := words.shift("SRL", words.integer3(instruction, words.shift("SLL", x, 8), byLower), 8)
	return words.bits("OR", words.upperBytes(words.integer3(instruction, x, byUpper)), lower)
}

// powers are those of integers: as many squares as the greatest exponent among the lanes has bits.
func powers() (all []kernel) {
	for _, sign := range []string{"s", "u"} {
		extend := map[string]string{"s": "SX", "u": "ZX"}[sign]
		for typ, size := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
			k := elementwise("power."+sign+typ, "sets d to a to the power b, modulo 2^n; of negative powers only those of 1 are not 0.", max(4, size), 2,
				func(m *machine, in []vector) vector { return m.power(in[0], in[1], sign == "s") })
			if size < 4 {
				k.in, k.out = []form{extended(size, extend), extended(size, extend)}, truncated(size)
			}
			k.unroll, k.wideOnly = 1, size == 8
			all = append(all, k)
		}
	}
	return all
}

func (m *machine) power(x, y vector, signed bool) vector {
	// These keep their registers, as the loop comes back to them.
	square, rest, result := m.copyOf(x), m.copyOf(y), m.copyOf(m.pattern(1))
	set := func(to, from vector) { m.float("VMOVA", from, to) }
	if signed {
		set(rest, m.choose(m.compareIntegers(1, false, y, m.zero()), m.zero(), y))
	}
	next, done := m.label("next"), m.label("done")
	m.Label(next)
	m.jumpIfZero(rest, done)
	odd := m.compareIntegers(4, false, m.bits("AND", rest, m.pattern(1)), m.zero())
	set(result, m.choose(odd, m.integer3("MULL", result, square), result))
	set(square, m.integer3("MULL", square, square))
	set(rest, m.shift("SRL", rest, 1))
	m.JMP(operand.LabelRef(next))
	m.Label(done)
	if !signed {
		return result
	}
	one := m.compareIntegers(0, false, x, m.copyOf(m.pattern(1)))
	inverse := m.choose(one, m.copyOf(m.pattern(1)), m.zero())
	return m.choose(m.compareIntegers(1, false, y, m.zero()), inverse, result)
}

// label is a new one in this function.
func (m *machine) label(name string) string {
	*m.labels++
	return fmt.Sprint(strings.ToLower(name), *m.labels)
}

// jumpIfZero jumps if no bit of x is set.
func (m *machine) jumpIfZero(x vector, to string) {
	if m.wide {
		k := m.K()
		m.VPTESTMD(x.VecVirtual, x.VecVirtual, k)
		m.KORTESTW(k, k)
	} else {
		m.VPTEST(x.VecVirtual, x.VecVirtual)
	}
	m.JZ(operand.LabelRef(to))
}
