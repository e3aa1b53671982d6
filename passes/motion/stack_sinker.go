package motion

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// StackSinker moves concatenations behind what is computed on them.
var StackSinker = &pass.Pass{
	Name: "stack-sinker",
	Doc: `op(concatenate(a, b), x) → concatenate(op(a, x's first part), op(b, x's second part))

It is done for elementwise ops and arrays of one size that lie one behind the other, if nothing else needs the concatenation. The other operands are such concatenations, one value for all
elements, or parameters and elements of tuples, whose parts are there. Loops then compute the parts in their places; before, they were written, copied and read.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).PostOrder() {
			now := c.At(in.ID())
			if s, ok := stackBelow(c, now); ok && ctx.Spend("sink") {
				if err := s.sink(now); err != nil {
					return err
				}
			}
		}
		return nil
	},
}

// stacked is an elementwise op on stacks.
type stacked struct {
	c    hlo.CompEdit
	axis int
	part int64 // the size along the axis of each array
	n    int
}

// stackBelow looks for stacks among the operands of an elementwise op.
func stackBelow(c hlo.CompEdit, in hlo.Instruction) (stacked, bool) {
	s := stacked{c: c}
	if !in.IsElementwise() || in.NumCallees() > 0 || in.NumOperands() == 0 || in.Opcode() == hlo.OpStochasticConvert || !in.Shape().IsStatic() || analysis.IsSharded(in) || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return s, false
	}
	found := false
	for o := range in.Operands() {
		if isWholeStack(o) {
			first, axis := o.OperandInstr(0).Shape(), int(hlo.AttrsOf[hlo.AxisAttrs](o).Dimensions[0])
			if found && (axis != s.axis || first.Dim(axis) != s.part) || !feedsOnly(o, in) {
				return s, false
			}
			s.axis, s.part, s.n, found = axis, first.Dim(axis), o.NumOperands(), true
			continue
		}
		switch o.Opcode() {
		case hlo.OpParameter, hlo.OpGetTupleElement:
			if o.Shape().IsArray() && o.Shape().Rank() == in.Shape().Rank() {
				continue
			}
		case hlo.OpBroadcast:
			if o.OperandInstr(0).Shape().IsScalar() {
				continue
			}
		}
		return s, false
	}
	return s, found
}

func isWholeStack(in hlo.Instruction) bool {
	return analysis.IsStack(in) && in.NumControlPredecessors()+in.NumControlSuccessors() == 0 && !in.Shape().Type().IsComplex()
}

// feedsOnly reports whether a stack serves nothing but in.
func feedsOnly(stack, in hlo.Instruction) bool {
	for u := range stack.Users() {
		if u.ID() != in.ID() {
			return false
		}
	}
	return !stack.IsRoot()
}

// sink computes the parts.
func (s stacked) sink(in hlo.Instruction) error {
	id, at, spec := in.ID(), emit.Before(s.c, in), emit.Again(in)
	dims := in.Shape().Dimensions()
	dims[s.axis] = s.part
	spec.Control, spec.Shape = nil, hlo.MakeShape(in.Shape().Type(), dims...).WithDefaultLayout()
	parts := make([]hlo.InstrID, s.n)
	for k := range parts {
		operands := slices.Clone(spec.Operands)
		for i, o := range operands {
			operands[i] = s.partOf(at, s.c.At(o), k)
		}
		parts[k] = at.Spec(emit.With(spec, operands...))
	}
	return emit.Replace(s.c, id, at.Concatenate(int64(s.axis), parts...))
}

// partOf is part k of an operand.
func (s stacked) partOf(at emit.At, o hlo.Instruction, k int) hlo.InstrID {
	switch o.Opcode() {
	case hlo.OpConcatenate:
		return o.Operand(k)
	case hlo.OpBroadcast:
		dims := o.Shape().Dimensions()
		dims[s.axis] = s.part
		return at.Fill(o.Operand(0), dims...)
	}
	return at.SliceAxis(o.ID(), s.axis, int64(k)*s.part, int64(k+1)*s.part)
}
