package scalar

import "github.com/gohalo/halo/internal/amd64"

// translator writes native code, instruction by instruction. What it computes it leaves where the choice of pins says: a register of the
// processor, or the file of registers.
type translator struct {
	amd64.Code
	p      *Program
	pins   []pin
	gentle bool                     // products, quotients and roots of float32 are computed in float64
	pool   map[[16]byte]amd64.Label // constants of vectors, in order
	order  [][16]byte
	leave  amd64.Label   // to where the file of registers is written and the code left, RAX being the next instruction
	at     []amd64.Label // of instructions
}

// translate returns code that begins with the entry, which takes the address to go on at in RDX, and where each instruction is.
func translate(p *Program, gentle bool) (code []byte, entries []int32) {
	t := &translator{p: p, pins: choosePins(p), gentle: gentle, pool: make(map[[16]byte]amd64.Label)}
	t.leave = t.NewLabel()
	for range p.code {
		t.at = append(t.at, t.NewLabel())
	}
	t.enter()
	var out []exit
	for i := range p.code {
		t.Mark(t.at[i])
		in := &p.code[i]
		switch {
		case in.op == opEnd || in.op == opCall:
			t.exitTo(i)
		case in.op == opInline:
			out = append(out, t.inline(in, i)...)
		case in.op.branches():
			out = append(out, t.branch(in, i)...)
		case rolesOf[in.op].d == roleFloat || rolesOf[in.op].a == roleFloat:
			t.float(in)
		default:
			t.integer(in)
		}
	}
	for _, x := range out {
		t.Mark(x.from)
		t.exitTo(x.to)
	}
	t.Mark(t.leave)
	for slot, pin := range t.pins {
		if pin.role != roleNone && slot >= len(p.constants) {
			t.save(slot, pin)
		}
	}
	t.Return()
	t.Align(16)
	for _, bytes := range t.order {
		t.Mark(t.pool[bytes])
		t.Data(bytes[:]...)
	}
	for _, l := range t.at {
		entries = append(entries, int32(t.Offset(l)))
	}
	return t.Bytes(), entries
}

// exit is a place where the code is left, before instruction to.
type exit struct {
	from amd64.Label
	to   int
}

func (t *translator) exitTo(i int) {
	t.MovImm(amd64.RAX, uint64(i))
	t.Jump(t.leave)
}

// enter fills the pinned registers and goes where RDX says.
func (t *translator) enter() {
	for slot, pin := range t.pins {
		switch pin.role {
		case roleInt:
			t.Do(amd64.MOV, true, pin.reg, t.home(slot))
		case roleFloat:
			t.FLoad(true, pin.reg, t.home(slot))
		}
	}
	t.JumpTo(amd64.RDX)
}

func (t *translator) home(slot int) amd64.Arg { return amd64.M(regFile, int32(slot*8)) }

func (t *translator) save(slot int, p pin) {
	if p.role == roleFloat {
		t.FStore(true, p.reg, t.home(slot))
		return
	}
	t.Do(amd64.STORE, true, p.reg, t.home(slot))
}

// operand is register at of the program, for instructions on integers or on floats: where it is pinned, or its home.
func (t *translator) operand(at uint16, want role) amd64.Arg {
	slot := int(at / 8)
	switch p := t.pins[slot]; p.role {
	case want:
		return amd64.R(p.reg)
	case roleNone:
	default:
		t.save(slot, p)
	}
	return t.home(slot)
}

// word is an integer operand.
func (t *translator) word(at uint16) amd64.Arg { return t.operand(at, roleInt) }

// number is a float operand.
func (t *translator) number(at uint16) amd64.Arg { return t.operand(at, roleFloat) }

// wordIn is an integer operand in a register: its own, or via.
func (t *translator) wordIn(at uint16, via amd64.Reg) amd64.Reg {
	a := t.word(at)
	if r, ok := a.Reg(); ok {
		return r
	}
	t.Do(amd64.MOV, true, via, a)
	return via
}

// numberIn is a float operand in a register: its own, or via.
func (t *translator) numberIn(at uint16, double bool, via amd64.Reg) amd64.Reg {
	a := t.number(at)
	if r, ok := a.Reg(); ok {
		return r
	}
	t.FLoad(double, via, a)
	return via
}

// immediate is the value of a constant that an instruction on so many bits can hold.
func (t *translator) immediate(at uint16, wide bool) (int32, bool) {
	slot := int(at / 8)
	if slot >= len(t.p.constants) {
		return 0, false
	}
	v := t.p.constants[slot]
	return int32(v), !wide || isImmediate(v)
}

// target is the register in which a result is best computed: where d is pinned, or via.
func (t *translator) target(d uint16, want role, via amd64.Reg) amd64.Reg {
	if p := t.pins[d/8]; p.role == want {
		return p.reg
	}
	return via
}

// setWord makes r, a general register, the value of d.
func (t *translator) setWord(d uint16, r amd64.Reg) {
	switch p := t.pins[d/8]; p.role {
	case roleInt:
		if p.reg != r {
			t.Do(amd64.MOV, true, p.reg, amd64.R(r))
		}
	case roleFloat:
		t.ToFloat(p.reg, amd64.R(r))
	default:
		t.Do(amd64.STORE, true, r, t.home(int(d/8)))
	}
}

// setNumber makes x, a vector register, the value of d.
func (t *translator) setNumber(d uint16, x amd64.Reg) {
	switch p := t.pins[d/8]; p.role {
	case roleFloat:
		if p.reg != x {
			t.FMove(p.reg, x)
		}
	case roleInt:
		t.FromFloat(p.reg, x)
	default:
		t.FStore(true, x, t.home(int(d/8)))
	}
}

// isFloat reports whether a register of the program is pinned among floats.
func (t *translator) isFloat(at uint16) bool { return t.pins[at/8].role == roleFloat }
