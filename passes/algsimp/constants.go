package algsimp

import (
	"slices"

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

// integersOf are the elements of a small constant, or of a small splat of one, if they are integers.
func integersOf(in hlo.Instruction) (all []int64, ok bool) {
	const most = 64
	n := in.Shape().NumElements()
	if !in.Shape().IsArray() || !in.Shape().Type().IsInteger() || n > most {
		return nil, false
	}
	if v, ok := splatInt(in); ok {
		return slices.Repeat([]int64{v}, int(n)), true
	}
	if !isConstant(in) || in.Literal().IsElided() {
		return nil, false
	}
	for element := range slices.Chunk(in.Literal().Bytes(), in.Shape().Type().ByteSize()) {
		l, err := hlo.NewLiteral(array(in.Shape().Type()), element)
		if err != nil {
			return nil, false
		}
		v, ok := l.ScalarInt()
		if !ok {
			return nil, false
		}
		all = append(all, v)
	}
	return all, true
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
