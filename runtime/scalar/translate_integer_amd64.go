package scalar

import (
	"math/bits"

	"github.com/gohalo/halo/internal/amd64"
)

const rax, rdx = amd64.RAX, amd64.RDX

// binaries are instructions whose first operand is the destination.
var binaries = map[op]amd64.Op{opAdd: amd64.ADD, opSub: amd64.SUB, opMul: amd64.IMUL, opAnd: amd64.AND, opOr: amd64.OR, opXor: amd64.XOR}

// comparison is how two integers are compared.
type comparison struct {
	cond amd64.Cond
	wide bool
}

// comparisons follow opEq32; branches and choices are in the same order.
var comparisons = [...]comparison{{amd64.E, false}, {amd64.NE, false}, {amd64.L, false}, {amd64.LE, false}, {amd64.B, false}, {amd64.BE, false},
	{amd64.E, true}, {amd64.NE, true}, {amd64.L, true}, {amd64.LE, true}, {amd64.B, true}, {amd64.BE, true}}

// integer translates instructions on integers and on bits.
func (t *translator) integer(in *instr) {
	switch o := in.op; {
	case o == opMove4 || o == opMove8:
		t.move(in.d, in.a)
	case o == opSelect4 || o == opSelect8:
		t.CmpByte(t.word(in.a), 0)
		t.choose(in.d, amd64.NE, in.b, in.c)
	case o == opSelectTwice4:
		t.selectTwice(in)
	case o >= opLoad1 && o <= opLoad8:
		t.load(o-opLoad1, in.d, t.address(in))
	case o >= opStore1 && o <= opStore8:
		t.store(in)
	case o >= opIndexS32 && o <= opIndexU64:
		t.index(o-opIndexS32, in.a, in.c, in.m)
		t.setWord(in.d, rax)
	case o >= opLoadAt4S32 && o <= opLoadAt8S64:
		t.index((o-opLoadAt4S32)%2*2, in.b, in.c, in.m)
		t.Do(amd64.MOV, true, rdx, amd64.M(regPlaces, int32(in.a)))
		t.load(2+(o-opLoadAt4S32)/2, in.d, amd64.MX(rdx, rax, 0))
	case o >= opAdd && o <= opXor:
		t.arithmetic(binaries[o], in.d, in.a, in.b)
	case o == opAdd3:
		t.Do(amd64.MOV, true, rax, t.word(in.a))
		t.with(amd64.ADD, true, rax, in.b)
		t.with(amd64.ADD, true, rax, in.c)
		t.setWord(in.d, rax)
	case o >= opExtS8 && o <= opExtU32:
		t.extend(o, in)
	case o >= opDivS32 && o <= opRemU64:
		t.divide(o, in)
	case o >= opShl32 && o <= opSar64:
		t.shift(o-opShl32, in)
	case o >= opMaxS32 && o <= opMinU64:
		c := comparisons[[]op{opLtS32, opLtU32, opLtS64, opLtU64}[(o-opMaxS32)%4]-opEq32]
		t.compare(c, in.a, in.b)
		if o < opMinS32 {
			t.choose(in.d, c.cond, in.b, in.a)
		} else {
			t.choose(in.d, c.cond, in.a, in.b)
		}
	case o >= opEq32 && o <= opLeU64:
		c := comparisons[o-opEq32]
		t.compare(c, in.a, in.b)
		t.setTruth(in.d, c.cond)
	case o >= opSelectEq32 && o <= opSelectLeS32:
		c := comparisons[[]op{opEq32, opLtS32, opLeS32}[o-opSelectEq32]-opEq32]
		t.compare(c, in.a, in.b)
		t.choose(in.d, c.cond, in.c, in.e)
	case o == opTotalF32 || o == opTotalF64:
		t.total(in, o == opTotalF64)
	default:
		panic("scalar: instruction " + opNames[o] + " has no translation")
	}
}

// with writes r = r o b.
func (t *translator) with(o amd64.Op, wide bool, r amd64.Reg, b uint16) {
	if v, ok := t.immediate(b, wide); ok {
		if o == amd64.IMUL {
			t.IMulImm(wide, r, amd64.R(r), v)
		} else {
			t.DoImm(o, wide, amd64.R(r), v)
		}
		return
	}
	t.Do(o, wide, r, t.word(b))
}

func (t *translator) move(d, a uint16) {
	switch {
	case d == a:
	case t.isFloat(d):
		t.setNumber(d, t.numberIn(a, true, t.pins[d/8].reg))
	case t.isFloat(a):
		t.setNumber(d, t.pins[a/8].reg)
	default:
		r := t.target(d, roleInt, rax)
		if v, ok := t.immediate(a, true); ok && v >= 0 {
			t.MovImm(r, uint64(v))
		} else {
			r = t.wordIn(a, r)
		}
		t.setWord(d, r)
	}
}

// arithmetic writes d = a o b on 64 bits.
func (t *translator) arithmetic(o amd64.Op, d, a, b uint16) {
	if _, constant := t.immediate(a, true); constant && o != amd64.SUB {
		a, b = b, a
	}
	r := t.target(d, roleInt, rax)
	if y := t.word(b); y.Is(r) && a != b {
		if o == amd64.SUB {
			r = rax
		} else {
			a, b = b, a
		}
	}
	if x := t.word(a); !x.Is(r) {
		t.Do(amd64.MOV, true, r, x)
	}
	t.with(o, true, r, b)
	t.setWord(d, r)
}

func (t *translator) extend(o op, in *instr) {
	r, x := t.target(in.d, roleInt, rax), t.word(in.a)
	switch o {
	case opExtS8:
		t.Do(amd64.MOVSX8, true, r, x)
	case opExtS16:
		t.Do(amd64.MOVSX16, true, r, x)
	case opExtS32:
		t.Do(amd64.MOVSXD, true, r, x)
	case opExtU8:
		t.Do(amd64.MOVZX8, false, r, x)
	case opExtU16:
		t.Do(amd64.MOVZX16, false, r, x)
	case opExtU32:
		t.Do(amd64.MOV, false, r, x)
	}
	t.setWord(in.d, r)
}

// compare sets the flags for a against b.
func (t *translator) compare(c comparison, a, b uint16) {
	if v, ok := t.immediate(b, c.wide); ok {
		t.DoImm(amd64.CMP, c.wide, t.word(a), v)
		return
	}
	y := t.word(b)
	t.Do(amd64.CMP, c.wide, t.wordIn(a, rax), y)
}

// setTruth makes d 1 under a condition, else 0.
func (t *translator) setTruth(d uint16, c amd64.Cond) {
	t.SetCC(c, rax)
	t.Do(amd64.MOVZX8, false, rax, amd64.R(rax))
	t.setWord(d, rax)
}

// choose makes d the value of b under a condition that the flags have, else that of c.
func (t *translator) choose(d uint16, cond amd64.Cond, b, c uint16) {
	if t.isFloat(d) {
		t.SetCC(cond, rax)
		t.Do(amd64.MOVZX8, false, rax, amd64.R(rax))
		t.Do1(amd64.NEG, true, amd64.R(rax))
		t.ToFloat(0, amd64.R(rax))
		t.blend(d, b, c, true)
		return
	}
	// Neither the moves that bring operands home nor those here change the flags.
	x, y := t.word(b), t.word(c)
	r := t.target(d, roleInt, rax)
	switch {
	case y.Is(r):
		t.Do(amd64.CMOV(cond), true, r, x)
	case x.Is(r):
		t.Do(amd64.CMOV(cond^1), true, r, y)
	default:
		t.Do(amd64.MOV, true, r, y)
		t.Do(amd64.CMOV(cond), true, r, x)
	}
	t.setWord(d, r)
}

// blend makes d, among floats, the value of b where X0 has its sign bit, else that of c.
func (t *translator) blend(d, b, c uint16, double bool) {
	x := t.numberIn(c, true, 1)
	y := amd64.Reg(1)
	if p := t.pins[b/8]; p.role == roleFloat {
		y = p.reg
	} else if x != 1 {
		y = t.numberIn(b, true, 1)
	} else { // one scratch register is not enough: the other is d itself, which is free by now
		y = t.pins[d/8].reg
		t.FLoad(true, y, t.number(b))
	}
	if double {
		t.Blend(t.pins[d/8].reg, x, y, 0)
	} else {
		t.Blend32(t.pins[d/8].reg, x, y, 0)
	}
}

// selectTwice is d = a ? b : c ? e : m.
func (t *translator) selectTwice(in *instr) {
	t.Do(amd64.MOV, true, rdx, t.word(uint16(in.m)))
	e, b := t.word(in.e), t.word(in.b)
	t.CmpByte(t.word(in.c), 0)
	t.Do(amd64.CMOV(amd64.NE), true, rdx, e)
	t.CmpByte(t.word(in.a), 0)
	t.Do(amd64.CMOV(amd64.NE), true, rdx, b)
	t.setWord(in.d, rdx)
}

// address is where a load or store goes.
func (t *translator) address(in *instr) amd64.Arg {
	t.Do(amd64.MOV, true, rdx, amd64.M(regPlaces, int32(in.a)))
	if v, ok := t.immediate(in.b, true); ok && v == 0 {
		return amd64.M(rdx, in.m)
	}
	return amd64.MX(rdx, t.wordIn(in.b, rax), in.m)
}

// load reads 1, 2, 4 or 8 bytes, told by their logarithm.
func (t *translator) load(size op, d uint16, from amd64.Arg) {
	if t.isFloat(d) && size >= 2 {
		t.FLoad(size == 3, t.pins[d/8].reg, from)
		return
	}
	r := t.target(d, roleInt, rax)
	switch size {
	case 0:
		t.Do(amd64.MOVZX8, false, r, from)
	case 1:
		t.Do(amd64.MOVZX16, false, r, from)
	default:
		t.Do(amd64.MOV, size == 3, r, from)
	}
	t.setWord(d, r)
}

func (t *translator) store(in *instr) {
	to := t.address(in)
	size := in.op - opStore1
	if t.isFloat(in.c) && size >= 2 {
		t.FStore(size == 3, t.pins[in.c/8].reg, to)
		return
	}
	r, pinned := t.word(in.c).Reg()
	if !pinned { // both scratch registers may be in the address
		t.Do(amd64.LEA, true, rdx, to)
		to, r = amd64.M(rdx, 0), rax
		t.Do(amd64.MOV, true, r, t.word(in.c))
	}
	t.Do([]amd64.Op{amd64.STORE8, amd64.STORE16, amd64.STORE, amd64.STORE}[size], size == 3, r, to)
}

// index leaves clamp(i, 0, highest)·stride in RAX. The type is as in opIndexS32 and those that follow.
func (t *translator) index(typ op, i, highest uint16, stride int32) {
	above := amd64.G
	switch typ {
	case 0:
		t.Do(amd64.MOVSXD, true, rax, t.word(i))
	case 1:
		t.Do(amd64.MOV, false, rax, t.word(i))
	default:
		t.Do(amd64.MOV, true, rax, t.word(i))
	}
	if typ == 3 {
		above = amd64.A
	} else if typ != 1 {
		t.Do(amd64.XOR, false, rdx, amd64.R(rdx))
		t.Do(amd64.TEST, true, rax, amd64.R(rax))
		t.Do(amd64.CMOV(amd64.S), true, rax, amd64.R(rdx))
	}
	y := t.word(highest)
	t.Do(amd64.CMP, true, rax, y)
	t.Do(amd64.CMOV(above), true, rax, y)
	switch s := uint32(stride); {
	case stride == 1:
	case stride > 0 && s&(s-1) == 0:
		t.ShiftImm(amd64.SHL, true, rax, byte(bits.TrailingZeros32(s)))
	default:
		t.IMulImm(true, rax, amd64.R(rax), stride)
	}
}

// total makes a number that orders as a float does in the total order.
func (t *translator) total(in *instr, wide bool) {
	last := byte(31)
	if wide {
		last = 63
	}
	t.Do(amd64.MOV, true, rax, t.word(in.a))
	t.Do(amd64.MOV, true, rdx, amd64.R(rax))
	t.ShiftImm(amd64.SAR, wide, rdx, last)
	t.ShiftImm(amd64.SHR, wide, rdx, 1)
	t.Do(amd64.XOR, wide, rax, amd64.R(rdx))
	t.setWord(in.d, rax)
}
