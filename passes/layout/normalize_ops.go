package layout

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// writers say how to write an op for normal forms: nil if it cannot be, or the act of doing so.
var writers = map[hlo.Opcode]func(*writing) func() normalized{
	hlo.OpBitcastConvert:     bitcastConvert,
	hlo.OpBroadcast:          broadcast,
	hlo.OpConcatenate:        concatenate,
	hlo.OpConstant:           constant,
	hlo.OpConvolution:        convolution,
	hlo.OpCopy:               copied,
	hlo.OpDynamicSlice:       dynamicSlice,
	hlo.OpDynamicUpdateSlice: dynamicUpdateSlice,
	hlo.OpIota:               iota,
	hlo.OpPad:                pad,
	hlo.OpReduce:             reduce,
	hlo.OpReduceWindow:       reduceWindow,
	hlo.OpReshape:            reshape,
	hlo.OpReverse:            reverse,
	hlo.OpSlice:              slice,
	hlo.OpSort:               sort,
	hlo.OpTranspose:          transpose,
}

func isElementwise(in hlo.Instruction) bool {
	t := hlo.Info(in.Opcode()).Traits
	return t.Has(hlo.TraitElementwise) && !t.Has(hlo.TraitRandom) && !t.Has(hlo.TraitSideEffect) && !t.Has(hlo.TraitCollective) && in.NumCallees() == 0 && in.NumOperands() > 0
}

func elementwise(x *writing) func() normalized {
	o, ok := x.same(0, len(x.operands))
	if !ok || len(o) != x.in.Shape.Rank() {
		return nil
	}
	return func() normalized { return x.op(o, x.in.Attrs, x.all()...) }
}

// all is the normal forms of all operands.
func (x *writing) all() (ids []hlo.InstrID) {
	for i := range x.in.Operands {
		ids = append(ids, x.operand(i))
	}
	return ids
}

func broadcast(x *writing) func() normalized {
	a := x.in.Attrs.(*hlo.BroadcastAttrs)
	return func() normalized {
		to, dims := x.own.places(), make([]int64, len(a.Dimensions))
		for i, axis := range x.orders[0] {
			dims[i] = to[a.Dimensions[axis]]
		}
		return x.op(x.own, &hlo.BroadcastAttrs{Dimensions: dims}, x.operand(0))
	}
}

func transpose(x *writing) func() normalized {
	perm := x.in.Attrs.(*hlo.DimensionsAttrs).Dimensions
	return func() normalized { return x.moved(perm) }
}

func copied(x *writing) func() normalized {
	if slices.Equal(x.orders[0], x.own) {
		return func() normalized { return x.op(x.own, x.in.Attrs, x.operand(0)) }
	}
	to, _ := x.in.Shape.WithDefaultLayout().Layout()
	if l, ok := x.operands[0].Layout(); !ok || l.MemorySpace != to.MemorySpace || x.operands[0].Type() != x.in.Shape.Type() {
		return nil
	}
	identity := slices.Sorted(slices.Values(x.own))
	return func() normalized {
		// The transpose is a new instruction and takes no attributes of a copy.
		return x.moved(identity)
	}
}

// moved exchanges the axes of the operand: axis i of the result is axis perm[i] of it.
func (x *writing) moved(perm []int64) normalized {
	from, now := x.orders[0].places(), make([]int64, len(x.own))
	for i, axis := range x.own {
		now[i] = from[perm[axis]]
	}
	v, s := x.operand(0), normal(x.in.Shape, x.own)
	if sameBytes(now, slices.Sorted(slices.Values(now)), x.at.Shape(v).Dimensions()) {
		return normalized{x.n.bitcast(x.at, v, s), x.own}
	}
	return normalized{x.at.OpOf(hlo.OpTranspose, s, &hlo.DimensionsAttrs{Dimensions: now}, v), x.own}
}

func reshape(x *writing) func() normalized {
	if !reshapesInPlace(x.operands[0].Dimensions(), x.orders[0], x.in.Shape.Dimensions(), x.own) {
		return nil
	}
	return func() normalized {
		v, s := x.operand(0), normal(x.in.Shape, x.own)
		if x.at.Shape(v).Equal(s) {
			return normalized{v, x.own}
		}
		return normalized{x.at.OpOf(hlo.OpReshape, s, &hlo.ReshapeAttrs{InferredDimension: -1}, v), x.own}
	}
}

func concatenate(x *writing) func() normalized {
	o, ok := x.same(0, len(x.operands))
	if !ok {
		return nil
	}
	axis := x.in.Attrs.(*hlo.AxisAttrs).Dimensions[0]
	return func() normalized {
		return x.op(o, &hlo.AxisAttrs{Dimensions: []int64{o.places()[axis]}}, x.all()...)
	}
}

func reverse(x *writing) func() normalized {
	o, dims := x.orders[0], x.in.Attrs.(*hlo.DimensionsAttrs).Dimensions
	return func() normalized {
		return x.op(o, &hlo.DimensionsAttrs{Dimensions: placed(o, dims)}, x.operand(0))
	}
}

// placed is where some axes are in memory, sorted.
func placed(o order, axes []int64) []int64 {
	to, out := o.places(), make([]int64, len(axes))
	for i, axis := range axes {
		out[i] = to[axis]
	}
	slices.Sort(out)
	return out
}

func pad(x *writing) func() normalized {
	o, a := x.orders[0], x.in.Attrs.(*hlo.PadAttrs)
	return func() normalized {
		padding := make([]hlo.PaddingDim, len(o))
		for i, axis := range o {
			padding[i] = a.Padding[axis]
		}
		return x.op(o, &hlo.PadAttrs{Padding: padding}, x.all()...)
	}
}

func slice(x *writing) func() normalized {
	o, a := x.orders[0], x.in.Attrs.(*hlo.SliceAttrs)
	return func() normalized {
		ranges := make([]hlo.SliceDim, len(o))
		for i, axis := range o {
			ranges[i] = a.Slice[axis]
		}
		return x.op(o, &hlo.SliceAttrs{Slice: ranges}, x.operand(0))
	}
}

// indices is the scalar indices of a dynamic slice in an order; false if they are a vector.
func (x *writing) indices(first int, o order) ([]hlo.InstrID, bool) {
	if len(x.in.Operands) != first+len(o) || slices.ContainsFunc(x.operands[first:], func(s hlo.Shape) bool { return s.Rank() != 0 }) {
		return nil, false
	}
	ids := make([]hlo.InstrID, len(o))
	for i, axis := range o {
		ids[i] = x.in.Operands[first+int(axis)]
	}
	return ids, true
}

func dynamicSlice(x *writing) func() normalized {
	o, a := x.orders[0], x.in.Attrs.(*hlo.DynamicSliceAttrs)
	indices, ok := x.indices(1, o)
	if !ok {
		return nil
	}
	return func() normalized {
		return x.op(o, &hlo.DynamicSliceAttrs{Sizes: o.of(a.Sizes)}, append([]hlo.InstrID{x.operand(0)}, indices...)...)
	}
}

func dynamicUpdateSlice(x *writing) func() normalized {
	o, ok := x.same(0, 2)
	if !ok || x.operands[1].Rank() != x.operands[0].Rank() {
		return nil
	}
	indices, ok := x.indices(2, o)
	if !ok {
		return nil
	}
	return func() normalized {
		return x.op(o, x.in.Attrs, append([]hlo.InstrID{x.operand(0), x.operand(1)}, indices...)...)
	}
}

func bitcastConvert(x *writing) func() normalized {
	from := x.orders[0]
	rank, to := len(from), x.in.Shape.Rank()
	switch {
	case to == rank:
		return elementwise(x)
	case to == rank+1:
		return func() normalized { return x.op(append(slices.Clone(from), int64(rank)), x.in.Attrs, x.operand(0)) }
	case from[rank-1] == int64(rank-1):
		return func() normalized { return x.op(slices.Clone(from[:rank-1]), x.in.Attrs, x.operand(0)) }
	}
	return nil
}

func constant(x *writing) func() normalized {
	l := x.in.Attrs.(*hlo.ConstantAttrs).Literal
	if l == nil || l.IsElided() || l.Shape().NumElements() == 0 {
		return nil
	}
	n := int(l.Shape().NumElements())
	if len(l.Bytes())%n != 0 {
		return nil // elements share bytes
	}
	s := normal(x.in.Shape, x.own)
	dims, width := l.Shape().Dimensions(), len(l.Bytes())/n
	strides := make([]int, len(dims))
	for d, stride := len(dims)-1, width; d >= 0; d-- {
		strides[d] = stride
		stride *= int(dims[d])
	}
	return func() normalized {
		data, index := make([]byte, 0, n*width), make([]int64, len(dims))
		for from := 0; len(data) < n*width; {
			data = append(data, l.Bytes()[from:from+width]...)
			for d := len(dims) - 1; d >= 0; d-- {
				axis := x.own[d]
				from += strides[axis]
				if index[axis]++; index[axis] < dims[axis] {
					break
				}
				from -= strides[axis] * int(dims[axis])
				index[axis] = 0
			}
		}
		moved, err := hlo.NewLiteral(s, data)
		if err != nil {
			panic(err) // there are as many bytes as before
		}
		return x.op(x.own, &hlo.ConstantAttrs{Literal: moved})
	}
}

func iota(x *writing) func() normalized {
	axis := x.in.Attrs.(*hlo.IotaAttrs).Dimension
	return func() normalized { return x.op(x.own, &hlo.IotaAttrs{Dimension: x.own.places()[axis]}) }
}

func sort(x *writing) func() normalized {
	if len(x.operands) != 1 {
		return nil
	}
	o, a := x.orders[0], *x.in.Attrs.(*hlo.SortAttrs)
	a.Dimensions = []int64{o.places()[a.Dimensions[0]]}
	return func() normalized { return x.op(o, &a, x.operand(0)) }
}

// reduce leaves the axes that stay in the order that they have in the operand.
func reduce(x *writing) func() normalized {
	dims := x.in.Attrs.(*hlo.DimensionsAttrs).Dimensions
	if len(x.operands) != 2 {
		return nil
	}
	stay := order(hlo.AxesWithout(x.orders[0], dims))
	// Elements are combined in row-major order of the reduced axes: in another order, sums may round otherwise.
	if to := x.orders[0].places(); len(dims) > 1 {
		for i, d := range slices.Sorted(slices.Values(dims)) {
			if i > 0 && to[d] < to[slices.Sorted(slices.Values(dims))[i-1]] {
				x.reorders = true
			}
		}
	}
	return func() normalized {
		return x.op(stay, &hlo.DimensionsAttrs{Dimensions: placed(x.orders[0], dims)}, x.all()...)
	}
}

func reduceWindow(x *writing) func() normalized {
	a, o := *x.in.Attrs.(*hlo.WindowAttrs), x.orders[0]
	if len(x.operands) != 2 || a.Window == nil {
		return nil
	}
	w, last := &hlo.Window{}, int64(-1)
	for _, axis := range o {
		d := a.Window.Dims[axis]
		if d.Size > 1 { // as for reduce
			if axis < last {
				x.reorders = true
			}
			last = axis
		}
		w.Dims = append(w.Dims, d)
	}
	a.Window = w
	return func() normalized { return x.op(o, &a, x.all()...) }
}

func convolution(x *writing) func() normalized {
	a := *x.in.Attrs.(*hlo.ConvolutionAttrs)
	l := *a.DimLabels
	if len(l.InputUnknown)+len(l.KernelUnknown)+len(l.OutputUnknown) > 0 || a.Sparsity != nil {
		return nil
	}
	renumber := func(o order, spatial *[]int64, others ...*int64) {
		to, moved := o.places(), slices.Clone(*spatial)
		for i, d := range moved {
			moved[i] = to[d]
		}
		*spatial = moved
		for _, d := range others {
			*d = to[*d]
		}
	}
	renumber(x.orders[0], &l.InputSpatial, &l.InputBatch, &l.InputFeature)
	renumber(x.orders[1], &l.KernelSpatial, &l.KernelInput, &l.KernelOutput)
	renumber(x.own, &l.OutputSpatial, &l.OutputBatch, &l.OutputFeature)
	a.DimLabels = &l
	return func() normalized { return x.op(x.own, &a, x.all()...) }
}
