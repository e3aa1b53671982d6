package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/mmcloughlin/avo/operand"
)

// reductions fold n elements at a into one at d. There are as many chains as in 256 bytes: element i belongs to chain i modulo their
// number, and chains are folded by halves. So all widths of vectors, and Go, compute the same bits.
func reductions() (all []kernel) {
	fold := func(key string, lane int, identity uint64, body func(m *machine, x, y vector) vector, wideOnly bool) {
		all = append(all, kernel{key: key, doc: "folds n elements at a into one at d.", lane: lane, wideOnly: wideOnly, chunk: chainBytes / lane,
			whole: func(m *machine) { m.reduce(identity, body) }})
	}
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		code := func(x float64) uint64 {
			if lane == 8 {
				return math.Float64bits(x)
			}
			return uint64(math.Float32bits(float32(x)))
		}
		both := func(key string, identity float64, body func(m *machine, x, y vector) vector) {
			fold(key+"."+typ, lane, code(identity), body, false)
		}
		both("sum", 0, func(m *machine, x, y vector) vector { return m.add(x, y) })
		both("greatest", math.Inf(-1), (*machine).maximum)
		both("least", math.Inf(1), (*machine).minimum)
	}
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		fold("magnitude."+typ, lane, 0, func(m *machine, x, y vector) vector { return m.integer3("MAXU", m.abs(x), m.abs(y)) }, lane == 8)
	}
	integer := func(name string) func(m *machine, x, y vector) vector {
		return func(m *machine, x, y vector) vector { return m.integer3(name, x, y) }
	}
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		fold("sum.i"+typ, lane, 0, integer("ADD"), false)
		top := uint64(1) << (8*lane - 1)
		fold("greatest.s"+typ, lane, top, integer("MAXS"), lane == 8)
		fold("least.s"+typ, lane, top-1, integer("MINS"), lane == 8)
		fold("greatest.u"+typ, lane, 0, integer("MAXU"), lane == 8)
		fold("least.u"+typ, lane, ^uint64(0)>>(64-8*lane), integer("MINU"), lane == 8)
	}
	for _, typ := range []string{"bf16", "f16"} {
		in := map[string]form{"bf16": brain, "f16": halves}[typ]
		narrow := func(name string, identity float64, body func(m *machine, x, y vector) vector) {
			pattern := uint64(math.Float32bits(float32(identity)))
			all = append(all, kernel{key: name + "." + typ, doc: "folds n elements at a, as f32, into one f32 at d.", lane: 4, in: []form{in}, chunk: chainBytes / 4,
				whole: func(m *machine) { m.reduceFrom(in, pattern, body) }})
		}
		narrow("sum", 0, func(m *machine, x, y vector) vector { return m.add(x, y) })
		narrow("greatest", math.Inf(-1), (*machine).maximum)
		narrow("least", math.Inf(1), (*machine).minimum)
	}
	for _, op := range []string{"and", "or", "xor"} {
		identity := map[string]uint64{"and": ^uint64(0)}[op]
		fold("fold-"+op+".64", 8, identity, func(m *machine, x, y vector) vector { return m.bits(strings.ToUpper(op), x, y) }, false)
	}
	return all
}

// chainBytes is the size of one element of every chain.
const chainBytes = 256

func (m *machine) reduce(identity uint64, body func(m *machine, x, y vector) vector) {
	m.reduceFrom(elements(m.lane), identity, body)
}

// reduceFrom is reduce for elements of a form in memory.
func (m *machine) reduceFrom(in form, identity uint64, body func(m *machine, x, y vector) vector) {
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
	for at := 0; at < chainBytes/m.lane*in.size; at += 64 {
		m.PREFETCHT0(operand.Mem{Base: x, Disp: 2048 + at})
	}
	for i := range chains {
		at := operand.Mem{Base: x, Disp: i * m.lanes() * in.size}
		if in.load != nil {
			set(i, body(m, chains[i], in.load(m, at, nil)))
		} else {
			set(i, body(m, chains[i], m.copyOf(at)))
		}
	}
	m.ADDQ(operand.I32(int32(chainBytes/m.lane*in.size)), x)
	m.SUBQ(all, n)
	m.CMPQ(n, all)
	m.JGE(operand.LabelRef("many"))
	m.Label("rest")
	for i := range chains {
		if !m.wide && (m.lane < 4 || in.load != nil) {
			break // no masked loads: the rest is the caller's
		}
		m.TESTQ(n, n)
		m.JLE(operand.LabelRef("fold"))
		mask := m.tail(n)
		v := m.vector()
		at := operand.Mem{Base: x, Disp: i * m.lanes() * in.size}
		switch {
		case in.load != nil:
			m.float("VMOVU", m.pattern(identity), v)
			m.float("VMOVA", in.load(m, at, mask), mask, v)
		case m.lane < 4:
			m.op("VMOVDQU64", m.pattern(identity), v)
			m.op("VMOVDQU"+fmt.Sprint(8*m.lane), at, mask, v)
		case m.wide:
			m.float("VMOVU", m.pattern(identity), v)
			m.float("VMOVU", at, mask, v)
		default:
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
	v := m.joinLanes(chains[0], body)
	d := operand.Mem{Base: m.argument("d")}
	switch m.lane {
	case 8:
		m.VMOVSD(v.AsX(), d)
	case 4:
		m.VMOVSS(v.AsX(), d)
	case 2:
		v = body(m, v, m.as(4).shift("SRL", v, 16))
		m.VPEXTRW(operand.U8(0), v.AsX(), d)
	default:
		v = body(m, v, m.as(4).shift("SRL", v, 16))
		v = body(m, v, m.as(2).shift("SRL", v, 8))
		m.VPEXTRB(operand.U8(0), v.AsX(), d)
	}
}

// joinLanes folds the lanes of a vector, by halves, into the first one; lanes of less than 32 bits into the first 32 bits.
func (m *machine) joinLanes(v vector, body func(m *machine, x, y vector) vector) vector {
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
	if m.lane == 8 {
		swapped("VPERMILPD", 0x55, false)
		return v
	}
	swapped("VPERMILPS", 0x4e, false)
	swapped("VPERMILPS", 0xb1, false)
	return v
}
