package dots

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Decomposer makes dots products of matrices.
var Decomposer = &pass.Pass{
	Name: "dot-decomposer",
	Doc: `bring dots into the form [batch, m, k] · [batch, k, n]

Those stay that have one contracting dimension, at most one other, and their batch dimensions in front.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if !isPlain(in) || in.NumControlPredecessors() > 0 {
				continue
			}
			lhs, rhs := sidesOf(in)
			if isMatrixProduct(lhs) && isMatrixProduct(rhs) || !ctx.Spend("dot") {
				continue
			}
			at, operands := emit.Before(c, in), slices.Collect(c.At(in.ID()).OperandIDs())
			xs, ys := at.Shape(operands[0]), at.Shape(operands[1])
			batch := sizes(xs, lhs.batch)
			k, rows, columns := product(xs, lhs.contracting), product(xs, lhs.free), product(ys, rhs.free)
			form := func(x hlo.InstrID, perm []int64, dims ...int64) hlo.InstrID {
				s := hlo.MakeShape(at.Shape(x).Type(), dims...)
				return at.OpOf(hlo.OpReshape, s, &hlo.ReshapeAttrs{InferredDimension: -1}, at.Transpose(x, perm...))
			}
			n := len(batch)
			var l, r []int64
			l, r = append(l, batch...), append(r, batch...)
			to := hlo.DotAttrs{Precision: in.Attrs().(*hlo.DotAttrs).Precision, Algorithm: in.Attrs().(*hlo.DotAttrs).Algorithm}
			to.LHSBatch, to.RHSBatch = iota(n), iota(n)
			if n == 0 {
				to.LHSBatch, to.RHSBatch = nil, nil
			}
			dims := slices.Clone(batch)
			if len(lhs.free) > 0 {
				l, dims = append(l, rows), append(dims, rows)
			}
			to.LHSContracting, to.RHSContracting = []int64{int64(len(l))}, []int64{int64(n)}
			l, r = append(l, k), append(r, k)
			if len(rhs.free) > 0 {
				r, dims = append(r, columns), append(dims, columns)
			}
			x := form(operands[0], slices.Concat(lhs.batch, lhs.free, lhs.contracting), l...)
			y := form(operands[1], slices.Concat(rhs.batch, rhs.contracting, rhs.free), r...)
			dot := at.OpOf(hlo.OpDot, hlo.MakeShape(in.Shape().Type(), dims...), &to, x, y)
			result := at.OpOf(hlo.OpReshape, in.Shape(), &hlo.ReshapeAttrs{InferredDimension: -1}, dot)
			if err := emit.Replace(c, in.ID(), result); err != nil {
				return err
			}
			ctx.Count("dots", 1)
		}
		return nil
	},
}

// isMatrixProduct reports whether an operand has the wanted form.
func isMatrixProduct(s side) bool {
	return len(s.contracting) == 1 && len(s.free) <= 1 && slices.Equal(s.batch, iota(len(s.batch)))
}
