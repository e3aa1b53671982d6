package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewAllToAllDecomposer makes the pass all-to-all-decomposer.
func NewAllToAllDecomposer(o pass.Options) (*pass.Pass, error) {
	params := []pass.Param{
		{Name: "decompose-to-tuple", Doc: "exchange a tuple of pieces: the inverse of what a backend with all-to-all of arrays asks for; true"},
		{Name: "min-array-rank", Doc: "leave arrays of fewer dimensions; 0"},
	}
	if err := o.Known(params[0].Name, params[1].Name); err != nil {
		return nil, err
	}
	tuple, err := o.BoolOr(params[0].Name, true)
	if err != nil {
		return nil, err
	}
	rank, err := o.Int(params[1].Name, 0)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "all-to-all-decomposer",
		Doc: `all-to-all of an array → all-to-all of its pieces, and a concatenation

Without decompose-to-tuple the pieces become a dimension of their own, in front, along which the array is exchanged.`,
		Options: o,
		Params:  params,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			for c := range m.Computations() {
				for in := range c.Instructions() {
					if in.Opcode() != hlo.OpAllToAll || in.NumOperands() != 1 || !in.Shape().IsArray() || !in.Shape().IsStatic() || in.Shape().Rank() < rank {
						continue
					}
					f := factsOf(m, in)
					lists, ok := f.lists()
					pieces := devicesOf(m).replicas
					if f.channel.Set {
						pieces = devicesOf(m).partitions
					}
					if ok && len(lists) > 0 {
						pieces = int64(len(lists[0]))
					}
					dim := f.dims[0]
					if pieces < 1 || in.Shape().Dim(int(dim))%pieces != 0 || !tuple && dim == 0 && in.Shape().Dim(0) == pieces || !ctx.Spend("all-to-all") {
						continue
					}
					ce := e.Computation(c.ID())
					at, spec := emit.Before(ce, ce.At(in.ID())), emit.Again(ce.At(in.ID()))
					a := hlo.AttrsOf[hlo.AllToAllAttrs](in)
					spec.Name, spec.Shape, spec.Common = "", hlo.Shape{}, unsharded(spec.Common)
					write := exchangedInFront
					if tuple {
						write = exchangedApart
					}
					if err := emit.Replace(ce, in.ID(), write(at, spec, a, dim, pieces)); err != nil {
						return m, err
					}
					ctx.Count("all-to-alls", 1)
				}
			}
			return e.Freeze(), nil
		},
	}, nil
}

// unsharded is all but the sharding, which stays with the value as a whole.
func unsharded(c *hlo.Common) *hlo.Common {
	if c == nil || c.Sharding == nil {
		return c
	}
	rest := *c
	rest.Sharding = nil
	return &rest
}

// exchangedApart exchanges the pieces as a tuple.
func exchangedApart(at emit.At, spec hlo.InstrSpec, a hlo.AllToAllAttrs, dim, pieces int64) hlo.InstrID {
	x := spec.Operands[0]
	size := at.Shape(x).Dim(int(dim)) / pieces
	var parts []hlo.InstrID
	for i := range pieces {
		parts = append(parts, at.SliceAxis(x, int(dim), i*size, (i+1)*size))
	}
	a.Dimensions = nil
	shapes := slices.Repeat([]hlo.Shape{at.Shape(parts[0])}, len(parts))
	spec.Attrs, spec.Operands, spec.Shape = &a, parts, hlo.MakeTuple(shapes...)
	return at.Concatenate(dim, emit.Elements(at, at.Spec(spec))...)
}

// exchangedInFront exchanges along a first dimension of as many pieces as there are devices.
func exchangedInFront(at emit.At, spec hlo.InstrSpec, a hlo.AllToAllAttrs, dim, pieces int64) hlo.InstrID {
	x := spec.Operands[0]
	whole := at.Shape(x).Dimensions()
	apart := slices.Insert(slices.Clone(whole), int(dim), pieces)
	apart[dim+1] /= pieces
	front := []int64{dim}
	back := make([]int64, len(apart))
	for d := range int64(len(apart)) {
		if d != dim {
			front = append(front, d)
		}
	}
	for i, d := range front {
		back[d] = int64(i)
	}
	a.Dimensions = []int64{0}
	x = at.Transpose(at.Reshape(x, apart...), front...)
	spec.Attrs, spec.Operands, spec.Shape = &a, []hlo.InstrID{x}, at.Shape(x)
	return at.Reshape(at.Transpose(at.Spec(spec), back...), whole...)
}
