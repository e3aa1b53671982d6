package motion

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// BroadcastCanonicalizer gives broadcasts ascending dimensions.
var BroadcastCanonicalizer = &pass.Pass{
	Name: "broadcast-canonicalizer",
	Doc:  "broadcast that changes the order of dimensions → transpose of the operand, and a broadcast that keeps it",
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if in.Opcode() != hlo.OpBroadcast || !in.Shape().IsStatic() {
				continue
			}
			axes := hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions
			if slices.IsSorted(axes) || !ctx.Spend("broadcast") {
				continue
			}
			sorted := slices.Clone(axes)
			slices.Sort(sorted)
			perm := make([]int64, len(axes)) // of the operand
			for i, a := range sorted {
				perm[i] = int64(slices.Index(axes, a))
			}
			at := emit.Before(c, in)
			if err := emit.Replace(c, in.ID(), at.Broadcast(at.Transpose(c.At(in.ID()).Operand(0), perm...), sorted, in.Shape().Dimensions()...)); err != nil {
				return err
			}
			ctx.Count("broadcasts", 1)
		}
		return nil
	},
}
