package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// TransformationReorder moves reshapes to where they are cheap.
var TransformationReorder = &pass.Pass{
	Name: "collective-transformation-reorderer",
	Doc: `reshape before gathering, where there is less, and after reducing, where the reduction is shared

	reshape(all-gather(x))  → all-gather(reshape(x))    if the gathered dimension stays in front of what it is merged with or split into
	all-reduce(reshape(x))  → reshape(all-reduce(x))`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			for in := range c.PostOrder() {
				var err error
				ce := e.Computation(c.ID())
				switch {
				case !ce.Has(in.ID()) || in.NumControlPredecessors() > 0 || in.NumOperands() != 1:
				case in.Opcode() == hlo.OpReshape:
					err = reshapeFirst(ctx, m, ce, in.ID())
				case in.Opcode() == hlo.OpAllReduce && in.Shape().IsArray():
					err = reshapeLast(ctx, ce, in.ID())
				}
				if err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	},
}

// reshapeFirst reshapes what is gathered, if in reshapes what has been.
func reshapeFirst(ctx *pass.Context, m hlo.Module, c hlo.CompEdit, id hlo.InstrID) error {
	in := c.At(id)
	gather := in.OperandInstr(0)
	if gather.Opcode() != hlo.OpAllGather || gather.NumOperands() != 1 || !gather.Shape().IsStatic() || gather.NumControlPredecessors() > 0 {
		return nil
	}
	if u, ok := soleUser(gather); !ok || u.ID() != id {
		return nil
	}
	dim := int(factsOf(m, gather).dims[0])
	n := gather.Shape().Dim(dim) / gather.OperandInstr(0).Shape().Dim(dim)
	to, ok := frontOfGroup(gather.Shape().Dimensions(), in.Shape().Dimensions(), dim, n)
	if !ok || !ctx.Spend("reshape") {
		return nil
	}
	at, spec, gone := emit.Before(c, in), emit.Again(gather), gather.ID()
	dims := in.Shape().Dimensions()
	dims[to] /= n
	attrs := *gather.Attrs().(*hlo.AllGatherAttrs)
	attrs.Dimensions = []int64{int64(to)}
	spec.Attrs, spec.Shape = &attrs, in.Shape()
	spec.Operands[0] = at.Reshape(spec.Operands[0], dims...)
	ctx.Count("gathers", 1)
	if err := c.ReplaceInstruction(id, at.Spec(spec)); err != nil {
		return err
	}
	return c.Remove(gone)
}

// frontOfGroup finds the dimension of a reshaped array that the gathered dimension becomes: the first of those that share its elements. It
// must be the first of its own group, too, and its new size a multiple of the number of parts.
func frontOfGroup(from, to []int64, dim int, parts int64) (int, bool) {
	before := int64(1)
	for _, d := range from[:dim] {
		before *= d
	}
	n := int64(1)
	for i, d := range to {
		if n == before && d != 1 {
			return i, d%parts == 0
		}
		n *= d
		if n > before {
			return 0, false
		}
	}
	return 0, false
}

// reshapeLast reduces what is reshaped, if in reduces what has been.
func reshapeLast(ctx *pass.Context, c hlo.CompEdit, id hlo.InstrID) error {
	in := c.At(id)
	var chain []hlo.InstrSpec
	var ids []hlo.InstrID
	v, user := in.OperandInstr(0), id
	for v.Opcode() == hlo.OpReshape && v.Shape().IsStatic() && v.NumControlPredecessors() == 0 {
		if u, ok := soleUser(v); !ok || u.ID() != user {
			break
		}
		chain, ids = append(chain, emit.Again(v)), append(ids, v.ID())
		user, v = v.ID(), v.OperandInstr(0)
	}
	if len(chain) == 0 || !ctx.Spend("reshape") {
		return nil
	}
	at, spec := emit.Before(c, in), emit.Again(in)
	spec.Operands, spec.Shape = []hlo.InstrID{v.ID()}, v.Shape()
	x := at.Spec(spec)
	slices.Reverse(chain)
	for _, s := range chain {
		x = at.Spec(emit.With(s, x))
	}
	ctx.Count("reductions", 1)
	if err := c.ReplaceInstruction(id, x); err != nil {
		return err
	}
	for _, gone := range ids {
		if err := c.Remove(gone); err != nil {
			return err
		}
	}
	return nil
}

// AllGatherBroadcastReorder gathers before it repeats.
var AllGatherBroadcastReorder = &pass.Pass{
	Name: "all-gather-bcast-reorder",
	Doc: `all-gather(broadcast(x)) → broadcast(all-gather(x))

Along a dimension that the broadcast has made, the values of the devices are gathered as they are, and each is repeated.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			for in := range c.PostOrder() {
				if in.Opcode() != hlo.OpAllGather || in.NumOperands() != 1 || in.NumControlPredecessors() > 0 || !in.Shape().IsStatic() {
					continue
				}
				ce := e.Computation(c.ID())
				now := ce.At(in.ID())
				b := now.OperandInstr(0)
				if b.Opcode() != hlo.OpBroadcast || b.UserCount() != 1 || b.OperandInstr(0).Shape().NumElements() == b.Shape().NumElements() || !ctx.Spend("broadcast") {
					continue
				}
				at, spec, axes := emit.Before(ce, in), emit.Again(now), hlo.AttrsOf[hlo.BroadcastAttrs](b).Dimensions
				attrs := *in.Attrs().(*hlo.AllGatherAttrs)
				dim := attrs.Dimensions[0]
				x, s, repeated := b.Operand(0), b.OperandInstr(0).Shape(), b.Shape()
				n := in.Shape().Dim(int(dim)) / repeated.Dim(int(dim))
				gather := func(x hlo.InstrID, axis int64) hlo.InstrID {
					dims := at.Shape(x).Dimensions()
					dims[axis] *= n
					attrs.Dimensions = []int64{axis}
					spec.Attrs, spec.Operands, spec.Shape = &attrs, []hlo.InstrID{x}, hlo.MakeShape(s.Type(), dims...).WithDefaultLayout()
					return at.Spec(spec)
				}
				if k := slices.Index(axes, dim); k >= 0 {
					x = at.Broadcast(gather(x, int64(k)), axes, in.Shape().Dimensions()...)
				} else {
					x = gather(at.Reshape(x, append([]int64{1}, s.Dimensions()...)...), 0)
					dims := slices.Insert(repeated.Dimensions(), int(dim), n)
					to := []int64{dim}
					for _, a := range axes {
						if a >= dim {
							a++
						}
						to = append(to, a)
					}
					x = at.Reshape(at.Broadcast(x, to, dims...), in.Shape().Dimensions()...)
				}
				if err := emit.Replace(ce, in.ID(), x); err != nil {
					return m, err
				}
				ctx.Count("all-gathers", 1)
			}
		}
		return e.Freeze(), nil
	},
}
