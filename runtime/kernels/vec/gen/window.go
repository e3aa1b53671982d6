package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// windowFolds fold runs that lie anywhere, element by element, without memory in between: c is the number of runs, then the element that
// they are folded into; b is how many bytes behind a each of them begins.
func windowFolds() (all []kernel) {
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		for _, op := range []struct {
			name string
			body func(m *machine, x, y vector) vector
		}{
			{"add", func(m *machine, x, y vector) vector { return m.add(x, y) }}, {"maximum", (*machine).maximum}, {"minimum", (*machine).minimum},
		} {
			all = append(all, kernel{key: "window-" + op.name + "." + typ, doc: "folds runs of n elements into one at d.", lane: lane,
				whole: func(m *machine) { m.windowFold(op.body) }})
		}
		all = append(all, kernel{key: "window-convolution." + typ, doc: "adds up runs of n elements, each times its factor, at d.", lane: lane,
			whole: (*machine).windowSum})
	}
	return all
}

func (m *machine) windowFold(body func(m *machine, x, y vector) vector) {
	first := m.vector()
	m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: m.argument("c"), Disp: 8}, first)
	m.windowRuns(func() vector { return m.copyOf(first) }, func(_, _ reg.Register) func(sum, x vector) vector {
		return func(sum, x vector) vector { return body(m, sum, x) }
	})
}

// windowSum is the same for runs that are multiplied: behind the number of runs, c has a factor for each. Products are rounded before they are added.
func (m *machine) windowSum() {
	m.windowRuns(m.zero, func(c, k reg.Register) func(sum, x vector) vector {
		factor := m.vector()
		m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: c, Index: k, Scale: uint8(m.lane), Disp: 8}, factor)
		return func(sum, x vector) vector { return m.add(sum, m.mul(x, factor)) }
	})
}

// windowRuns begins a fold for each element of a run, and takes the next run into it: step is asked for each run, of which it gets c and the number.
func (m *machine) windowRuns(begin func() vector, step func(c, k reg.Register) func(sum, x vector) vector) {
	n, d, a, list, c := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("b"), m.argument("c")
	count := m.GP64()
	m.MOVQ(operand.Mem{Base: c}, count)
	// folded leaves the fold of so many vectors of each run at d.
	folded := func(label string, vectors int, tail operand.Op) {
		sums := make([]vector, vectors)
		for i := range sums {
			sums[i] = begin()
		}
		k := m.GP64()
		m.XORQ(k, k)
		m.Label(label)
		at := m.GP64()
		m.MOVQ(operand.Mem{Base: list, Index: k, Scale: 8}, at)
		next := step(c, k)
		for i, sum := range sums {
			x := m.load(elements(m.lane), operand.Mem{Base: a, Index: at, Scale: 1, Disp: i * m.width()}, tail)
			m.float("VMOVA", next(sum, x), sum)
		}
		m.INCQ(k)
		m.CMPQ(k, count)
		m.JLT(operand.LabelRef(label))
		for i, sum := range sums {
			m.store(elements(m.lane), sum, operand.Mem{Base: d, Disp: i * m.width()}, tail)
		}
		bytes := operand.I32(int32(vectors * m.width()))
		m.ADDQ(bytes, a)
		m.ADDQ(bytes, d)
		m.SUBQ(operand.I32(int32(vectors*m.lanes())), n)
	}
	const together = 4
	m.Label("many")
	m.CMPQ(n, operand.I32(int32(together*m.lanes())))
	m.JLT(operand.LabelRef("rest"))
	folded("runs", together, nil)
	m.JMP(operand.LabelRef("many"))
	m.Label("rest")
	m.TESTQ(n, n)
	m.JLE(operand.LabelRef("done"))
	folded("restOfRuns", 1, m.tail(n))
	m.JMP(operand.LabelRef("rest"))
	m.Label("done")
}
