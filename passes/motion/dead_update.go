package motion

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// DeadUpdateElimination removes updates that nothing reads.
var DeadUpdateElimination = &pass.Pass{
	Name: "dead-dus-elimination",
	Doc: `remove dynamic-update-slices whose block nothing reads

The block is at constant indices, and everything that uses the array, through further updates of it too, is a slice of other elements.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		order := slices.Collect(m.MustComputation(c.ID()).PostOrder())
		slices.Reverse(order)
		for _, in := range order {
			if in.Opcode() != hlo.OpDynamicUpdateSlice || !c.Has(in.ID()) || in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 {
				continue
			}
			now := c.At(in.ID())
			start, ok := constantIndex(now)
			if !ok || readsBlock(now, start, now.OperandInstr(1).Shape(), 0) || !ctx.Spend("update") {
				continue
			}
			if err := c.ReplaceInstruction(in.ID(), now.Operand(0)); err != nil { // what it alone used is left to dce
				return err
			}
			ctx.Count("updates", 1)
		}
		return nil
	},
}

// constantIndex is where an update writes, if that is known.
func constantIndex(in hlo.Instruction) ([]int64, bool) {
	s, u := in.Shape(), in.OperandInstr(1).Shape()
	if !s.IsStatic() || !u.IsStatic() {
		return nil, false
	}
	start := make([]int64, s.Rank())
	for d := range start {
		l := in.OperandInstr(2 + d).Literal()
		if in.OperandInstr(2+d).Opcode() != hlo.OpConstant || l == nil || l.IsElided() {
			return nil, false
		}
		v, ok := l.ScalarInt()
		if !ok {
			return nil, false
		}
		start[d] = max(0, min(v, s.Dim(d)-u.Dim(d)))
	}
	return start, true
}

// readsBlock reports whether anything may read an element of the block in what in is, or becomes by further updates.
func readsBlock(in hlo.Instruction, start []int64, block hlo.Shape, depth int) bool {
	if in.IsRoot() || depth > 64 {
		return true
	}
	for u := range in.Users() {
		switch {
		case u.Opcode() == hlo.OpSlice:
			apart := false
			for d, r := range hlo.AttrsOf[hlo.SliceAttrs](u).Slice {
				apart = apart || r.Limit <= start[d] || r.Start >= start[d]+block.Dim(d)
			}
			if !apart {
				return true
			}
		case u.Opcode() == hlo.OpDynamicUpdateSlice && u.Operand(0) == in.ID() && u.Operand(1) != in.ID():
			if readsBlock(u, start, block, depth+1) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
