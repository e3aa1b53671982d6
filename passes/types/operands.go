package types

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/passes/emit"
)

// ConvertOperandFolding gives contractions their operands as they were before they were widened.
var ConvertOperandFolding = &pass.Pass{
	Name: "convert-operand-folding",
	Doc: `let dot and convolution take their operands in the narrow types from which these are converted

The type of the result stays, and the products and sums are of that. Slices, reshapes, transposes and gathers between the conversion and the op, and reductions of dimensions
of size 1, move the narrow values. A conversion that not every value survives stays.`,
	Lent: true,
	Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		for in := range pass.EachOf(c, hlo.OpDot, hlo.OpConvolution) {
			id, operands := in.ID(), slices.Collect(in.OperandIDs())
			at := emit.Before(c, in)
			changed := false
			for i, o := range operands {
				chain := widened(c, o)
				if chain == nil || !ctx.Spend("operand") {
					continue
				}
				operands[i], changed = narrowed(at, chain), true
				ctx.Count("operands", 1)
			}
			if !changed {
				continue
			}
			was := slices.Collect(c.At(id).OperandIDs())
			c.Instr(id).SetOperands(operands...)
			for _, o := range was {
				pass.Release(c, o, nil)
			}
		}
		return nil
	},
}

// widened is the way from a value to the conversion that has widened its elements, both included; nil if there is none.
func widened(c hlo.CompEdit, id hlo.InstrID) (chain []hlo.Instruction) {
	for in := c.At(id); ; in = in.OperandInstr(0) {
		if !in.Shape().IsArray() || in.NumOperands() == 0 {
			return nil
		}
		chain = append(chain, in)
		if in.Opcode() == hlo.OpConvert {
			if !keepsValues(in.OperandInstr(0).Shape().Type(), in.Shape().Type()) {
				return nil
			}
			return chain
		}
		if !moves(in) && !dropsOnes(c, in) {
			return nil
		}
	}
}

// keepsValues reports whether each value of a type is one of another. Small integers are floats of 16 bits, too.
func keepsValues(from, to hlo.PrimitiveType) bool {
	small := from.IsInteger() && from.Bits() <= 8 || from == hlo.PRED
	return rules.Keeps(from, to) || small && (to == hlo.F16 || to == hlo.BF16) || from == hlo.PRED && (to == hlo.F32 || to == hlo.F64)
}

// moves reports an op whose elements are those of its first operand.
func moves(in hlo.Instruction) bool {
	op := in.Opcode()
	return op == hlo.OpGather || op == hlo.OpDynamicSlice || hlo.Info(op).Traits.Has(hlo.TraitReindexes) && in.OperandInstr(0).Shape().Type() == in.Shape().Type()
}

// dropsOnes reports a reduction whose elements are those of its operand: one each, and a first value that leaves it as it is.
func dropsOnes(c hlo.CompEdit, in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpReduce || in.NumOperands() != 2 || !in.Shape().IsStatic() || in.Shape().NumElements() != in.OperandInstr(0).Shape().NumElements() {
		return false
	}
	f := c.Editor().View(in.Callee(0))
	root := f.Root()
	if root.NumOperands() != 2 || !hlo.Info(root.Opcode()).Traits.Has(hlo.TraitFolds) || f.NumParameters() != 2 || root.OperandInstr(0) == root.OperandInstr(1) ||
		root.OperandInstr(0).Opcode() != hlo.OpParameter || root.OperandInstr(1).Opcode() != hlo.OpParameter || root.Shape().Type() != in.Shape().Type() {
		return false
	}
	neutral, ok := emit.Identity(root.Opcode(), in.Shape().Type())
	first := in.OperandInstr(1).Literal()
	return ok && first != nil && !first.IsElided() && slices.Equal(first.Bytes(), neutral.Bytes())
}

// narrowed makes the ops of a chain again, of the values before the conversion at its end.
func narrowed(at emit.At, chain []hlo.Instruction) hlo.InstrID {
	last := chain[len(chain)-1].OperandInstr(0)
	id, t := last.ID(), last.Shape().Type()
	specs := make([]hlo.InstrSpec, 0, len(chain))
	for _, in := range chain[:len(chain)-1] {
		spec := emit.Again(in)
		spec.Shape, spec.Name, spec.Control = in.Shape().WithType(t), "", nil
		if in.Opcode() == hlo.OpReduce {
			spec.Opcode, spec.Attrs, spec.Callees = hlo.OpReshape, &hlo.ReshapeAttrs{InferredDimension: -1}, nil
			spec.Operands = spec.Operands[:1]
		}
		specs = append(specs, spec)
	}
	for _, spec := range slices.Backward(specs) {
		spec.Operands[0] = id
		id = at.Spec(spec)
	}
	return id
}
