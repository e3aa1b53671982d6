package main

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scatters fold lines of n elements behind a into lines behind d, one after the other: b lists where, as pairs of offsets in elements, from d and from a; the last pair is
// at c. With a type of indices they fold single elements instead: n of them at b into those of d that the indices at a say, where the last is at c; others are not there.
func scatters() (all []kernel) {
	line := func(key string, lane int, body func(m *machine, x, y vector) vector, wideOnly bool) {
		all = append(all, kernel{key: "scatter-" + key, doc: "folds lines of n elements into those that b lists.", lane: lane, wideOnly: wideOnly,
			whole: func(m *machine) { m.scatterLines(body) }})
	}
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		line("add."+typ, lane, func(m *machine, x, y vector) vector { return m.add(x, y) }, false)
		line("multiply."+typ, lane, func(m *machine, x, y vector) vector { return m.mul(x, y) }, false)
		line("maximum."+typ, lane, (*machine).maximum, false)
		line("minimum."+typ, lane, (*machine).minimum, false)
		for _, op := range [][3]string{{"maximum", "VMAX", "VAND"}, {"minimum", "VMIN", "VOR"}} {
			for index, size := range pairs("s32", 4, "s64", 8) {
				all = append(all, kernel{key: "scatter-" + op[0] + "." + typ + "." + index, doc: "folds n elements at b into those of d with the indices at a.", lane: lane,
					whole: func(m *machine) { m.scatterElements(size, op[1], op[2]) }})
			}
		}
	}
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		integer := func(key, name string, wideOnly bool) {
			line(key+typ, lane, func(m *machine, x, y vector) vector { return m.integer3(name, x, y) }, wideOnly)
		}
		integer("add.i", "ADD", false)
		if lane > 1 {
			integer("multiply.i", "MULL", lane == 8)
		}
		for _, sign := range []string{"s", "u"} {
			integer("maximum."+sign, "MAX"+strings.ToUpper(sign), lane == 8)
			integer("minimum."+sign, "MIN"+strings.ToUpper(sign), lane == 8)
		}
	}
	return all
}

// scatterLines takes what is left of a line behind the whole vectors in parts of a half, a quarter and so on, not by a mask: from a store with a mask, a load of the same
// line that follows soon would have to wait.
func (m *machine) scatterLines(body func(m *machine, x, y vector) vector) {
	n, d, a, list, last := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("b"), m.argument("c")
	m.SHLQ(operand.U8(uint8(bits.TrailingZeros(uint(m.lane)))), n)
	to, from, left := m.GP64(), m.GP64(), m.GP64()
	fold := func(size int) {
		x, y := m.loadPart(to, size), m.loadPart(from, size)
		m.storePart(body(m, x, y), to, size)
		m.ADDQ(operand.I32(int32(size)), to)
		m.ADDQ(operand.I32(int32(size)), from)
	}
	m.Label("line")
	m.MOVQ(operand.Mem{Base: list}, to)
	m.MOVQ(operand.Mem{Base: list, Disp: 8}, from)
	m.LEAQ(operand.Mem{Base: d, Index: to, Scale: uint8(m.lane)}, to)
	m.LEAQ(operand.Mem{Base: a, Index: from, Scale: uint8(m.lane)}, from)
	m.MOVQ(n, left)
	m.CMPQ(left, operand.I32(int32(m.width())))
	m.JLT(operand.LabelRef("rest"))
	m.Label("many")
	fold(m.width())
	m.SUBQ(operand.I32(int32(m.width())), left)
	m.CMPQ(left, operand.I32(int32(m.width())))
	m.JGE(operand.LabelRef("many"))
	m.TESTQ(left, left)
	m.JZ(operand.LabelRef("next"))
	m.Label("rest")
	for size := m.width() / 2; size >= m.lane; size /= 2 {
		none := fmt.Sprintf("no%d", size)
		m.TESTQ(operand.I32(int32(size)), left)
		m.JZ(operand.LabelRef(none))
		fold(size)
		m.Label(none)
	}
	m.Label("next")
	m.ADDQ(operand.I32(16), list)
	m.CMPQ(list, last)
	m.JLE(operand.LabelRef("line"))
}

// loadPart loads the first bytes of a vector; the others are zero.
func (m *machine) loadPart(at reg.Register, size int) vector {
	v, from := m.vector(), operand.Mem{Base: at}
	switch size {
	case 64:
		m.VMOVUPS(from, v.AsZ())
	case 32:
		m.VMOVUPS(from, v.AsY())
	case 16:
		m.VMOVUPS(from, v.AsX())
	case 8:
		m.VMOVSD(from, v.AsX())
	case 4:
		m.VMOVSS(from, v.AsX())
	default:
		code := m.GP32()
		if size == 2 {
			m.MOVWLZX(from, code)
		} else {
			m.MOVBLZX(from, code)
		}
		m.VMOVD(code, v.AsX())
	}
	return v
}

// storePart stores the first bytes of a vector.
func (m *machine) storePart(v vector, at reg.Register, size int) {
	to := operand.Mem{Base: at}
	switch size {
	case 64:
		m.VMOVUPS(v.AsZ(), to)
	case 32:
		m.VMOVUPS(v.AsY(), to)
	case 16:
		m.VMOVUPS(v.AsX(), to)
	case 8:
		m.VMOVSD(v.AsX(), to)
	case 4:
		m.VMOVSS(v.AsX(), to)
	case 2:
		m.VPEXTRW(operand.U8(0), v.AsX(), to)
	default:
		m.VPEXTRB(operand.U8(0), v.AsX(), to)
	}
}

// scatterElements folds by the greater or the lesser of two numbers as both orders of them give it, joined: see maximum.
func (m *machine) scatterElements(index int, extreme, join string) {
	n, d, a, u, last := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("b"), m.argument("c")
	m.SUBQ(d, last)
	m.SHRQ(operand.U8(uint8(bits.TrailingZeros(uint(m.lane)))), last)
	one := map[int]string{4: "SS", 8: "SD"}[m.lane]
	i, o := m.GP64(), m.GP64()
	x, y, r := m.XMM(), m.XMM(), m.XMM()
	at := operand.Mem{Base: d, Index: o, Scale: uint8(m.lane)}
	m.XORQ(i, i)
	m.JMP(operand.LabelRef("check"))
	m.Label("next")
	if index == 4 {
		m.MOVLQSX(operand.Mem{Base: a, Index: i, Scale: 4}, o)
	} else {
		m.MOVQ(operand.Mem{Base: a, Index: i, Scale: 8}, o)
	}
	m.CMPQ(o, last)
	m.JHI(operand.LabelRef("done"))
	m.op("VMOV"+one, at, x)
	m.op("VMOV"+one, operand.Mem{Base: u, Index: i, Scale: uint8(m.lane)}, y)
	m.op("VUCOMI"+one, x, y)
	m.JPS(operand.LabelRef("unordered"))
	m.op(extreme+one, x, y, r)
	m.op(extreme+one, y, x, x)
	m.op(join+m.floatSuffix(), x, r, r)
	m.Label("store")
	m.op("VMOV"+one, r, at)
	m.Label("done")
	m.INCQ(i)
	m.Label("check")
	m.CMPQ(i, n)
	m.JLT(operand.LabelRef("next"))
	m.JMP(operand.LabelRef("end"))
	m.Label("unordered")
	m.op("VADD"+one, x, y, r)
	m.JMP(operand.LabelRef("store"))
	m.Label("end")
}
