package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// CollectivePermuteCSE sends nothing twice.
var CollectivePermuteCSE = &pass.Pass{
	Name: "collective-permute-cse",
	Doc: `send a value to the same devices once

Two collective-permutes of one value between the same devices become one, and that of a slice of a value that is sent as a whole becomes a slice
of what is received.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			var permutes []hlo.Instruction
			of := map[hlo.InstrID][]int{} // value → those that send it
			for in := range c.PostOrder() {
				if in.Opcode() == hlo.OpCollectivePermute && in.NumOperands() == 1 && in.NumControlPredecessors() == 0 && in.NumControlSuccessors() == 0 {
					of[in.Operand(0)] = append(of[in.Operand(0)], len(permutes))
					permutes = append(permutes, in)
				}
			}
			gone := map[hlo.InstrID]bool{}
			for i, in := range permutes {
				near := of[in.Operand(0)]
				if sent := in.OperandInstr(0); sent.Opcode() == hlo.OpSlice {
					near = slices.Concat(near, of[sent.Operand(0)])
					slices.Sort(near)
				}
				for _, k := range near {
					o := permutes[k]
					if i == k || gone[in.ID()] || gone[o.ID()] || !alike(o, in, factsOf(m, o), factsOf(m, in)) ||
						!o.Shape().Equal(o.OperandInstr(0).Shape()) {
						continue
					}
					whole := in.Operand(0) == o.Operand(0)
					if whole && k > i || !whole && !isSliceOf(in.OperandInstr(0), o.OperandInstr(0)) || !ctx.Spend("permute") {
						continue
					}
					ce := e.Computation(c.ID())
					by := o.ID()
					if !whole {
						slice := ce.At(in.Operand(0))
						by = emit.Before(ce, in).Spec(hlo.InstrSpec{Opcode: hlo.OpSlice, Shape: in.Shape(), Attrs: slice.Attrs(), Operands: []hlo.InstrID{o.ID()}})
					}
					if err := emit.Forward(ce, in.ID(), by); err != nil {
						return m, err
					}
					gone[in.ID()] = true
					ctx.Count("permutes", 1)
				}
			}
			if len(gone) > 0 {
				emit.Reorder(e.Computation(c.ID()))
			}
		}
		return e.Freeze(), nil
	},
}

// isSliceOf reports whether a value is a block of another.
func isSliceOf(slice, of hlo.Instruction) bool {
	return slice.Opcode() == hlo.OpSlice && slice.Operand(0) == of.ID() &&
		!slices.ContainsFunc(hlo.AttrsOf[hlo.SliceAttrs](slice).Slice, func(d hlo.SliceDim) bool { return d.Stride > 1 })
}
