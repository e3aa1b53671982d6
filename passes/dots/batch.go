package dots

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// BatchDotSimplification removes batch dimensions of size 1.
var BatchDotSimplification = &pass.Pass{
	Name: "batch-dot-simplification",
	Doc: `remove the batch dimensions of dots that have size 1

The batch dimensions come first, and there is one contracting dimension: algsimp makes products of dots without one.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if !isPlain(in) || in.NumControlPredecessors() > 0 {
				continue
			}
			lhs, rhs := sidesOf(in)
			if first := iota(len(lhs.batch)); !slices.Equal(lhs.batch, first) || !slices.Equal(rhs.batch, first) || len(lhs.contracting) != 1 {
				continue
			}
			var gone [2][]int64
			for i, d := range lhs.batch {
				if in.OperandInstr(0).Shape().Dim(int(d)) == 1 {
					gone[0], gone[1] = append(gone[0], d), append(gone[1], rhs.batch[i])
				}
			}
			if len(gone[0]) == 0 || !ctx.Spend("dot") {
				continue
			}
			at, operands := emit.Before(c, in), slices.Collect(c.At(in.ID()).OperandIDs())
			for i := range operands {
				s := at.Shape(operands[i])
				operands[i] = at.Reshape(operands[i], sizes(s, slices.DeleteFunc(iota(s.Rank()), func(d int64) bool { return slices.Contains(gone[i], d) }))...)
			}
			lhs, rhs = lhs.without(gone[0]), rhs.without(gone[1])
			dot := at.OpOf(hlo.OpDot, dotShape(at, in.Shape(), operands[0], operands[1], lhs, rhs), withDims(in.Attrs(), lhs, rhs), operands...)
			if err := emit.Replace(c, in.ID(), at.Reshape(dot, in.Shape().Dimensions()...)); err != nil {
				return err
			}
			ctx.Count("dots", 1)
		}
		return nil
	},
}

// without is the roles of what is left when dimensions have gone.
func (s side) without(gone []int64) side {
	return side{hlo.AxesWithout(s.batch, gone), hlo.AxesWithout(s.contracting, gone), hlo.AxesWithout(s.free, gone)}
}
