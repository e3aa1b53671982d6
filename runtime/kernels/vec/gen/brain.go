package main

import "github.com/mmcloughlin/avo/operand"

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
	return all
}
