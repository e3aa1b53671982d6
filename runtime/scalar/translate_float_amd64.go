package scalar

import (
	"math"

	"golang.org/x/sys/cpu"

	"github.com/gohalo/halo/internal/amd64"
)

// hasTernary says whether one instruction chooses bit by bit.
var hasTernary = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL

// float translates instructions that compute on floats.
func (t *translator) float(in *instr) {
	o := in.op
	switch o {
	case opS32ToF32, opS32ToF64, opS64ToF32, opS64ToF64:
		double := o == opS32ToF64 || o == opS64ToF64
		x := t.target(in.d, roleFloat, 0)
		a := t.word(in.a)
		t.Bits(amd64.VXOR, x, x, x) // not to wait for what was there
		t.FromInt(double, o >= opS64ToF32, x, x, a)
		t.setNumber(in.d, x)
		return
	case opF32ToF64, opF64ToF32:
		x := t.target(in.d, roleFloat, 0)
		a := t.numberIn(in.a, o == opF64ToF32, 0)
		t.Float(amd64.VCVT, o == opF64ToF32, x, a, amd64.R(a))
		t.setNumber(in.d, x)
		return
	case opF32ToS32, opF64ToS32:
		t.truncate(in, o == opF64ToS32)
		return
	case opSelectEqF32, opSelectNeF32, opSelectLtF32, opSelectLeF32:
		t.chooseByFloats(in)
		return
	case opMask:
		t.Do(amd64.MOVZX8, false, rax, t.word(in.a))
		t.Do1(amd64.NEG, false, amd64.R(rax))
		t.Do(amd64.SBB, true, rax, amd64.R(rax))
		x := t.target(in.d, roleFloat, 0)
		t.ToFloat(x, amd64.R(rax))
		t.setNumber(in.d, x)
		return
	case opMaskEqF32, opMaskNeF32, opMaskLtF32, opMaskLeF32, opMaskEqF64, opMaskNeF64, opMaskLtF64, opMaskLeF64:
		double := o >= opMaskEqF64
		x := t.target(in.d, roleFloat, 0)
		t.Mask(relations[(o-opMaskEqF32)%4], double, x, t.numberIn(in.a, double, 0), t.number(in.b))
		t.setNumber(in.d, x)
		return
	case opBlend4, opBlend8:
		t.blendBy(in)
		return
	}
	double := o >= opAddF64
	if double {
		o -= opAddF64 - opAddF32
	}
	switch o {
	case opMulF32, opDivF32:
		if t.gentle && !double {
			t.inDouble(map[op]amd64.FOp{opMulF32: amd64.VMUL, opDivF32: amd64.VDIV}[o], in)
			t.setNumber(in.d, 0)
			return
		}
		fallthrough
	case opAddF32, opSubF32:
		t.setFloat([]amd64.FOp{amd64.VADD, amd64.VSUB, amd64.VMUL, amd64.VDIV}[o-opAddF32], double, in)
	case opMaxF32, opMinF32:
		t.extreme(o == opMaxF32, double, in)
	case opNegF32, opAbsF32:
		t.sign(o == opNegF32, double, in)
	case opSqrtF32:
		if t.gentle && !double {
			t.widen(0, in.a)
			t.Float(amd64.VSQRT, true, 0, 0, amd64.R(0))
			t.Float(amd64.VCVT, true, 0, 0, amd64.R(0))
			t.setNumber(in.d, 0)
			return
		}
		x, a := t.target(in.d, roleFloat, 0), t.numberIn(in.a, double, 0)
		t.Float(amd64.VSQRT, double, x, a, amd64.R(a))
		t.setNumber(in.d, x)
	case opRoundF32:
		x, a := t.target(in.d, roleFloat, 0), t.numberIn(in.a, double, 0)
		t.Round(double, x, a, byte(in.m))
		t.setNumber(in.d, x)
	case opMulAddF32:
		if t.gentle && !double {
			t.inDouble(amd64.VMUL, in)
		} else {
			x := t.numberIn(in.a, double, 0)
			t.Float(amd64.VMUL, double, 0, x, t.number(in.b))
		}
		x := t.target(in.d, roleFloat, 0)
		t.Float(amd64.VADD, double, x, 0, t.number(in.c))
		t.setNumber(in.d, x)
	case opEqF32, opNeF32, opLtF32, opLeF32:
		t.setTruth(in.d, t.compareFloats(o, double, in.a, in.b))
	default:
		panic("scalar: instruction " + opNames[in.op] + " has no translation")
	}
}

func (t *translator) setFloat(o amd64.FOp, double bool, in *instr) {
	x := t.numberIn(in.a, double, 0)
	r := t.target(in.d, roleFloat, 0)
	t.Float(o, double, r, x, t.number(in.b))
	t.setNumber(in.d, r)
}

// inline writes instruction i, a loop's instructions, and leaves operands that are not for them to the loop.
func (t *translator) inline(in *instr, i int) (out []exit) {
	callee := &t.p.loops[in.m]
	var args []amd64.Reg
	for k, at := range []uint16{in.a, in.b, in.c}[:callee.args] {
		args = append(args, t.numberIn(at, true, InlineArguments[k]))
	}
	if power, double := callee.inline.Below(); power > 0 {
		large := t.NewLabel()
		out = append(out, exit{large, i})
		t.belowPower(args[0], power, double, large)
	}
	changes := callee.inline.Uses()
	for slot, p := range t.pins {
		if p.role == roleFloat && changes>>p.reg&1 != 0 && slot >= len(t.p.constants) {
			t.save(slot, p)
		}
	}
	r := callee.inline.Write(&t.Code, args, t.constant)
	if changes != 0 && r != 0 {
		t.Vector(&amd64.Vector{Op: amd64.VMOVAPS, Bits: 128, D: amd64.R(0), Y: amd64.R(r)})
		r = 0
	}
	for slot, p := range t.pins {
		if p.role == roleFloat && changes>>p.reg&1 != 0 && slot != int(in.d/8) {
			t.FLoad(true, p.reg, t.home(slot))
		}
	}
	if d := t.target(in.d, roleFloat, 0); d != r {
		t.Vector(&amd64.Vector{Op: amd64.VMOVAPS, Wide: r > 15, Bits: 128, D: amd64.R(d), Y: amd64.R(r)})
		r = d
	}
	t.setNumber(in.d, r)
	return out
}

// belowPower goes to large if the magnitude of x is a power of two or more, or NaN: its exponent says so.
func (t *translator) belowPower(x amd64.Reg, power int, double bool, large amd64.Label) {
	bias, rest := int32(127), byte(24)
	if double {
		bias, rest = 1023, 53
	}
	t.FromFloat(rax, x)
	t.ShiftImm(amd64.SHL, double, rax, 1) // without the sign
	t.ShiftImm(amd64.SHR, double, rax, rest)
	t.DoImm(amd64.CMP, false, amd64.R(rax), bias+int32(power))
	t.JumpIf(amd64.GE, large)
}

// constant is where 16 bytes are, behind the code.
func (t *translator) constant(bytes [16]byte) amd64.Label {
	l, ok := t.pool[bytes]
	if !ok {
		l = t.NewLabel()
		t.pool[bytes] = l
		t.order = append(t.order, bytes)
	}
	return l
}

// inDouble leaves a o b of float32 in X0, computed in float64 and rounded to float32. The product of two numbers of 24 bits has 48, and a
// quotient of them that is not exact is never as near to the middle between two float32 as float64 rounds, so the bits are those of one
// rounding; float64 has no denormals where float32 has them.
func (t *translator) inDouble(o amd64.FOp, in *instr) {
	t.widen(0, in.a)
	y := amd64.Reg(0)
	if in.a != in.b {
		y = 1
		t.widen(y, in.b)
	}
	t.Float(o, true, 0, 0, amd64.R(y))
	t.Float(amd64.VCVT, true, 0, 0, amd64.R(0))
}

// widen leaves a float32 in x, as a float64, without waiting for what was in x.
func (t *translator) widen(x amd64.Reg, at uint16) {
	a := t.number(at)
	from, ok := a.Reg()
	if !ok {
		from = x
		t.Bits(amd64.VXOR, x, x, x)
	}
	t.Float(amd64.VCVT, false, x, from, a)
}

// compareFloats sets the flags, and returns the condition under which a comparison holds, which no NaN does but for "not equal".
func (t *translator) compareFloats(o op, double bool, a, b uint16) amd64.Cond {
	switch o {
	case opLtF32, opLeF32: // b > a, b ≥ a: a NaN counts as below
		y := t.number(a)
		t.Compare(double, t.numberIn(b, double, 0), y)
		if o == opLtF32 {
			return amd64.A
		}
		return amd64.AE
	}
	if a == b { // only a NaN differs from itself
		x := t.numberIn(a, double, 0)
		t.Compare(double, x, amd64.R(x))
		if o == opNeF32 {
			return amd64.P
		}
		return amd64.NP
	}
	// Equality has two flags. The mask of "a = b", or of "a ≠ b or either is NaN", has one.
	t.equalMask(o == opNeF32, double, a, b)
	t.FromFloat(rax, 0)
	t.Do(amd64.TEST, false, rax, amd64.R(rax))
	return amd64.NE
}

// equalMask fills X0 with ones where a = b, or not.
func (t *translator) equalMask(not, double bool, a, b uint16) {
	kind := amd64.Equal
	if not {
		kind = amd64.NotEqual
	}
	t.Mask(kind, double, 0, t.numberIn(a, double, 0), t.number(b))
}

// extreme is the larger or the smaller one: NaN if either is, and zeros are told apart.
func (t *translator) extreme(largest, double bool, in *instr) {
	o, zeros := amd64.VMIN, amd64.VOR
	if largest {
		o, zeros = amd64.VMAX, amd64.VAND
	}
	differ, same, end := t.NewLabel(), t.NewLabel(), t.NewLabel()
	x, y := t.numberIn(in.a, double, 0), t.numberIn(in.b, double, 1)
	t.Compare(double, x, amd64.R(y))
	t.JumpIf(amd64.NE, differ)
	t.JumpIf(amd64.NP, same)
	t.Float(amd64.VADD, double, 0, x, amd64.R(y))
	t.Jump(end)
	t.Mark(same)
	t.Bits(zeros, 0, x, y)
	t.Jump(end)
	t.Mark(differ)
	t.Float(o, double, 0, x, amd64.R(y))
	t.Mark(end)
	t.setNumber(in.d, 0)
}

// sign changes the sign, or takes it away.
func (t *translator) sign(negate, double bool, in *instr) {
	mask, o := uint64(1)<<31, amd64.VXOR
	if double {
		mask = 1 << 63
	}
	if !negate {
		mask, o = ^mask, amd64.VAND
	}
	x := t.numberIn(in.a, double, 0)
	t.MovImm(rax, mask)
	t.ToFloat(1, amd64.R(rax))
	r := t.target(in.d, roleFloat, 0)
	t.Bits(o, r, x, 1)
	t.setNumber(in.d, r)
}

// truncate stops at the ends of the range; NaN gives 0.
func (t *translator) truncate(in *instr, double bool) {
	x := t.numberIn(in.a, double, 0)
	if !double {
		t.Float(amd64.VCVT, false, 0, x, amd64.R(x))
		x = 0
	}
	nan := t.NewLabel()
	t.MovImm(rdx, math.Float64bits(math.MaxInt32))
	t.ToFloat(1, amd64.R(rdx))
	t.Float(amd64.VMIN, true, 1, x, amd64.R(1))
	t.MovImm(rax, 0)
	t.Compare(true, x, amd64.R(x))
	t.JumpIf(amd64.P, nan)
	t.MovImm(rdx, math.Float64bits(math.MinInt32))
	t.ToFloat(0, amd64.R(rdx))
	t.Float(amd64.VMAX, true, 0, 1, amd64.R(0))
	t.ToInt(rax, amd64.R(0))
	t.Mark(nan)
	t.setWord(in.d, rax)
}

// relations follow opEqF32 and opMaskEqF32.
var relations = [...]amd64.Relation{amd64.Equal, amd64.NotEqual, amd64.Less, amd64.LessOrEqual}

// blendBy is d = a ? b : c, where a is a mask.
func (t *translator) blendBy(in *instr) {
	d, mask := t.target(in.d, roleFloat, 0), t.numberIn(in.a, true, 0)
	if !hasTernary {
		x, blend := t.numberIn(in.c, true, 1), amd64.VBLENDVPS
		if in.op == opBlend8 {
			blend = amd64.VBLENDVPD
		}
		t.Vector(&amd64.Vector{Op: blend, Bits: 128, D: amd64.R(d), X: x, Y: t.number(in.b), Mask: mask})
		t.setNumber(in.d, d)
		return
	}
	b, c := t.number(in.b), t.number(in.c)
	switch {
	case d != mask && b.Is(d): // d ? mask : c, with d and mask exchanged
		t.ternary(d, mask, c, 0xE2)
	case d != mask && c.Is(d):
		t.ternary(d, mask, b, 0xB8)
	default:
		x := t.numberIn(in.b, true, 1)
		if d != mask {
			t.FMove(d, mask)
		}
		t.ternary(d, x, c, 0xCA)
	}
	t.setNumber(in.d, d)
}

// ternary makes each bit of d what table says of those of d, x and y.
func (t *translator) ternary(d, x amd64.Reg, y amd64.Arg, table uint8) {
	t.Vector(&amd64.Vector{Op: amd64.VPTERNLOGQ, Wide: true, Bits: 128, D: amd64.R(d), X: x, Y: y, Number: table, HasNumber: true})
}

// chooseByFloats is d = a < b ? c : e, and so on.
func (t *translator) chooseByFloats(in *instr) {
	o := in.op - opSelectEqF32 + opEqF32
	if t.isFloat(in.d) {
		t.Mask(relations[o-opEqF32], false, 0, t.numberIn(in.a, false, 0), t.number(in.b))
		t.blend(in.d, in.c, in.e, false)
		return
	}
	t.choose(in.d, t.compareFloats(o, false, in.a, in.b), in.c, in.e)
}
