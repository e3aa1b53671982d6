package expand

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewConvolutionGroups makes the pass convolution-group-converter.
func NewConvolutionGroups(o pass.Options) (*pass.Pass, error) {
	params := []pass.Param{
		{Name: "convert-batch-groups-only", Doc: "leave feature groups as they are; false"},
		{Name: "filter-expansion", Doc: "write convolutions with one input feature a group by a kernel with zeros; true"},
		{Name: "fp", Doc: "what it may change: strict, xla or fast; the policy of the run"},
	}
	if err := o.Known(params[0].Name, params[1].Name, params[2].Name); err != nil {
		return nil, err
	}
	policy, err := o.FP()
	if err != nil {
		return nil, err
	}
	batchOnly, err := o.Bool(params[0].Name)
	if err != nil {
		return nil, err
	}
	expand, err := o.BoolOr(params[1].Name, true)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "convolution-group-converter",
		Doc: `write convolutions of groups of features, or of the batch, without groups

	one input feature a group    a kernel with zeros for the other groups
	several                      the group is a spatial dimension, dilated so that each group meets its own part of the kernel alone
	groups of the batch          all groups with all kernels, of which those that belong together are kept

Infinities spread where they meet the zeros of the first two, so a policy has to allow that.`,
		Options: o,
		Params:  params,
		Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			for _, in := range backward(m.MustComputation(c.ID())) {
				g, ok := newGrouped(in)
				if !ok {
					continue
				}
				write, class := g.spatial, pass.NotANumber // of an infinity beside a hole
				switch {
				case g.a.BatchGroupCount > 1:
					write, class = g.batched, pass.Exact
				case batchOnly:
					continue
				case g.depthwise() && !expand:
					continue
				case g.depthwise():
					write = g.masked
				}
				if !ctx.SpendUnder(policy, "convolution", class) {
					continue
				}
				if err := emit.Replace(c, in.ID(), write(emit.Before(c, in))); err != nil {
					return err
				}
				ctx.Count("expanded", 1)
			}
			return nil
		},
	}, nil
}

// grouped is a convolution with groups.
type grouped struct {
	in   hlo.Instruction
	a    hlo.ConvolutionAttrs
	l    hlo.ConvDims
	x, k hlo.Shape
	n    int64 // groups
}

func newGrouped(in hlo.Instruction) (g grouped, ok bool) {
	if in.Opcode() != hlo.OpConvolution || !staticArrays(in) {
		return g, false
	}
	g = grouped{in: in, a: hlo.AttrsOf[hlo.ConvolutionAttrs](in), x: in.OperandInstr(0).Shape(), k: in.OperandInstr(1).Shape()}
	g.l, g.n = *g.a.DimLabels, max(g.a.FeatureGroupCount, g.a.BatchGroupCount)
	plain := g.a.Sparsity == nil && len(g.l.InputUnknown)+len(g.l.KernelUnknown)+len(g.l.OutputUnknown) == 0
	return g, plain && g.n > 1 && (g.a.FeatureGroupCount <= 1 || g.a.BatchGroupCount <= 1) && in.Shape().NumElements() > 0
}

func (g grouped) depthwise() bool { return g.x.Dim(int(g.l.InputFeature)) == g.n }

// convolution makes one without groups.
func (g grouped) convolution(at emit.At, s hlo.Shape, x, k hlo.InstrID, l *hlo.ConvDims, w *hlo.Window) hlo.InstrID {
	a := g.a
	a.FeatureGroupCount, a.BatchGroupCount, a.DimLabels, a.Window = 1, 1, l, w
	return at.Spec(hlo.InstrSpec{Opcode: hlo.OpConvolution, Shape: s, Operands: []hlo.InstrID{x, k}, Attrs: &a})
}

// ids is a number for each index along an axis, divided, over an array of dimensions.
func ids(at emit.At, axis, by int64, dims []int64) hlo.InstrID {
	list := make([]int64, dims[axis])
	for i := range list {
		list[i] = int64(i) / by
	}
	return at.Broadcast(at.Ints(hlo.S32, list...), []int64{axis}, dims...)
}

// masked gives the kernel all input features, with zeros for those of other groups.
func (g grouped) masked(at emit.At) hlo.InstrID {
	axis, out := g.l.KernelInput, g.l.KernelOutput
	dims := slices.Clone(g.k.Dimensions())
	dims[axis] = g.n
	mine := at.Compare(hlo.EQ, ids(at, axis, 1, dims), ids(at, out, dims[out]/g.n, dims))
	rest := slices.Delete(slices.Clone(g.k.Dimensions()), int(axis), int(axis)+1)
	k := at.Broadcast(at.Reshape(g.in.Operand(1), rest...), others(len(dims), []int64{axis}), dims...)
	k = at.Select(mine, k, at.Fill(at.Constant(emit.Zero(g.k.Type())), dims...))
	return g.convolution(at, g.in.Shape().WithoutLayout(), g.in.Operand(0), k, g.a.DimLabels, g.a.Window)
}

// spatial makes the n groups a spatial dimension. The input is dilated by n + 1 there and the kernel by n, so that in position p part d of the kernel meets
// group i only if i(n+1) = p + dn, which for p and d below n is i = p = d.
func (g grouped) spatial(at emit.At) hlo.InstrID {
	l := g.l
	split := func(id hlo.InstrID, dim int64) hlo.InstrID {
		dims := at.Shape(id).Dimensions()
		return at.Reshape(id, slices.Concat(dims[:dim], []int64{g.n, dims[dim] / g.n}, dims[dim+1:])...)
	}
	x, k := split(g.in.Operand(0), l.InputFeature), split(g.in.Operand(1), l.KernelOutput)
	// The group comes before the features: labels from there on move by one.
	after := func(at int64, spatial []int64, others ...*int64) []int64 {
		moved := append(slices.Clone(spatial), at)
		for i, d := range spatial {
			if d >= at {
				moved[i]++
			}
		}
		for _, d := range others {
			if *d >= at {
				*d++
			}
		}
		return moved
	}
	l.InputSpatial = after(l.InputFeature, l.InputSpatial, &l.InputBatch, &l.InputFeature)
	l.KernelSpatial = after(l.KernelOutput, l.KernelSpatial, &l.KernelInput, &l.KernelOutput)
	out := g.in.Shape().Dimensions()
	f := l.OutputFeature
	dims := slices.Concat(out[:f], []int64{g.n, out[f] / g.n}, out[f+1:])
	l.OutputSpatial = after(l.OutputFeature, l.OutputSpatial, &l.OutputBatch, &l.OutputFeature)
	w := &hlo.Window{}
	if g.a.Window != nil {
		w.Dims = slices.Clone(g.a.Window.Dims)
	}
	w.Dims = append(w.Dims, hlo.WindowDim{Size: g.n, Stride: 1, BaseDilation: g.n + 1, WindowDilation: g.n})
	return at.Reshape(g.convolution(at, hlo.MakeShape(g.in.Shape().Type(), dims...), x, k, &l, w), out...)
}

// batched convolves every group of the batch with all of the kernel, and adds up what belongs to the group of its features: one value each, and zeros that leave
// it as it is.
func (g grouped) batched(at emit.At) hlo.InstrID {
	batch, f := g.l.OutputBatch, g.l.OutputFeature
	out := g.in.Shape()
	t, dims := out.Type(), slices.Clone(out.Dimensions())
	each := dims[batch]
	dims[batch] *= g.n
	all := g.convolution(at, hlo.MakeShape(t, dims...), g.in.Operand(0), g.in.Operand(1), g.a.DimLabels, g.a.Window)
	zero := func(t hlo.PrimitiveType) hlo.InstrID {
		if t.IsFloat() {
			return at.Float(t, math.Copysign(0, -1))
		}
		return at.Constant(emit.Zero(t))
	}
	mine := at.Compare(hlo.EQ, ids(at, batch, each, dims), ids(at, f, dims[f]/g.n, dims))
	kept := at.Select(mine, all, at.Fill(zero(t), dims...))
	wide := t
	if t.IsFloat() && t.Bits() < 32 {
		wide = hlo.F32
	}
	kept = at.Convert(kept, wide)
	axis := int(batch)
	if each > 1 {
		dims = slices.Concat(dims[:batch], []int64{g.n, each}, dims[batch+1:])
		kept = at.Reshape(kept, dims...)
	}
	w := &hlo.Window{}
	for range dims {
		w.Dims = append(w.Dims, hlo.DefaultWindowDim(1))
	}
	w.Dims[axis].Size = g.n
	dims[axis] = 1
	sum := at.Spec(hlo.InstrSpec{Opcode: hlo.OpReduceWindow, Shape: hlo.MakeShape(wide, dims...), Operands: []hlo.InstrID{kept, zero(wide)},
		Callees: []hlo.CompID{emit.BinaryComputation(at.C.Editor(), hlo.OpAdd, wide)}, Attrs: &hlo.WindowAttrs{Window: w}})
	sum = at.OpOf(hlo.OpConvert, at.Shape(sum).WithType(t), nil, sum)
	return at.Reshape(sum, out.Dimensions()...)
}
