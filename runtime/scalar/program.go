package scalar

import (
	"unsafe"
)

// Program is code over a file of registers. It is immutable and safe for concurrent use, with a State each.
type Program struct {
	code      []instr
	loops     []callee
	constants []uint64 // the first registers
	registers int
	places    int
	native    *native // if this processor and system allow it
}

// instr is one instruction. Registers and places are offsets in bytes, so is the target m of a branch.
type instr struct {
	op         op
	d          uint16
	a, b, c, e uint16
	m          int32
}

const instrSize = int(unsafe.Sizeof(instr{}))

// State is what one run of a program works on.
type State struct {
	registers []uint64
	places    []unsafe.Pointer
	at        int  // of the next instruction in the code, in bytes
	denormals bool // the code that ran last met some
}

// NewState returns a state for runs of p, one after the other.
func (p *Program) NewState() *State {
	s := &State{registers: make([]uint64, p.registers), places: make([]unsafe.Pointer, max(1, p.places))}
	copy(s.registers, p.constants)
	return s
}

// SetPlace says where an array is. It must be as large as the program's loads and stores need it.
func (s *State) SetPlace(p Place, at unsafe.Pointer) { s.places[p] = at }

// Begin puts the state at the beginning of its program.
func (s *State) Begin() { s.at = 0 }

// Build finishes the program. It reports false for what is too large, and for what its builder had to refuse.
func (b *Builder) Build() (*Program, bool) {
	if b.failed || b.region.outer != nil {
		return nil, false
	}
	if hasNative {
		b.makeMasks()
	}
	l := newLayout(b)
	a := assign(l)
	if a.count >= 1<<13-1 || b.places >= 1<<13 {
		return nil, false
	}
	p := &Program{loops: b.loops, constants: a.constants, registers: int(a.count) + 2, places: b.places}
	p.assemble(l, a)
	p.makeNative()
	return p, true
}

// assemble turns lines into instructions, and copies into moves.
func (p *Program) assemble(l *layout, a *assigner) {
	labels := make([]int32, l.labels)
	free, joined := a.count, 0 // instructions in front of a label stand alone
	for i := range l.lines {
		x := &l.lines[i]
		switch x.op {
		case lineLabel:
			labels[x.m], joined = int32(len(p.code)*instrSize), len(p.code)
			continue
		case lineCopies:
			var copies []transfer
			for _, m := range x.moves {
				copies = append(copies, transfer{a.reg[m.d], a.reg[m.s], l.widths[m.d]})
			}
			for _, c := range inOrder(copies, free) {
				o := opMove4
				if c.width == 8 {
					o = opMove8
				}
				p.code = append(p.code, instr{op: o, d: offset(c.d), a: offset(c.s)})
			}
			continue
		}
		in := instr{op: x.op, d: offset(free), m: x.m}
		if x.d >= 0 {
			in.d = offset(a.reg[x.d])
		}
		for k, to := range []*uint16{&in.a, &in.b, &in.c, &in.e} {
			if x.args[k] >= 0 {
				*to = offset(a.reg[x.args[k]])
			}
		}
		if fifth := x.args[maxArgs-1]; fifth >= 0 {
			in.m = int32(offset(a.reg[fifth]))
		}
		if x.op >= opLoad1 && x.op <= opStore8 || x.op >= opLoadAt4S32 && x.op <= opLoadAt8S64 {
			in.a = uint16(x.place) * 8
		}
		if both, ok := p.counts(&in, joined); ok {
			p.code[len(p.code)-1] = both
			continue
		}
		p.code = append(p.code, in)
	}
	p.code = append(p.code, instr{op: opEnd}) // so that behind the end, too, is an instruction of this code
	for i := range p.code {
		if in := &p.code[i]; in.op.branches() {
			in.m = labels[in.m]
		}
	}
}

// counts joins a counter's step and the branch back that compares it.
func (p *Program) counts(branch *instr, from int) (both instr, ok bool) {
	if branch.op != opIfLtS32 && branch.op != opIfLtS64 || len(p.code) <= from {
		return both, false
	}
	step := p.code[len(p.code)-1]
	if step.op != opAdd || step.d != branch.a || step.d == branch.b {
		return both, false
	}
	both = instr{op: opAddIfLtS32, d: step.d, a: step.a, b: step.b, c: branch.b, m: branch.m}
	if branch.op == opIfLtS64 {
		both.op = opAddIfLtS64
	}
	return both, true
}

func offset(r int32) uint16 { return uint16(r) * 8 }

// Cost is about how many instructions a run of p takes that has no loops, where calls count as many.
func (p *Program) Cost() int {
	cost := len(p.code)
	for i := range p.code {
		switch p.code[i].op {
		case opCall:
			cost += costOfCall
		case opInline:
			cost += costOfInline
		}
	}
	return cost
}

// Weight is how many values a run of the program computes if each loop makes [RoundsOfLoop] rounds, where calls count as many. It does not depend on the
// processor.
func (b *Builder) Weight() int {
	total := 0
	for i := range b.nodes {
		n := &b.nodes[i]
		w := 1
		switch n.op {
		case opConst, opVar:
			continue
		case opCall, opInline:
			w = costOfInline
		}
		for r := n.region; r != nil; r = r.outer {
			if r.loop != nil {
				w *= RoundsOfLoop
			}
		}
		total += w
	}
	return total
}

// RoundsOfLoop is how many rounds of a loop weigh.
const RoundsOfLoop = 8

// What a call is worth in instructions: it leaves the code and enters it again. An inline one computes one element in the time of a vector.
const costOfCall, costOfInline = 50, 20
