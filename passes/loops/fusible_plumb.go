package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/passes/emit"
)

// plumb lets a loop that is known to run begin with storage instead of a repeated constant: the first round, which a new part of the state tells from the others, makes the values itself,
// where what reads them can take them in.
//
//	while (…, broadcast(c), …)   → while (…, AllocateBuffer(), …, true)
//	body: x = part i             → x = select(broadcast(first), broadcast(c), part i), and first becomes false
//
// It is for parts that the body reads and writes. What the condition reads stays.
func (s *fusing) plumb() {
	loop := s.c.At(s.while)
	init := s.c.At(loop.Operand(0))
	b, c := s.body.View(), s.cond.View()
	if !s.constants || !s.splits(init) || init.NumControlPredecessors() > 0 || !readsParts(b.Parameter(0)) || !readsParts(c.Parameter(0)) {
		return
	}
	if known, ok := analysis.FindLoop(analysis.Now(s.c.Editor()), loop); !ok || known.Trip < 1 {
		return
	}
	var parts []int
	for i := range init.NumOperands() {
		if v := init.OperandInstr(i); repeatsConstant(v) && !handsOn(b, i, v.Shape()) && len(elementsOf(c, i)) == 0 && s.ctx.Spend("plumb") {
			parts = append(parts, i)
		}
	}
	if len(parts) == 0 {
		return
	}
	shapes := make([]hlo.Shape, len(parts))
	constants := make([]*hlo.Literal, len(parts))
	for k, i := range parts {
		shapes[k], constants[k] = init.OperandInstr(i).Shape(), init.OperandInstr(i).OperandInstr(0).Literal()
	}
	tuple := beginAsStorage(s.c, s.while, parts)

	begin := emit.Before(s.c, s.c.At(tuple)).Constant(emit.Number(hlo.PRED, 1))
	n := emit.Loop{C: s.c, While: s.while, Body: s.body, Cond: s.cond}.Grow([]hlo.InstrID{begin}, func(at emit.At, _ []hlo.InstrID) []hlo.InstrID {
		return []hlo.InstrID{at.Constant(emit.Number(hlo.PRED, 0))}
	})
	for k, i := range parts {
		s.choose(i, n, shapes[k], constants[k])
	}
	emit.Reorder(s.body)
	s.ctx.Count("buffers", int64(len(parts)))
}

// choose makes part i of the state the constant in the first round, which part first tells.
func (s *fusing) choose(i, first int, shape hlo.Shape, constant *hlo.Literal) {
	for _, id := range elementsOf(s.body.View(), i) {
		users := slices.Collect(s.body.Users(id))
		at := emit.Before(s.body, s.body.At(id))
		isFirst := at.Fill(at.Element(s.body.View().Parameters()[0], first), shape.Dimensions()...)
		value := at.OpOf(hlo.OpBroadcast, shape, &hlo.BroadcastAttrs{}, at.Constant(constant))
		emit.Redirect(s.body, users, id, at.OpOf(hlo.OpSelect, shape, nil, isFirst, value, id))
	}
}

// readsParts reports whether nothing but its parts is read of a tuple.
func readsParts(tuple hlo.Instruction) bool {
	if tuple.IsRoot() {
		return false
	}
	for u := range tuple.Users() {
		if u.Opcode() != hlo.OpGetTupleElement || u.IsRoot() {
			return false
		}
	}
	return true
}

// repeatsConstant reports an array that is one constant throughout.
func repeatsConstant(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpBroadcast && in.Shape().Rank() > 0 && in.Shape().IsStatic() && in.OperandInstr(0).Opcode() == hlo.OpConstant &&
		in.OperandInstr(0).Shape().IsScalar() && in.OperandInstr(0).Literal() != nil && !analysis.IsSharded(in)
}
