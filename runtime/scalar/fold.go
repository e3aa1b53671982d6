package scalar

import "unsafe"

// fold computes n here and now if its operands are constants, and finds results that are an operand. The interpreter is what computes,
// so that there is one meaning of every op.
func (b *Builder) fold(n *node) (Value, bool) {
	if v, ok := b.simplify(n); ok {
		return v, true
	}
	file := make([]uint64, 4)
	in := instr{op: n.op, d: offset(3), m: n.m}
	for k, to := range []*uint16{&in.a, &in.b, &in.c} {
		*to = offset(int32(k))
		if n.args[k] == None {
			continue
		}
		c := &b.nodes[n.args[k]]
		if c.op != opConst {
			return None, false
		}
		file[k] = c.bits
	}
	p := &Program{code: []instr{in, {op: opEnd}, {op: opEnd}}}
	p.Run(&State{registers: file, places: make([]unsafe.Pointer, 1)})
	return b.Const(int(n.width), file[3]), true
}

// simplify knows what adding zero is, and choosing between equals.
func (b *Builder) simplify(n *node) (Value, bool) {
	isConst := func(v Value, bits uint64) bool { return b.nodes[v].op == opConst && b.nodes[v].bits == bits }
	switch n.op {
	case opAdd, opOr, opXor:
		for k := range 2 {
			if isConst(n.args[k], 0) && b.nodes[n.args[1-k]].width >= n.width {
				return n.args[1-k], true
			}
		}
	case opSelect4, opSelect8:
		switch test := &b.nodes[n.args[0]]; {
		case n.args[1] == n.args[2]:
			return n.args[1], true
		case test.op == opConst && test.bits != 0:
			return n.args[1], true
		case test.op == opConst:
			return n.args[2], true
		}
	}
	return None, false
}
