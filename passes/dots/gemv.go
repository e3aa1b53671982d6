package dots

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const gemvDoc = `write products of a matrix and a vector as products of two matrices

Libraries have the fast code for matrices. is-layout-sensitive uses bitcasts in the place of reshapes.`

// NewGemvRewriter makes the pass gemv-rewriter.
func NewGemvRewriter(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("is-layout-sensitive"); err != nil {
		return nil, err
	}
	sensitive, err := o.Bool("is-layout-sensitive")
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "gemv-rewriter", Doc: gemvDoc, Options: o, Params: []pass.Param{{Name: "is-layout-sensitive", Doc: "with bitcasts; false"}},
		Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			for in := range m.MustComputation(c.ID()).Instructions() {
				if !isPlain(in) || in.NumControlPredecessors() > 0 {
					continue
				}
				lhs, rhs := sidesOf(in)
				if len(lhs.free) == len(rhs.free) || len(lhs.free) > 1 || len(rhs.free) > 1 || len(lhs.contracting) != 1 || sensitive && !rowMajor(in) || !ctx.Spend("vector") {
					continue
				}
				at, operands := emit.Before(c, in), slices.Collect(c.At(in.ID()).OperandIDs())
				op, attrs := hlo.OpReshape, hlo.OpAttrs(&hlo.ReshapeAttrs{InferredDimension: -1})
				if sensitive {
					op, attrs = hlo.OpBitcast, nil
				}
				vector, dims := 1, append(in.Shape().Dimensions(), 1)
				if len(lhs.free) == 0 {
					vector = 0
					dims = slices.Insert(in.Shape().Dimensions(), len(lhs.batch), 1)
				}
				s := at.Shape(operands[vector])
				operands[vector] = at.OpOf(op, hlo.MakeShape(s.Type(), append(s.Dimensions(), 1)...), attrs, operands[vector])
				dot := at.OpOf(hlo.OpDot, hlo.MakeShape(in.Shape().Type(), dims...), in.Attrs(), operands...)
				if err := emit.Replace(c, in.ID(), at.OpOf(op, in.Shape(), attrs, dot)); err != nil {
					return err
				}
				ctx.Count("dots", 1)
			}
			return nil
		}}, nil
}

// rowMajor reports whether a dot and its operands lie in memory in the order of their dimensions.
func rowMajor(in hlo.Instruction) bool {
	ok := func(s hlo.Shape) bool {
		l, has := s.Layout()
		return !has || l.IsRowMajor()
	}
	return ok(in.Shape()) && ok(in.OperandInstr(0).Shape()) && ok(in.OperandInstr(1).Shape())
}
