package scalar

import (
	"math/bits"

	"github.com/gohalo/halo/internal/amd64"
)

// shift follows HLO for amounts that are too large: nothing is left, or the sign.
func (t *translator) shift(o op, in *instr) {
	kind := []amd64.Shift{amd64.SHL, amd64.SHR, amd64.SAR}[o/2]
	wide, width := o%2 == 1, uint64(32)
	if wide {
		width = 64
	}
	if slot := int(in.b / 8); slot < len(t.p.constants) {
		by := t.p.constants[slot]
		if !wide {
			by = uint64(uint32(by))
		}
		t.shiftBy(kind, wide, in, by, width)
		return
	}
	t.Do(amd64.MOV, wide, rax, t.word(in.b))
	x := t.word(in.a)
	if kind == amd64.SAR {
		t.MovImm(rdx, width-1)
		t.Do(amd64.CMP, wide, rax, amd64.R(rdx))
		t.Do(amd64.CMOV(amd64.A), wide, rax, amd64.R(rdx))
		t.ShiftBy(kind, wide, rax, x, rax)
		t.setWord(in.d, rax)
		return
	}
	t.ShiftBy(kind, wide, rdx, x, rax)
	t.DoImm(amd64.CMP, wide, amd64.R(rax), int32(width))
	t.MovImm(rax, 0)
	t.Do(amd64.CMOV(amd64.B), true, rax, amd64.R(rdx))
	t.setWord(in.d, rax)
}

// shiftBy shifts by a constant.
func (t *translator) shiftBy(kind amd64.Shift, wide bool, in *instr, by, width uint64) {
	if by >= width && kind == amd64.SAR {
		by = width - 1
	}
	if by >= width {
		t.MovImm(rax, 0)
	} else {
		t.Do(amd64.MOV, wide, rax, t.word(in.a))
		t.ShiftImm(kind, wide, rax, byte(by))
	}
	t.setWord(in.d, rax)
}

// divide follows HLO where the processor would trap: dividing by zero gives all ones and leaves the dividend as remainder, and the least
// number divided by -1 is itself.
func (t *translator) divide(o op, in *instr) {
	k := (o - opDivS32) % 4
	remainder, signed, wide := o >= opRemS32, k%2 == 0, k >= 2
	if t.divideByPower(in, remainder, signed, wide) {
		return
	}
	zero, minus, end := t.NewLabel(), t.NewLabel(), t.NewLabel()
	by := t.word(in.b)
	t.DoImm(amd64.CMP, wide, by, 0)
	t.JumpIf(amd64.E, zero)
	if signed {
		t.DoImm(amd64.CMP, wide, by, -1)
		t.JumpIf(amd64.E, minus)
	}
	t.Do(amd64.MOV, wide, rax, t.word(in.a))
	if signed {
		t.SignOf(wide)
		t.Do1(amd64.IDIV, wide, by)
	} else {
		t.MovImm(rdx, 0)
		t.Do1(amd64.DIV, wide, by)
	}
	if remainder {
		t.Do(amd64.MOV, true, rax, amd64.R(rdx))
	}
	t.Jump(end)
	t.Mark(minus)
	if remainder {
		t.MovImm(rax, 0)
	} else {
		t.Do(amd64.MOV, wide, rax, t.word(in.a))
		t.Do1(amd64.NEG, wide, amd64.R(rax))
	}
	t.Jump(end)
	t.Mark(zero)
	if remainder {
		t.Do(amd64.MOV, wide, rax, t.word(in.a))
	} else {
		t.MovImm(rax, ^uint64(0))
	}
	t.Mark(end)
	t.setWord(in.d, rax)
}

// divideByPower divides by a constant power of two.
func (t *translator) divideByPower(in *instr, remainder, signed, wide bool) bool {
	slot := int(in.b / 8)
	if slot >= len(t.p.constants) {
		return false
	}
	by, width := t.p.constants[slot], 64
	if !wide {
		by, width = uint64(uint32(by)), 32
	}
	k := bits.TrailingZeros64(by)
	if by == 0 || by&(by-1) != 0 || k == 0 || k >= 31 {
		return false
	}
	t.Do(amd64.MOV, wide, rax, t.word(in.a))
	if signed { // what is negative is rounded up
		t.SignOf(wide)
		t.ShiftImm(amd64.SHR, wide, rdx, byte(width-k))
		t.Do(amd64.ADD, wide, rax, amd64.R(rdx))
	}
	switch {
	case remainder:
		t.DoImm(amd64.AND, wide, amd64.R(rax), int32(by-1))
		if signed {
			t.Do(amd64.SUB, wide, rax, amd64.R(rdx))
		}
	case signed:
		t.ShiftImm(amd64.SAR, wide, rax, byte(k))
	default:
		t.ShiftImm(amd64.SHR, wide, rax, byte(k))
	}
	t.setWord(in.d, rax)
	return true
}
