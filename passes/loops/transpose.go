package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// TransposeMotion moves transposes out of loops.
var TransposeMotion = &pass.Pass{Name: "while-loop-transpose-code-motion", Doc: `carry arrays of many short rows as few long ones

A part of the state whose last two dimensions are many and few, of which the body takes columns, and to which it adds what it transposes, becomes its transpose. All that the body computes of it
must be elementwise, slices, updates of slices, reshapes that add or drop dimensions of size 1 in front, or concatenations. The transposes are then in front of the loop and behind it. XLA
gives such parts another layout.`, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	e := ctx.Edit(m)
	for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
		for in := range c.PostOrder() {
			if in.Opcode() != hlo.OpWhile || in.Callee(0) == in.Callee(1) {
				continue
			}
			state, ok := looseStateOf(e, m, in)
			if !ok || slices.ContainsFunc([]hlo.Instruction{in, state.body.Root(), state.body.Parameter(0)}, analysis.IsSharded) {
				continue
			}
			t := &turning{ctx: ctx, e: e, m: m, c: e.Computation(c.ID()), while: in.ID(), looseState: state}
			if t.find() {
				if err := t.apply(); err != nil {
					return m, err
				}
			}
		}
	}
	return e.Freeze(), nil
}}

// turning is the work on one loop. An array is turned if its last two dimensions have changed places.
type turning struct {
	ctx   *pass.Context
	e     *hlo.Editor
	m     hlo.Module
	c     hlo.CompEdit
	while hlo.InstrID
	looseState

	turned map[hlo.InstrID]bool // instructions of the body
	parts  map[int]bool         // of the state
	gain   int                  // transposes and columns that go
}

// Rows of up to mostShort elements are short, and so many times as many rows are many.
const (
	mostShort  = 8
	timesShort = 4
)

// isMany reports whether an array has many short rows.
func isMany(s hlo.Shape) bool {
	if !s.IsArray() || !s.IsStatic() || s.Rank() < 2 || s.Type().IsComplex() || !s.Equal(s.WithoutLayout().WithDefaultLayout()) {
		return false
	}
	few, many := s.Dim(s.Rank()-1), s.Dim(s.Rank()-2)
	return few > 1 && few <= mostShort && many >= timesShort*mostShort
}

// find looks for parts of the state that can be turned; it changes nothing.
func (t *turning) find() bool {
	t.turned, t.parts = map[hlo.InstrID]bool{}, map[int]bool{}
	for i, id := range t.element {
		if id == hlo.NoInstr || t.parts[i] || !isMany(t.body.MustAt(id).Shape()) {
			continue
		}
		undo := *t
		undo.turned, undo.parts = clone(t.turned), clone(t.parts)
		if gained := t.gain; !t.turnPart(i) || t.gain == gained || !t.ctx.Spend("turn") {
			*t = undo
		}
	}
	return len(t.parts) > 0
}

// turnPart reports whether part i of the state can be turned, with what the body makes of it.
func (t *turning) turnPart(i int) bool {
	if t.parts[i] {
		return true
	}
	next := t.body.Root().OperandInstr(i)
	if t.inCond[i] || !isMany(next.Shape()) {
		return false
	}
	t.parts[i] = true
	return (t.element[i] == hlo.NoInstr || t.turn(t.body.MustAt(t.element[i]))) && t.bring(next)
}

// bring reports whether an operand of something that is turned is there turned, or can be at no cost.
func (t *turning) bring(in hlo.Instruction) bool {
	switch {
	case t.turned[in.ID()]:
		return true
	case swaps(in):
		t.gain++
		return true
	case isRow(in.Shape()) || in.Opcode() == hlo.OpBroadcast && turnedAxes(in) != nil:
		return true
	}
	return t.turn(in)
}

// swaps reports whether in transposes the last two dimensions.
func swaps(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpTranspose {
		return false
	}
	perm := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	return len(perm) >= 2 && slices.Equal(perm, swapped(len(perm)))
}

// swapped is the permutation of so many dimensions that turns an array.
func swapped(rank int) []int64 {
	perm := make([]int64, rank)
	for i := range perm {
		perm[i] = int64(i)
	}
	perm[rank-1], perm[rank-2] = perm[rank-2], perm[rank-1]
	return perm
}

// swap is a list of what dimensions have, turned.
func swap[E any](list []E) []E {
	list = slices.Clone(list)
	n := len(list)
	list[n-1], list[n-2] = list[n-2], list[n-1]
	return list
}

// isRow reports whether turning an array is a reshape.
func isRow(s hlo.Shape) bool {
	return s.IsArray() && s.Rank() >= 2 && (s.Dim(s.Rank()-1) == 1 || s.Dim(s.Rank()-2) == 1)
}

// turnedAxes are the dimensions of a broadcast when its result is turned, nil if its operand had to be turned, too.
func turnedAxes(in hlo.Instruction) []int64 {
	perm := swapped(in.Shape().Rank())
	axes := []int64{}
	for _, d := range hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions {
		axes = append(axes, perm[d])
	}
	if !slices.IsSorted(axes) {
		return nil
	}
	return axes
}

// turn reports whether an instruction of the body can be turned, with its users.
func (t *turning) turn(in hlo.Instruction) bool {
	if t.turned[in.ID()] {
		return true
	}
	s := in.Shape()
	if !s.IsArray() || !s.IsStatic() || s.Rank() < 2 || s.Type().IsComplex() || analysis.IsSharded(in) || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return false
	}
	t.turned[in.ID()] = true
	switch op := in.Opcode(); {
	case op == hlo.OpGetTupleElement:
		if in.OperandInstr(0).Opcode() != hlo.OpParameter || !t.turnPart(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)) {
			return false
		}
	case in.IsElementwise() && op != hlo.OpStochasticConvert && in.NumCallees() == 0, op == hlo.OpConcatenate:
		for o := range in.Operands() {
			if !(o.Shape().Rank() == 0 || o.Shape().Rank() == s.Rank() && t.bring(o)) {
				return false
			}
		}
	case op == hlo.OpSlice, op == hlo.OpDynamicSlice && in.NumOperands() == 1+s.Rank(), op == hlo.OpReshape && keepsRows(in):
		if !t.bring(in.OperandInstr(0)) {
			return false
		}
	case op == hlo.OpDynamicUpdateSlice && in.NumOperands() == 2+s.Rank(): // not one array of places
		if !t.bring(in.OperandInstr(0)) || !t.bring(in.OperandInstr(1)) {
			return false
		}
	default:
		return false
	}
	return t.acceptUsers(in)
}

// keepsRows reports whether a reshape only adds or drops dimensions of size 1 in front of the last two.
func keepsRows(in hlo.Instruction) bool {
	from, to := in.OperandInstr(0).Shape().Dimensions(), in.Shape().Dimensions()
	if len(from) < 2 || len(to) < 2 {
		return false
	}
	n := min(len(from), len(to))
	isOne := func(d int64) bool { return d == 1 }
	return slices.Equal(from[len(from)-n:], to[len(to)-n:]) && !slices.ContainsFunc(from[:len(from)-n], func(d int64) bool { return !isOne(d) }) &&
		!slices.ContainsFunc(to[:len(to)-n], func(d int64) bool { return !isOne(d) })
}

// acceptUsers reports whether the users of a turned value can take it so.
func (t *turning) acceptUsers(in hlo.Instruction) bool {
	for u := range in.Users() {
		switch {
		case u.IsRoot():
			for i := range u.NumOperands() {
				if u.Operand(i) == in.ID() && !t.turnPart(i) {
					return false
				}
			}
		case t.leaves(u):
			if !t.turned[u.ID()] {
				t.gain++
			}
		case !t.turn(u):
			return false
		}
	}
	return true
}

// leaves reports whether a user of something turned gives what is not turned, at no cost.
func (t *turning) leaves(u hlo.Instruction) bool {
	return swaps(u) || u.Opcode() == hlo.OpSlice && isRow(u.Shape())
}
