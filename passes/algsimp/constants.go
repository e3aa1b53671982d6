package algsimp

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
)

func isConstant(in hlo.Instruction) bool { return in.Opcode() == hlo.OpConstant }

// splat is the value of an instruction whose elements are all the same constant.
func splat(in hlo.Instruction) (*hlo.Literal, bool) { return match.SplatValue(in) }

// splatIs reports whether in repeats a constant for which want holds.
func splatIs(in hlo.Instruction, want func(*hlo.Literal) bool) bool {
	l, ok := splat(in)
	return ok && want(l)
}

// splatInt is the value of an instruction that repeats an integer.
func splatInt(in hlo.Instruction) (int64, bool) {
	l, ok := splat(in)
	if !ok {
		return 0, false
	}
	return l.ScalarInt()
}

// sameValue reports whether two instructions have the same value: they are one, or repeat the same constant.
func sameValue(a, b hlo.Instruction) bool {
	if a.ID() == b.ID() {
		return true
	}
	x, okX := splat(a)
	y, okY := splat(b)
	return okX && okY && x.Equal(y) && a.Shape().EqualIgnoringLayout(b.Shape())
}
