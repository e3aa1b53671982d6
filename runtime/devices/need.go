package devices

import "github.com/gohalo/halo/hlo"

// Part is a part of an array: the elements from At on along an axis, Size of them. The zero Part is nothing.
type Part struct {
	Axis     int
	At, Size int64
	whole    bool
}

// Whole is all of an array.
var Whole = Part{whole: true}

// IsWhole reports whether a part is the whole array, and IsNone whether it is nothing.
func (p Part) IsWhole() bool { return p.whole }

// IsNone reports whether a part is nothing.
func (p Part) IsNone() bool { return !p.whole && p.Size == 0 }

// Need is what the member of rank to has to know of the operand that the member of rank from brings, as far as the program says it: see
// [Meeting.NeedRows]. An array of dynamic size, and a tuple, is needed as a whole or not at all.
func (t *Meeting) Need(from, to, operand int) Part {
	need := t.need(from, to, operand)
	if s := t.In.OperandInstr(operand).Shape(); !need.IsNone() && (!s.IsArray() || !s.IsStatic()) {
		return Whole
	}
	return need
}

func (t *Meeting) need(from, to, operand int) Part {
	wholeIf := func(needed bool) Part {
		if needed {
			return Whole
		}
		return Part{}
	}
	switch a := t.In.Attrs().(type) {
	case *hlo.ReduceScatterAttrs:
		return t.slice(operand, int(a.Dimensions[0]), to)
	case *hlo.AllToAllAttrs:
		if len(a.Dimensions) == 0 {
			return wholeIf(operand == to)
		}
		return t.slice(operand, int(a.Dimensions[0]), to)
	case *hlo.CollectiveBroadcastAttrs:
		return wholeIf(a.HasDynamicRoot || from == 0)
	case *hlo.RaggedAllToAllAttrs:
		switch {
		case operand == ragged.rows:
			return wholeIf(!t.HasRows())
		case operand >= ragged.from && operand <= ragged.to:
			return t.slice(operand, 0, to)
		}
		return Part{} // a member's own
	case *hlo.CollectivePermuteAttrs:
		for _, pair := range a.SourceTargetPairs {
			if pair[1] == ID(a, t.Group[to]) && Source(a, t.Group[to], pair[0]) == t.Group[from] {
				return Whole
			}
		}
		return Part{}
	}
	return Whole
}

// slice is the part of an operand for one member, of equal parts along an axis.
func (t *Meeting) slice(operand, axis, rank int) Part {
	s := t.In.OperandInstr(operand).Shape()
	if !s.IsArray() || axis >= s.Rank() || s.Dim(axis)%int64(len(t.Group)) != 0 {
		return Whole
	}
	n := s.Dim(axis) / int64(len(t.Group))
	return Part{Axis: axis, At: int64(rank) * n, Size: n}
}
