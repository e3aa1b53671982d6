package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// windowFolds fold runs that lie anywhere, element by element, without memory in between: c is the number of runs, then the element that
// they are folded into; b is how many bytes behind a each of them begins.
func windowFolds() (all []kernel) {
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		for _, op := range windowOps() {
			all = append(all, kernel{key: "window-" + op.name + "." + typ, doc: "folds runs of n elements into one at d.", lane: lane,
				whole: func(m *machine) { m.windowFold(elements(lane), op.by) }})
		}
		all = append(all, windowSum(typ, lane, (*machine).add, (*machine).mul))
	}
	all = append(all, windowSum("i32", 4,
		func(m *machine, x vector, y operand.Op) vector { return m.integer3("ADD", x, y) },
		func(m *machine, x vector, y operand.Op) vector { return m.integer3("MULL", x, y) }))
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		fold := func(key string, by folding, wideOnly bool) {
			k := kernel{key: "window-" + key + typ, doc: "folds runs of n elements into one at d.", lane: lane, wideOnly: wideOnly,
				whole: func(m *machine) { m.windowFold(elements(lane), by) }}
			if lane < 4 { // there is a rest
				k.in, k.out, k.chunk = []form{elements(lane)}, elements(lane), 1
			}
			all = append(all, k)
		}
		integer := func(key, name string, wideOnly bool) {
			fold(key, folding{
				any:  func(m *machine, x, y vector) vector { return m.integer3(name, x, y) },
				take: func(m *machine, x vector, y operand.Op) { m.op("VP"+name+m.integerSuffix(), y, x, x) },
			}, wideOnly)
		}
		integer("add.i", "ADD", false)
		if lane > 1 {
			integer("multiply.i", "MULL", lane == 8)
		}
		for _, sign := range []string{"s", "u"} {
			integer("maximum."+sign, "MAX"+strings.ToUpper(sign), lane == 8)
			integer("minimum."+sign, "MIN"+strings.ToUpper(sign), lane == 8)
		}
		for _, op := range []string{"and", "or", "xor"} {
			fold(op+".", folding{any: func(m *machine, x, y vector) vector { return m.bits(strings.ToUpper(op), x, y) }}, false)
		}
	}
	for _, typ := range []string{"bf16", "f16"} {
		in := map[string]form{"bf16": brain, "f16": halves}[typ]
		for _, op := range windowOps() {
			all = append(all, kernel{key: "window-" + op.name + "." + typ, doc: "folds runs of n elements, as f32, into one f32 at d.", lane: 4,
				in: []form{in}, out: elements(4), chunk: 1, whole: func(m *machine) { m.windowFold(in, op.by) }})
		}
	}
	return all
}

// windowOp is how floats are folded.
type windowOp struct {
	name string
	by   folding
}

func windowOps() []windowOp {
	return []windowOp{{"add", sum}, {"multiply", product}, {"maximum", greatest}, {"minimum", least}}
}

func (m *machine) windowFold(in form, by folding) {
	first := m.vector()
	m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: m.argument("c"), Disp: 8}, first)
	step := func(body func(m *machine, x, y vector) vector) windowStep {
		return func(_, _ reg.Register) func(sum, x vector) vector {
			return func(sum, x vector) vector { return body(m, sum, x) }
		}
	}
	steps := []windowStep{step(by.any)}
	if by.usual != nil {
		steps = append(steps, step(by.usual))
	}
	m.windowRuns(in, first, by, steps...)
}

// windowSum is the same for runs that are multiplied: behind the number of runs, c has a factor for each. Products are rounded before they are added.
func windowSum(typ string, lane int, add, mul func(m *machine, x vector, y operand.Op) vector) kernel {
	return kernel{key: "window-convolution." + typ, doc: "adds up runs of n elements, each times its factor, at d.", lane: lane, whole: func(m *machine) {
		m.windowRuns(elements(m.lane), vector{}, folding{}, func(c, k reg.Register) func(sum, x vector) vector {
			factor := m.vector()
			m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: c, Index: k, Scale: uint8(m.lane), Disp: 8}, factor)
			return func(sum, x vector) vector { return add(m, sum, mul(m, x, factor)) }
		})
	}}
}

// windowStep is asked for each run, of which it gets c and the number, and returns what takes a vector of it into a sum.
type windowStep = func(c, k reg.Register) func(sum, x vector) vector

// windowRuns begins a fold for each element of a run, with first or with zero, and takes the next run into it by a step, or as by does it with what is in memory. A second step does the same in fewer instructions where nothing is
// NaN, nor first is: it is tried before. Where there are no masks for what the form loads or the lanes are, n is a multiple of the lanes.
func (m *machine) windowRuns(in form, first vector, by folding, steps ...windowStep) {
	n, d, a, list, c := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("b"), m.argument("c")
	count := m.GP64()
	m.MOVQ(operand.Mem{Base: c}, count)
	begin, next := func(_ string, sums []vector, _ operand.Op, _ string) {
		for i := range sums {
			if first.VecVirtual == nil {
				sums[i] = m.zero()
			} else {
				sums[i] = m.copyOf(first)
			}
		}
	}, func() {}
	if !m.wide && first.VecVirtual != nil {
		begin, next = m.groupsOfRuns(first, n, d, a, list, count)
	}
	defer next()
	// taken leaves the fold of so many vectors of each run at d, of which the last is masked by tail. It jumps to a label when it comes to NaN, if that is not empty.
	taken := func(label string, vectors int, tail operand.Op, step windowStep, nan string) {
		sums := make([]vector, vectors)
		begin(label, sums, tail, nan)
		k := m.GP64()
		m.XORQ(k, k)
		m.Label(label)
		at := m.GP64()
		m.MOVQ(operand.Mem{Base: list, Index: k, Scale: 8}, at)
		next := step(c, k)
		maskOf := func(i int) operand.Op {
			if i < vectors-1 {
				return nil
			}
			return tail
		}
		place := func(i int) operand.Mem {
			return operand.Mem{Base: a, Index: at, Scale: 1, Disp: i * m.lanes() * in.size}
		}
		load := func(i int) vector { return m.load(in, place(i), maskOf(i)) }
		var read []vector
		if nan != "" {
			for i := range sums {
				read = append(read, load(i))
			}
			m.jumpIfNaN(nan, read...)
		}
		for i, sum := range sums {
			switch {
			case nan != "":
				m.float("VMOVA", next(sum, read[i]), sum)
			case maskOf(i) == nil && m.readsDirectly(in, by):
				by.take(m, sum, place(i))
			default:
				m.float("VMOVA", next(sum, load(i)), sum)
			}
		}
		m.INCQ(k)
		m.CMPQ(k, count)
		m.JLT(operand.LabelRef(label))
		for i, sum := range sums {
			m.store(elements(m.lane), sum, operand.Mem{Base: d, Disp: i * m.width()}, maskOf(i))
		}
	}
	folded := func(label string, vectors int, tail operand.Op) {
		if len(steps) > 1 {
			m.jumpIfNaN(label+"NaN", first)
			taken(label+"Usual", vectors, tail, steps[1], label+"NaN")
			m.JMP(operand.LabelRef(label + "Done"))
			m.Label(label + "NaN")
		}
		taken(label, vectors, tail, steps[0], "")
		if len(steps) > 1 {
			m.Label(label + "Done")
		}
		m.ADDQ(operand.I32(int32(vectors*m.lanes()*in.size)), a)
		m.ADDQ(operand.I32(int32(vectors*m.width())), d)
		m.SUBQ(operand.I32(int32(vectors*m.lanes())), n)
	}
	const together = 4
	if m.wide { // half as many ways through memory where a row is pages behind the one before
		m.Label("most")
		m.CMPQ(n, operand.I32(int32(2*together*m.lanes())))
		m.JLT(operand.LabelRef("many"))
		folded("mostRuns", 2*together, nil)
		m.JMP(operand.LabelRef("most"))
	}
	m.Label("many")
	m.CMPQ(n, operand.I32(int32(together*m.lanes())))
	m.JLT(operand.LabelRef("rest"))
	folded("runs", together, nil)
	m.JMP(operand.LabelRef("many"))
	m.Label("rest")
	m.TESTQ(n, n)
	m.JLE(operand.LabelRef("done"))
	masked := m.wide || m.lane >= 4 && in.load == nil
	if masked && len(steps) == 1 { // what is left is folded at once, so that sums do not wait for each other
		for vectors := together; vectors > 1; vectors-- {
			m.CMPQ(n, operand.I32(int32((vectors-1)*m.lanes())))
			m.JGT(operand.LabelRef(fmt.Sprint("rest", vectors)))
		}
		for vectors := range together {
			if m.Label(fmt.Sprint("rest", vectors+1)); vectors > 0 {
				m.SUBQ(operand.I32(int32(vectors*m.lanes())), n)
			}
			taken(fmt.Sprint("restOf", vectors+1), vectors+1, m.tail(n), steps[0], "")
			m.JMP(operand.LabelRef("done"))
		}
		m.Label("done")
		return
	}
	if masked {
		folded("restOfRuns", 1, m.tail(n))
	} else {
		folded("restOfRuns", 1, nil)
	}
	m.JMP(operand.LabelRef("rest"))
	m.Label("done")
}

// Limits: runs of a group, and of one that is alone.
const (
	runsOfGroup = 8
	fewRuns     = 12
)

// groupsOfRuns lets runs be folded group by group, each onto what the ones before left at d, which begin loads; next goes on to the next group. Runs of a large array are pages apart: those
// of one group keep their places in the nearest cache, which are the same for all, and are few enough for the processor to read ahead in each.
func (m *machine) groupsOfRuns(first vector, n, d, a, list, count reg.Register) (begin func(label string, sums []vector, tail operand.Op, nan string), next func()) {
	left, group := m.GP64(), m.GP64()
	m.MOVQ(count, left)
	m.Label("group")
	m.MOVQ(m.argumentAt("n"), n)
	m.MOVQ(m.argumentAt("d"), d)
	m.MOVQ(m.argumentAt("a"), a)
	m.MOVQ(left, count)
	m.MOVQ(operand.I32(runsOfGroup), group)
	m.CMPQ(left, operand.I32(fewRuns))
	m.CMOVQGT(group, count)
	begin = func(label string, sums []vector, tail operand.Op, nan string) {
		for i := range sums {
			sums[i] = m.copyOf(first)
		}
		m.CMPQ(list, m.argumentAt("b"))
		m.JEQ(operand.LabelRef(label + "First"))
		for i, sum := range sums {
			at := operand.Mem{Base: d, Disp: i * m.width()}
			if tail != nil && i == len(sums)-1 {
				m.float("VMASKMOV", at, tail, sum)
			} else {
				m.float("VMOVU", at, sum)
			}
		}
		if nan != "" {
			m.jumpIfNaN(nan, sums...)
		}
		m.Label(label + "First")
	}
	next = func() {
		m.LEAQ(operand.Mem{Base: list, Index: count, Scale: 8}, list)
		m.SUBQ(count, left)
		m.JG(operand.LabelRef("group"))
	}
	return begin, next
}
