package motion

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// RootInstructionSinker makes the result of scheduled computations last.
var RootInstructionSinker = &pass.Pass{
	Name: "root-instruction-sinker",
	Doc: `make the root the last instruction of scheduled computations

A root that is not last gets a copy that is: the same tuple of its elements, or a bitcast of it.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		v := m.MustComputation(c.ID())
		if !v.IsScheduled() {
			return nil
		}
		order := v.Schedule()
		root := v.Root()
		if order[len(order)-1] == root.ID() || !ctx.Spend("root") {
			return nil
		}
		at := emit.End(c)
		at.Common = emit.HandedOn(root.Common())
		if root.Shape().IsTuple() {
			elems := make([]hlo.InstrID, root.Shape().NumElems())
			for i := range elems {
				elems[i] = emit.End(c).Element(root.ID(), i)
			}
			c.SetRoot(at.OpOf(hlo.OpTuple, root.Shape(), nil, elems...))
		} else {
			c.SetRoot(at.OpOf(hlo.OpBitcast, root.Shape(), nil, root.ID()))
		}
		ctx.Count("roots", 1)
		return nil
	},
}
