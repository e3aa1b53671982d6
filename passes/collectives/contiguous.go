package collectives

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AllReduceContiguous reduces several arrays as one.
var AllReduceContiguous = &pass.Pass{
	Name: "all-reduce-contiguous",
	Doc: `reduce the operands of an all-reduce as one array

Operands of one element type are laid behind each other, reduced, and taken apart again: one message instead of several.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if in.Opcode() != hlo.OpAllReduce || in.NumOperands() < 2 || !oneType(in) || in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 || !ctx.Spend("concatenate") {
				continue
			}
			spec := emit.Again(c.At(in.ID()))
			at := emit.Before(c, in)
			var flat []hlo.InstrID
			var total int64
			for _, o := range spec.Operands {
				s := at.Shape(o)
				flat = append(flat, at.OpOf(hlo.OpBitcast, hlo.MakeShape(s.Type(), s.NumElements()), nil, o))
				total += s.NumElements()
			}
			all := spec
			all.Operands = []hlo.InstrID{at.Concatenate(0, flat...)}
			all.Shape = hlo.MakeShape(at.Shape(spec.Operands[0]).Type(), total).WithDefaultLayout()
			one := at.Spec(all)
			var parts []hlo.InstrID
			var from int64
			for i := range in.NumOperands() {
				s := spec.Shape.Elem(i)
				part := at.SliceAxis(one, 0, from, from+s.NumElements())
				parts = append(parts, at.OpOf(hlo.OpBitcast, s, nil, part))
				from += s.NumElements()
			}
			if err := emit.Forward(c, in.ID(), at.OpOf(hlo.OpTuple, in.Shape(), nil, parts...)); err != nil {
				return err
			}
			ctx.Count("all-reduces", 1)
		}
		return nil
	},
}

// oneType reports whether all operands are arrays of fixed size and of one element type.
func oneType(in hlo.Instruction) bool {
	for o := range in.Operands() {
		if !o.Shape().IsArray() || !o.Shape().IsStatic() || o.Shape().Type() != in.OperandInstr(0).Shape().Type() {
			return false
		}
	}
	return in.Shape().IsTuple()
}
