package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// DynamicIndexSplitter gives dynamic slices one scalar index for each dimension.
var DynamicIndexSplitter = expander("dynamic-index-splitter", "split the index vector of dynamic-slice and dynamic-update-slice into scalars", func(in hlo.Instruction) bool {
	first := firstIndex(in)
	return first > 0 && in.NumOperands() == first+1 && in.OperandInstr(first).Shape().Rank() == 1 && in.OperandInstr(first).Shape().IsStatic()
}, func(at emit.At, in hlo.Instruction) hlo.InstrID {
	spec, first := emit.Again(in), firstIndex(in)
	operands := slices.Clone(spec.Operands[:first])
	for i := range in.OperandInstr(first).Shape().Dim(0) {
		operands = append(operands, at.Reshape(at.Slice(spec.Operands[first], []int64{i}, []int64{i + 1})))
	}
	return at.Spec(emit.With(spec, operands...))
})

// firstIndex is the operand at which the indices of in begin, 0 if it has none.
func firstIndex(in hlo.Instruction) int {
	switch in.Opcode() {
	case hlo.OpDynamicSlice:
		return 1
	case hlo.OpDynamicUpdateSlice:
		return 2
	}
	return 0
}

// DynamicDimensionSimplifier simplifies what computes sizes.
var DynamicDimensionSimplifier = &pass.Pass{
	Name: "dynamic-dimension-simplifier",
	Doc: `simplify the arithmetic of sizes: small integers that are put together, cut apart and reshaped

Concatenations of concatenations become one, a slice of one operand that was concatenated is that operand, a reshape of a reshape or of a broadcast to the shape
before them is their operand, and a reshape to the same shape and a conversion to the same type go. Sizes are s32, but the same holds for every type.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).PostOrder() {
			if !c.Has(in.ID()) || !in.Shape().IsArray() || !in.Shape().IsStatic() || c.At(in.ID()).NumOperands() == 0 {
				continue
			}
			now := c.At(in.ID())
			if now.Opcode() == hlo.OpConcatenate {
				if operands, ok := flatter(now); ok && ctx.Spend("size") {
					old := slices.Collect(now.OperandIDs())
					c.Instr(in.ID()).SetOperands(operands...)
					for _, id := range old {
						pass.Release(c, id, nil)
					}
					ctx.Count("simplified", 1)
				}
				continue
			}
			by := sameSize(now)
			if by == hlo.NoInstr || !ctx.Spend("size") {
				continue
			}
			if err := emit.Forward(c, in.ID(), by); err != nil {
				return err
			}
			ctx.Count("simplified", 1)
		}
		return nil
	},
}

// flatter is the operands of a concatenation with those of concatenations along the same axis in their places.
func flatter(in hlo.Instruction) (operands []hlo.InstrID, ok bool) {
	for i := range in.NumOperands() {
		o := in.OperandInstr(i)
		if o.Opcode() == hlo.OpConcatenate && hlo.AttrsOf[hlo.AxisAttrs](o).Dimensions[0] == hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0] {
			operands, ok = append(operands, slices.Collect(o.OperandIDs())...), true
			continue
		}
		operands = append(operands, o.ID())
	}
	return operands, ok
}

// sameSize is a value that in equals.
func sameSize(in hlo.Instruction) hlo.InstrID {
	x := in.OperandInstr(0)
	switch {
	case in.Opcode() == hlo.OpConvert && x.Shape().Equal(in.Shape()):
		return x.ID()
	case in.Opcode() == hlo.OpReshape && x.Shape().Equal(in.Shape()):
		return x.ID()
	case in.Opcode() == hlo.OpReshape && (x.Opcode() == hlo.OpReshape || x.Opcode() == hlo.OpBroadcast) && in.Shape().Rank() == 0 && x.OperandInstr(0).Shape().Equal(in.Shape()):
		return x.Operand(0)
	case in.Opcode() == hlo.OpReshape && x.Opcode() == hlo.OpReshape && x.OperandInstr(0).Shape().Equal(in.Shape()):
		return x.Operand(0)
	case in.Opcode() == hlo.OpSlice && x.Opcode() == hlo.OpConcatenate && in.Shape().Rank() == 1:
		part, place := hlo.AttrsOf[hlo.SliceAttrs](in).Slice[0], int64(0)
		for i := range x.NumOperands() {
			o := x.OperandInstr(i)
			if part.Start == place && part.Limit == place+o.Shape().Dim(0) && part.Stride == 1 {
				return o.ID()
			}
			place += o.Shape().Dim(0)
		}
	}
	return hlo.NoInstr
}
