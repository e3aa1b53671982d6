package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// brain is bf16 in memory and f32 in lanes.
var brain = form{
	size: 2,
	load: func(m *machine, from operand.Mem, tail operand.Op) vector {
		return m.shift("SLL", extended(2, "ZX").load(m, from, tail), 16)
	},
	store: func(m *machine, x vector, to operand.Mem, tail operand.Op) {
		upper.store(m, m.carryBF16(x), to, tail)
	},
}

// onBrain are arithmetic of f32 between numbers that are bf16 in memory or not: keys have the forms of a, b and d, the last of which may be round,
// for f32 that bf16 can hold.
func onBrain() (all []kernel) {
	forms := map[string]form{"f32": elements(4), "round": elements(4), "bf16": brain}
	for _, op := range []struct {
		name string
		body func(m *machine, x vector, y operand.Op) vector
	}{{"add", (*machine).add}, {"subtract", (*machine).sub}, {"multiply", (*machine).mul}, {"divide", (*machine).div}} {
		for _, f := range [][3]string{
			{"bf16", "f32", "f32"}, {"bf16", "f32", "round"}, {"bf16", "f32", "bf16"}, {"bf16", "bf16", "round"}, {"bf16", "bf16", "bf16"}, {"f32", "f32", "bf16"},
		} {
			all = append(all, kernel{key: op.name + "." + f[0] + "." + f[1] + "." + f[2], doc: "computes in f32.", lane: 4, unroll: 2,
				in: []form{forms[f[0]], forms[f[1]]}, out: forms[f[2]], body: func(m *machine, in []vector) vector {
					r := op.body(m, in[0], in[1])
					if f[2] == "round" {
						r = m.roundBF16(r)
					}
					return r
				}})
		}
	}
	rounded := elementwise("exponential.round.bf16", "sets d to e^a of f32 that bf16 can hold, rounded to f32 and then to what bf16 can hold.", 4, 1,
		func(m *machine, in []vector) vector { return m.roundResult(m.expBrain(in[0])) })
	rounded.unroll, rounded.halfOnly = 1, true // with 512 bits, scaling takes one instruction
	return append(all, rounded)
}

// expBrain32 is 2e^r for |r| ≤ ln2/2: 1e-7 of it.
var expBrain32 = []float64{0.01659495197236538, 0.083833709359169, 0.3333500325679779, 0.9999778270721436, 1.9999995231628418, 2.000000238418579}

// expBrain is expSingle in fewer steps for numbers that bf16 can hold, of which there are so few that its last places have been compared: none is lost where the result is
// rounded to bf16. n·ln2 need not be exact for that, nor the sum of 1 and the rest.
func (m *machine) expBrain(x vector) vector {
	const bias = 127 - 1
	a := m.max(m.copyOf(m.constant(-104)), m.min(m.copyOf(m.constant(89)), x))
	sum := m.fma(a, m.copyOf(m.constant(math.Log2E)), m.copyOf(m.constant(shifted+bias)))
	n := m.sub(sum, m.constant(shifted+bias))
	r := m.fnma(n, m.constant(math.Ln2), a)
	c := expBrain32
	high, middle, low := m.fma(r, m.copyOf(m.constant(c[0])), m.constant(c[1])), m.fma(r, m.copyOf(m.constant(c[2])), m.constant(c[3])), m.fma(r, m.copyOf(m.constant(c[4])), m.constant(c[5]))
	square := m.mul(r, r)
	twice := m.fma(m.fma(high, square, middle), square, low)
	small := m.compare(isLess, n, m.constant(-125))
	p := m.integer3("ADD", m.shift("SLL", sum, 23), m.only(small, m.pattern(149<<23)))
	y := m.mul(twice, p)
	return m.choose(small, m.counted(y), y)
}
