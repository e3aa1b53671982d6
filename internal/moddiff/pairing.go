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
	// Pairs whose users, and whose operands, have not been looked at.
	ahead, behind [][2]hlo.InstrID
	waiting       map[uint64][]hlo.InstrID // of byOperands, which needs one for each pair
}

func newPairing(f *finder, a, b hlo.Computation) *pairing {
	p := &pairing{f: f, a: a, b: b, ab: make([]hlo.InstrID, a.IDLimit()), ba: make([]hlo.InstrID, b.IDLimit()),
		waiting: map[uint64][]hlo.InstrID{}}
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
	p.ahead = append(p.ahead, [2]hlo.InstrID{x, y})
	p.behind = append(p.behind, [2]hlo.InstrID{x, y})
}

// same pairs values that are computed in the same way, in program order.
func (p *pairing) same() {
	waiting := map[uint64][]hlo.InstrID{}
	for in := range p.a.Instructions() {
		waiting[p.deepA[in.ID()]] = append(waiting[p.deepA[in.ID()]], in.ID())
	}
	for in := range p.b.Instructions() {
		if k := p.deepB[in.ID()]; len(waiting[k]) > 0 {
			p.add(waiting[k][0], in.ID())
			waiting[k] = waiting[k][1:]
		}
	}
}

// spread finds the pairs that follow from pairs: by operands as long as there are any, since that is the stronger reason, and then by one use.
// Every pair is looked at once.
func (p *pairing) spread() {
	p.tryPair(p.a.Root(), p.b.Root())
	for at := 0; at < len(p.ahead) || len(p.behind) > 0; {
		if at < len(p.ahead) {
			p.byOperands(p.ahead[at])
			at++
			continue
		}
		p.ahead, at = p.ahead[:0], 0
		pair := p.behind[len(p.behind)-1]
		p.behind = p.behind[:len(p.behind)-1]
		p.byUse(pair)
	}
	p.ahead = p.ahead[:0]
}

// byOperands pairs users of a pair that say the same by themselves and whose operands are all pairs, in program order.
func (p *pairing) byOperands(pair [2]hlo.InstrID) {
	clear(p.waiting)
	for id := range p.a.Users(pair[0]) {
		in := p.a.MustAt(id)
		if h, ok := localHash(in, func(o hlo.InstrID) hlo.InstrID { return p.ab[o] }); ok && p.ab[id] == hlo.NoInstr {
			p.waiting[h] = append(p.waiting[h], id)
		}
	}
	if len(p.waiting) == 0 {
		return
	}
	for id := range p.b.Users(pair[1]) {
		h, ok := localHash(p.b.MustAt(id), func(o hlo.InstrID) hlo.InstrID {
			if p.ba[o] == hlo.NoInstr {
				return hlo.NoInstr
			}
			return o
		})
		if list := p.waiting[h]; ok && p.ba[id] == hlo.NoInstr && len(list) > 0 {
			p.add(list[0], id)
			p.waiting[h] = list[1:]
		}
	}
}

// localHash is the hash of what an instruction says by itself and of its operands, as the new computation has them; false if one is no pair.
func localHash(in hlo.Instruction, operand func(hlo.InstrID) hlo.InstrID) (uint64, bool) {
	h := in.LocalHash()
	for i := range in.NumOperands() {
		to := operand(in.Operand(i))
		if to == hlo.NoInstr {
			return 0, false
		}
		h = mix(h, uint64(to))
	}
	return h, true
}

// byUse pairs what is used at the same place of a pair.
func (p *pairing) byUse(pair [2]hlo.InstrID) {
	x, y := p.a.MustAt(pair[0]), p.b.MustAt(pair[1])
	for i := range min(x.NumOperands(), y.NumOperands()) {
		p.tryPair(x.OperandInstr(i), y.OperandInstr(i))
	}
}

// tryPair pairs instructions of one opcode; of what is converted, the original.
func (p *pairing) tryPair(x, y hlo.Instruction) {
	for x.Opcode() != y.Opcode() { // a program in another type has conversions that this one lacks
		switch {
		case x.Opcode() == hlo.OpConvert:
			x = x.OperandInstr(0)
		case y.Opcode() == hlo.OpConvert:
			y = y.OperandInstr(0)
		default:
			return
		}
	}
	if p.free(x.ID(), y.ID()) {
		p.add(x.ID(), y.ID())
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
