package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// codes are narrow floats in memory that are compared without being decoded.
type codes struct {
	infinity uint16
	decode   func(m *machine, code reg.GPVirtual) vector // of one code
}

var (
	brainCodes = codes{0x7f80, func(m *machine, code reg.GPVirtual) vector {
		d := m.vector()
		m.SHLL(operand.U8(16), code.As32())
		m.VMOVD(code.As32(), d.AsX())
		return d
	}}
	halfCodes = codes{0x7c00, func(m *machine, code reg.GPVirtual) vector {
		d := m.vector()
		m.VMOVD(code.As32(), d.AsX())
		m.VCVTPH2PS(d.AsX(), d.AsX())
		return d
	}}
)

// extremeOfCodes finds the extreme of n codes at x. They are signs and magnitudes: the greatest is the greatest signed integer, if that is not negative, else the least
// unsigned one; the least is the greatest unsigned integer, if its sign is set, else the least one. NaN is above infinity in one order or the other, and then it jumps to a label.
func (m *machine) extremeOfCodes(n, x reg.Register, c codes, isGreatest bool, nan string) vector {
	w := m.as(2)
	first := w.vector()
	w.op("VPBROADCASTW", operand.Mem{Base: x}, first)
	signed, above, below := w.copyOf(first), w.copyOf(first), w.copyOf(first)
	add := func(v vector) {
		w.op("VPMAXSW", v, signed, signed)
		w.op("VPMAXUW", v, above, above)
		w.op("VPMINUW", v, below, below)
	}
	const chunk = chainBytes / 4
	all, ahead := operand.I32(chunk), m.ahead()
	m.CMPQ(n, all)
	m.JLT(operand.LabelRef("codes_rest"))
	m.Label("codes_many")
	m.askAhead(x, ahead, 2*chunk)
	for at := 0; at < 2*chunk; at += m.width() {
		add(w.copyOf(operand.Mem{Base: x, Disp: at}))
	}
	m.ADDQ(operand.I32(2*chunk), x)
	m.SUBQ(all, n)
	m.CMPQ(n, all)
	m.JGE(operand.LabelRef("codes_many"))
	m.Label("codes_rest")
	for at := 0; m.wide && at < 2*chunk; at += m.width() {
		m.TESTQ(n, n)
		m.JLE(operand.LabelRef("codes_fold"))
		v := w.copyOf(first)
		w.op("VMOVDQU16", operand.Mem{Base: x, Disp: at}, w.tail(n), v)
		add(v)
		m.SUBQ(operand.I32(int32(w.lanes())), n)
	}
	m.Label("codes_fold")
	// Only the least of unsigned words is an instruction: greatest ones are found as what is left from them to the top.
	const top = 0x7fff
	leftOfSigned := w.leastWord(w.bits("XOR", w.narrowed(signed, "VPMAXSW"), w.pattern(top)))
	leftOfAbove := w.leastWord(w.bits("XOR", w.narrowed(above, "VPMAXUW"), w.pattern(0xffff)))
	for _, left := range []reg.GPVirtual{leftOfSigned, leftOfAbove} {
		m.CMPL(left.As32(), operand.I32(int32(top-c.infinity)))
		m.JLT(operand.LabelRef(nan))
	}
	code, least := leftOfSigned, w.leastWord(w.narrowed(below, "VPMINUW"))
	if isGreatest {
		m.XORL(operand.I32(top), code.As32())
	} else {
		code = leftOfAbove
		m.XORL(operand.I32(0xffff), code.As32())
	}
	m.TESTL(operand.I32(0x8000), code.As32())
	if isGreatest {
		m.CMOVLNE(least.As32(), code.As32())
	} else {
		m.CMOVLEQ(least.As32(), code.As32())
	}
	return c.decode(m, code)
}

// narrowed folds a vector into one of 128 bits.
func (m *machine) narrowed(v vector, fold string) vector {
	if m.wide {
		upper := m.YMM()
		m.VEXTRACTI64X4(operand.U8(1), v.AsZ(), upper)
		m.op(fold, upper, v.AsY(), v.AsY())
	}
	upper := m.XMM()
	m.VEXTRACTI128(operand.U8(1), v.AsY(), upper)
	m.op(fold, upper, v.AsX(), v.AsX())
	return v
}

// leastWord is the least of the eight words that narrowed leaves.
func (m *machine) leastWord(v vector) reg.GPVirtual {
	d, word := m.XMM(), m.GP64()
	m.VPHMINPOSUW(v.AsX(), d)
	m.VPEXTRW(operand.U8(0), d, word.As32())
	return word
}

// equalities of codes are those of numbers: zeros of both signs are equal, and NaN is not equal to itself. They are for programs that need no more of narrow floats than codes.
func equalities() (all []kernel) {
	for _, typ := range []string{"bf16", "f16"} {
		c := map[string]codes{"bf16": brainCodes, "f16": halfCodes}[typ]
		// unequal is 0 where codes are the same, and none of NaN, or where both are those of zero.
		unequal := func(m *machine, x, y vector) vector {
			const magnitude = 1<<15 - 1
			of := m.bits("AND", x, m.pattern(magnitude))
			beyond := m.bits("XOR", of, m.integer3("MINU", of, m.pattern(uint64(c.infinity))))
			return m.integer3("MINU", m.bits("OR", beyond, m.bits("XOR", x, y)), m.bits("AND", m.bits("OR", x, y), m.pattern(magnitude)))
		}
		for key, predicate := range pairs("eq", 0, "ne", 4) {
			all = append(all, comparison(key+"."+typ, map[int]string{0: "sets d to a = b.", 4: "sets d to a ≠ b."}[predicate], 2,
				func(m *machine, x, y vector) vector {
					return m.compareIntegers(uint8(predicate), false, unequal(m, x, y), m.zero())
				}))
		}
	}
	return all
}
