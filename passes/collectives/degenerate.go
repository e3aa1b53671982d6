package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AllGatherRemoveDegenerateDims gathers arrays without dimensions of size 1.
var AllGatherRemoveDegenerateDims = &pass.Pass{
	Name: "all-gather-remove-degenerate-dims",
	Doc: `gather arrays without their dimensions of size 1

The dimension that is gathered stays. Of those before it only the ones go that have size 1 in all operands, since they all are gathered along the
same dimension; of those behind it each operand loses its own.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if in.Opcode() != hlo.OpAllGather || in.NumOperands() == 0 || in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 {
				continue
			}
			if err := undegenerate(ctx, c, in); err != nil {
				return err
			}
		}
		return nil
	},
}

func undegenerate(ctx *pass.Context, c hlo.CompEdit, in hlo.Instruction) error {
	attrs := *in.Attrs().(*hlo.AllGatherAttrs)
	dim := int(attrs.Dimensions[0])
	kept := make([][]int, in.NumOperands()) // dimensions by operand
	changed := false
	for i := range kept {
		s := in.OperandInstr(i).Shape()
		if !s.IsStatic() || !s.IsArray() {
			return nil
		}
		for d := range s.Rank() {
			drop := d != dim && s.Dim(d) == 1
			for k := range in.NumOperands() {
				drop = drop && (d > dim || in.OperandInstr(k).Shape().Dim(d) == 1)
			}
			if drop {
				changed = true
			} else {
				kept[i] = append(kept[i], d)
			}
		}
	}
	if !changed || !ctx.Spend("reshape") {
		return nil
	}
	only := func(s hlo.Shape, dims []int) []int64 {
		out := []int64{}
		for _, d := range dims {
			out = append(out, s.Dim(d))
		}
		return out
	}
	at := emit.Before(c, in)
	spec := emit.Again(c.At(in.ID()))
	results := []hlo.Shape{in.Shape()}
	if in.Shape().IsTuple() {
		results = in.Shape().Elems()
	}
	var shapes []hlo.Shape
	for i := range kept {
		o := spec.Operands[i]
		spec.Operands[i] = at.Reshape(o, only(at.Shape(o), kept[i])...)
		shapes = append(shapes, hlo.MakeShape(results[i].Type(), only(results[i], kept[i])...).WithDefaultLayout())
	}
	attrs.Dimensions = []int64{int64(slices.Index(kept[0], dim))}
	spec.Attrs, spec.Shape = &attrs, shapes[0]
	if !in.Shape().IsTuple() {
		return emit.Replace(c, in.ID(), at.Reshape(at.Spec(spec), results[0].Dimensions()...))
	}
	spec.Shape = hlo.MakeTuple(shapes...)
	all := at.Spec(spec)
	var parts []hlo.InstrID
	for i, r := range results {
		part := at.Reshape(at.Element(all, i), r.Dimensions()...)
		if !c.At(part).Shape().Equal(r) {
			c.Instr(part).SetShape(r)
		}
		parts = append(parts, part)
	}
	return emit.Forward(c, in.ID(), at.OpOf(hlo.OpTuple, in.Shape(), nil, parts...))
}
