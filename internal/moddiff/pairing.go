package moddiff

import (
	"github.com/gohalo/halo/hlo"
)

// pairing finds partners for the instructions of two computations.
type pairing struct {
	f      *finder
	a, b   hlo.Computation
	ab, ba []hlo.InstrID // by id: the partner
	// by id: a hash of how the value is computed
	deepA, deepB []uint64
	n            int // pairs
	fresh        [][2]hlo.InstrID
}

func newPairing(f *finder, a, b hlo.Computation) *pairing {
	p := &pairing{f: f, a: a, b: b, ab: make([]hlo.InstrID, a.IDLimit()), ba: make([]hlo.InstrID, b.IDLimit())}
	for i := range p.ab {
		p.ab[i] = hlo.NoInstr
	}
	for i := range p.ba {
		p.ba[i] = hlo.NoInstr
	}
	p.deepA, p.deepB = deep(f.a, a), deep(f.b, b)
	return p
}

// deep hashes how each value is computed, down to the parameters.
func deep(m hlo.Module, c hlo.Computation) []uint64 {
	hashes := make([]uint64, c.IDLimit())
	for in := range c.Instructions() {
		h := in.LocalHash()
		for i := range in.NumCallees() {
			h = mix(h, m.HashOf(in.Callee(i)).Lo)
		}
		for i := range in.NumOperands() {
			h = mix(h, hashes[in.Operand(i)])
		}
		hashes[in.ID()] = h
	}
	return hashes
}

func (p *pairing) free(x, y hlo.InstrID) bool {
	return p.ab[x] == hlo.NoInstr && p.ba[y] == hlo.NoInstr
}

func (p *pairing) add(x, y hlo.InstrID) {
	p.ab[x], p.ba[y] = y, x
	p.n++
	p.fresh = append(p.fresh, [2]hlo.InstrID{x, y})
}

// match pairs what has equal keys, in program order; key says false for what has none.
func (p *pairing) match(keyA, keyB func(hlo.Instruction) (uint64, bool)) {
	waiting := map[uint64][]hlo.InstrID{}
	for in := range p.a.Instructions() {
		if k, ok := keyA(in); ok && p.ab[in.ID()] == hlo.NoInstr {
			waiting[k] = append(waiting[k], in.ID())
		}
	}
	for in := range p.b.Instructions() {
		if k, ok := keyB(in); ok && p.ba[in.ID()] == hlo.NoInstr && len(waiting[k]) > 0 {
			p.add(waiting[k][0], in.ID())
			waiting[k] = waiting[k][1:]
		}
	}
}

// same pairs values that are computed in the same way.
func (p *pairing) same() {
	p.match(func(in hlo.Instruction) (uint64, bool) { return p.deepA[in.ID()], true },
		func(in hlo.Instruction) (uint64, bool) { return p.deepB[in.ID()], true })
}

// byOperands pairs what says the same by itself and whose operands are pairs. What has no operands is alike too easily.
func (p *pairing) byOperands() {
	p.match(func(in hlo.Instruction) (uint64, bool) {
		h := in.LocalHash()
		for i := range in.NumOperands() {
			to := p.ab[in.Operand(i)]
			if to == hlo.NoInstr {
				return 0, false
			}
			h = mix(h, uint64(to))
		}
		return h, in.NumOperands() > 0
	}, func(in hlo.Instruction) (uint64, bool) {
		h := in.LocalHash()
		for i := range in.NumOperands() {
			if p.ba[in.Operand(i)] == hlo.NoInstr {
				return 0, false
			}
			h = mix(h, uint64(in.Operand(i)))
		}
		return h, in.NumOperands() > 0
	})
}

// byUse pairs the roots, and what is used at the same place of a pair, if the opcodes are the same.
func (p *pairing) byUse() {
	try := func(x, y hlo.Instruction) {
		if p.free(x.ID(), y.ID()) && x.Opcode() == y.Opcode() {
			p.add(x.ID(), y.ID())
		}
	}
	try(p.a.Root(), p.b.Root())
	for len(p.fresh) > 0 {
		pair := p.fresh[len(p.fresh)-1]
		p.fresh = p.fresh[:len(p.fresh)-1]
		x, y := p.a.MustAt(pair[0]), p.b.MustAt(pair[1])
		for i := range min(x.NumOperands(), y.NumOperands()) {
			try(x.OperandInstr(i), y.OperandInstr(i))
		}
	}
}

// byName pairs what has the same name and opcode, and parameters of the same number.
func (p *pairing) byName() {
	for x := range p.a.Instructions() {
		y, ok := p.b.ByName(x.Name())
		if ok && x.Opcode() == y.Opcode() && p.free(x.ID(), y.ID()) {
			p.add(x.ID(), y.ID())
		}
	}
	for i := range min(p.a.NumParameters(), p.b.NumParameters()) {
		if x, y := p.a.Parameter(i), p.b.Parameter(i); p.free(x.ID(), y.ID()) {
			p.add(x.ID(), y.ID())
		}
	}
}

// differ lists in what two partners differ.
func (p *pairing) differ(x, y hlo.Instruction) (what []string) {
	if x.Opcode() != y.Opcode() {
		what = append(what, "opcode")
	}
	sameShape := x.Shape().Equal(y.Shape())
	if !sameShape {
		what = append(what, "shape")
	}
	if x.Opcode() == y.Opcode() && (sameShape && x.LocalHash() != y.LocalHash() || !sameShape && !hlo.EqualAttrs(x.Attrs(), y.Attrs())) {
		what = append(what, "attributes")
	}
	operands := x.NumOperands() == y.NumOperands()
	for i := 0; operands && i < x.NumOperands(); i++ {
		// Of several equal values any will do.
		operands = p.ab[x.Operand(i)] == y.Operand(i) || p.deepA[x.Operand(i)] == p.deepB[y.Operand(i)]
	}
	if !operands {
		what = append(what, "operands")
	}
	callees := x.NumCallees() == y.NumCallees()
	for i := 0; callees && i < x.NumCallees(); i++ {
		to, ok := p.f.comps[x.Callee(i)]
		callees = ok && to == y.Callee(i) || p.f.a.HashOf(x.Callee(i)) == p.f.b.HashOf(y.Callee(i))
	}
	if !callees {
		what = append(what, "callees")
	}
	return what
}

func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}
