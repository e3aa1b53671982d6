package motion

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// SliceSinker computes on whole arrays rather than on their parts.
var SliceSinker = &pass.Pass{
	Name: "slice-sinker",
	Doc: `op(slice(x), slice(y)), for several parts → slices of op(x, y)

It is done for elementwise ops whose operands are all the same part of arrays of one shape, where the parts together have at least as many elements as the
arrays: nothing is then computed that was not before.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		v := m.MustComputation(c.ID())
		groups := map[string][]hlo.Instruction{}
		var order []string
		for in := range v.PostOrder() {
			if !takesParts(in) {
				continue
			}
			key := fmt.Sprint(in.Opcode(), in.Shape().Type())
			for o := range in.Operands() {
				key += fmt.Sprint(" ", o.Operand(0))
			}
			same := func(o hlo.Instruction) bool { return hlo.EqualAttrs(o.Attrs(), in.Attrs()) }
			for n := 0; ; n++ { // ops that differ in attributes alone get keys of their own
				k := fmt.Sprint(key, "#", n)
				if g := groups[k]; g == nil {
					order = append(order, k)
				} else if !same(g[0]) {
					continue
				}
				groups[k] = append(groups[k], in)
				break
			}
		}
		for _, k := range order {
			if err := sinkGroup(ctx, c, groups[k]); err != nil {
				return err
			}
		}
		return nil
	},
}

// takesParts reports whether an elementwise op has the same part of arrays of one shape for all operands.
func takesParts(in hlo.Instruction) bool {
	if !in.IsElementwise() || in.NumOperands() == 0 || in.NumCallees() > 0 || !in.Shape().IsStatic() ||
		in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 {
		return false
	}
	first := in.OperandInstr(0)
	for o := range in.Operands() {
		if o.Opcode() != hlo.OpSlice || !hlo.EqualAttrs(o.Attrs(), first.Attrs()) || !o.OperandInstr(0).Shape().IsStatic() ||
			!slices.Equal(o.OperandInstr(0).Shape().Dimensions(), first.OperandInstr(0).Shape().Dimensions()) {
			return false
		}
	}
	return true
}

func sinkGroup(ctx *pass.Context, c hlo.CompEdit, group []hlo.Instruction) error {
	source := group[0].OperandInstr(0).OperandInstr(0).Shape()
	var n int64
	for _, in := range group {
		n += in.Shape().NumElements()
	}
	if n < source.NumElements() || !ctx.Spend("sink") {
		return nil
	}
	first := group[0]
	spec := emit.Again(first)
	spec.Control = nil
	for i := range spec.Operands {
		spec.Operands[i] = c.At(c.At(first.ID()).Operand(i)).Operand(0) // as it is now: the array may be what another group was replaced by
	}
	spec.Shape = source.WithType(first.Shape().Type())
	whole := emit.Before(c, first).Spec(spec)
	for _, in := range group {
		part := emit.Before(c, in).OpOf(hlo.OpSlice, in.Shape(), in.OperandInstr(0).Attrs(), whole)
		if err := emit.Replace(c, in.ID(), part); err != nil {
			return err
		}
	}
	ctx.Count("ops", int64(len(group)))
	emit.Reorder(c)
	return nil
}
