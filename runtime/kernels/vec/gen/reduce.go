package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// reductions fold n elements at a into one at d. There are as many chains as in 256 bytes: element i belongs to chain i modulo their
// number, and chains are folded by halves. So all widths of vectors, and Go, compute the same bits.
func reductions() (all []kernel) {
	fold := func(key string, lane int, identity uint64, body func(m *machine, x, y vector) vector, wideOnly bool) {
		all = append(all, kernel{key: key, doc: "folds n elements at a into one at d.", lane: lane, wideOnly: wideOnly,
			whole: func(m *machine) { m.reduce(identity, body) }})
	}
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		bits := func(x float64) uint64 {
			if lane == 8 {
				return math.Float64bits(x)
			}
			return uint64(math.Float32bits(float32(x)))
		}
		fold("sum."+typ, lane, 0, func(m *machine, x, y vector) vector { return m.add(x, y) }, false)
		fold("greatest."+typ, lane, bits(math.Inf(-1)), (*machine).maximum, false)
		fold("least."+typ, lane, bits(math.Inf(1)), (*machine).minimum, false)
	}
	fold("magnitude.f32", 4, 0, func(m *machine, x, y vector) vector { return m.integer3("MAXU", m.abs(x), m.abs(y)) }, false)
	integer := func(name string) func(m *machine, x, y vector) vector {
		return func(m *machine, x, y vector) vector { return m.integer3(name, x, y) }
	}
	for typ, lane := range pairs("32", 4, "64", 8) {
		fold("sum.i"+typ, lane, 0, integer("ADD"), false)
		top := uint64(1) << (8*lane - 1)
		fold("greatest.s"+typ, lane, top, integer("MAXS"), lane == 8)
		fold("least.s"+typ, lane, top-1, integer("MINS"), lane == 8)
		fold("greatest.u"+typ, lane, 0, integer("MAXU"), lane == 8)
		fold("least.u"+typ, lane, ^uint64(0)>>(64-8*lane), integer("MINU"), lane == 8)
	}
	return all
}

// chainBytes is the size of one element of every chain.
const chainBytes = 256

func (m *machine) reduce(identity uint64, body func(m *machine, x, y vector) vector) {
	n, x := m.argument("n"), m.argument("a")
	chains := make([]vector, chainBytes/m.width())
	for i := range chains {
		chains[i] = m.copyOf(m.pattern(identity))
	}
	// set replaces a chain, keeping its register, as the loop comes back to it.
	set := func(i int, to vector) { m.float("VMOVA", to, chains[i]) }
	all := operand.I32(int32(chainBytes / m.lane))
	m.CMPQ(n, all)
	m.JLT(operand.LabelRef("rest"))
	m.Label("many")
	for i := range chains {
		set(i, body(m, chains[i], m.copyOf(operand.Mem{Base: x, Disp: i * m.width()})))
	}
	m.ADDQ(operand.I32(chainBytes), x)
	m.SUBQ(all, n)
	m.CMPQ(n, all)
	m.JGE(operand.LabelRef("many"))
	m.Label("rest")
	for i := range chains {
		m.TESTQ(n, n)
		m.JLE(operand.LabelRef("fold"))
		mask := m.tail(n)
		v := m.vector()
		at := operand.Mem{Base: x, Disp: i * m.width()}
		if m.wide {
			m.float("VMOVU", m.pattern(identity), v)
			m.float("VMOVU", at, mask, v)
		} else {
			m.float("VMASKMOV", at, mask, v)
			m.float("VBLENDV", mask, v, m.copyOf(m.pattern(identity)), v)
		}
		set(i, body(m, chains[i], v))
		m.SUBQ(operand.I32(int32(m.lanes())), n)
	}
	m.Label("fold")
	for len(chains) > 1 {
		half := len(chains) / 2
		for i := range half {
			chains[i] = body(m, chains[i], chains[i+half])
		}
		chains = chains[:half]
	}
	v := chains[0]
	swapped := func(name string, imm uint8, twice bool) {
		d := m.vector()
		if twice {
			m.op(name, operand.U8(imm), v, v, d)
		} else {
			m.op(name, operand.U8(imm), v, d)
		}
		v = body(m, v, d)
	}
	if m.wide {
		swapped("VSHUFF64X2", 0x4e, true)
		swapped("VSHUFF64X2", 0xb1, true)
	} else {
		swapped("VPERM2F128", 1, true)
	}
	if m.lane == 4 {
		swapped("VPERMILPS", 0x4e, false)
		swapped("VPERMILPS", 0xb1, false)
		m.VMOVSS(v.AsX(), operand.Mem{Base: m.argument("d")})
		return
	}
	swapped("VPERMILPD", 0x55, false)
	m.VMOVSD(v.AsX(), operand.Mem{Base: m.argument("d")})
}
