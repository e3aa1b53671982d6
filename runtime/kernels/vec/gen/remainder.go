package main

import "github.com/mmcloughlin/avo/operand"

// Whole quotients below these bounds are known exactly, and so is what is left of the dividend: see remainder.go in package tile.
const (
	exactQuotient32 = 1 << 29 // of f32, in f64: times a number of 24 bits they are exact
	exactQuotient64 = 1 << 53
)

// remainders are loops of floats that end in front of a vector which they do not serve.
func remainders() (all []kernel) {
	add := func(typ string, f form, bound float64) {
		all = append(all, kernel{key: "remainder." + typ, doc: "sets d to what is left of a divided by b, n a multiple of the lanes of f64, as far as quotients are small; then the number at c is how many elements are left.", lane: 8,
			whole: func(m *machine) { m.remainders(f, bound) }})
	}
	add("f32", widened, exactQuotient32)
	add("f64", elements(8), exactQuotient64)
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		all = append(all, elementwise("remainder-by-power."+typ, "sets d to what is left of a divided by b, a power of two from 1 on whose reciprocal is c: quotient, product and difference are exact.", lane, 3,
			func(m *machine, in []vector) vector {
				x := in[0]
				rest := m.fnma(m.round(m.mul(x, in[2]), toZero), in[1], x)
				return m.withSign(rest, x) // zeros, too
			}))
	}
	return all
}

func (m *machine) remainders(f form, bound float64) {
	n, d, a, b, left := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("b"), m.argument("c")
	i := m.GP64()
	m.XORQ(i, i)
	at := func(base operand.Mem) operand.Mem {
		base.Index, base.Scale = i, uint8(f.size)
		return base
	}
	m.Label("many")
	x, y := m.load(f, at(operand.Mem{Base: a}), nil), m.load(f, at(operand.Mem{Base: b}), nil)
	ax, ay := m.abs(x), m.abs(y)
	q := m.div(ax, ay)
	m.jumpIfAny(m.compare(isNotLess, q, m.constant(bound)), "end")
	r := m.fnma(m.round(q, toZero), ay, ax)
	r = m.choose(m.compare(isLess, r, m.zero()), m.add(r, ay), r) // where the quotient was rounded up
	m.store(f, m.choose(m.compare(isLess, ax, ay), x, m.withSign(r, x)), at(operand.Mem{Base: d}), nil)
	m.ADDQ(operand.I32(int32(m.lanes())), i)
	m.SUBQ(operand.I32(int32(m.lanes())), n)
	m.JNZ(operand.LabelRef("many"))
	m.Label("end")
	m.MOVQ(n, operand.Mem{Base: left})
}
