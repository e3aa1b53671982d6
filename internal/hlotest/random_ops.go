package hlotest

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Ops with windows, indices, several results, and those of several devices, for [Wide].

var wideTypes = append([]hlo.PrimitiveType{hlo.BF16, hlo.F16, hlo.S8, hlo.S16, hlo.S64, hlo.U16, hlo.U32, hlo.U64, hlo.C64}, randomTypes...)

// rareStep adds what neither step nor wideStep make.
func (g *generator) rareStep(x hlo.Value) {
	s := x.Shape()
	if s.NumElements() == 0 {
		return
	}
	matrixLike := s.Rank() > 0
	switch k := g.r.IntN(14); {
	case k == 0 && matrixLike:
		g.gather(x)
	case k == 1 && matrixLike:
		g.scatter(x)
	case k == 2 && matrixLike && s.Type() != hlo.PRED:
		g.reduceTwo(x)
	case k == 3 && matrixLike && isOrdered(s.Type()):
		g.pool(x)
	case k == 4 && s.Type() == hlo.F32:
		g.convolve(x)
	case k == 5 && s.Type() != hlo.PRED:
		g.mapped(x)
	case k == 6:
		g.reinterpret(x)
	case k == 7:
		g.collective(x)
	case k == 8:
		g.inFlight(x)
	case k == 9 && isOrdered(s.Type()):
		g.callingLoop(x)
	case k == 10 && s.Rank() == 3 && s.Type().IsFloat():
		g.keep(g.b.Dot(x, g.like(s), hlo.DotAttrs{LHSBatch: []int64{0}, RHSBatch: []int64{0}, LHSContracting: []int64{2}, RHSContracting: []int64{2}}))
	case k == 11 && matrixLike && isOrdered(s.Type()):
		g.sortPairs(x)
	case k == 12:
		g.nested(x)
	case k == 13 && s.Type() == hlo.F32:
		g.normalize(x)
	}
}

// isOrdered reports whether numbers of type t have an order, and sums.
func isOrdered(t hlo.PrimitiveType) bool { return t.IsFloat() || t.IsInteger() }

// folder is a computation of two scalars: their sum, or the second of them.
func (g *generator) folder(t hlo.PrimitiveType) hlo.CompID {
	if t != hlo.PRED && g.r.IntN(3) > 0 {
		return g.adder(t)
	}
	return g.b.Computation("second", func(b *hlo.Builder) hlo.Value {
		b.Parameter("x", hlo.MakeShape(t))
		return b.Parameter("y", hlo.MakeShape(t))
	})
}

// axesFrom lists the axes from first to below last.
func axesFrom(first, last int) []int64 {
	var l []int64
	for i := first; i < last; i++ {
		l = append(l, int64(i))
	}
	return l
}

// gather takes three rows of x.
func (g *generator) gather(x hlo.Value) {
	s := x.Shape()
	sizes := s.Dimensions()
	sizes[0] = 1
	g.keep(g.b.Op(hlo.OpGather, &hlo.GatherAttrs{
		OffsetDims: axesFrom(1, s.Rank()), CollapsedSliceDims: []int64{0}, StartIndexMap: []int64{0}, IndexVectorDim: 1, SliceSizes: sizes,
	}, x, g.like(hlo.MakeShape(hlo.S32, 3))))
}

// scatter puts two rows into x, or adds them.
func (g *generator) scatter(x hlo.Value) {
	s := x.Shape()
	rows := s.Dimensions()
	rows[0] = 2
	g.keep(g.b.Emit(hlo.OpSpec{
		Opcode: hlo.OpScatter,
		Attrs: &hlo.ScatterAttrs{
			UpdateWindowDims: axesFrom(1, s.Rank()), InsertedWindowDims: []int64{0}, ScatterDimsToOperandDims: []int64{0}, IndexVectorDim: 1,
		},
		Operands: []hlo.Value{x, g.like(hlo.MakeShape(hlo.S32, 2)), g.like(hlo.MakeShape(s.Type(), rows...))},
		Callees:  []hlo.CompID{g.folder(s.Type())},
	}))
}

// reduceTwo folds x and numbers beside it into two results.
func (g *generator) reduceTwo(x hlo.Value) {
	b, s := g.b, x.Shape()
	axis := int64(g.r.IntN(s.Rank()))
	t, index := hlo.MakeShape(s.Type()), hlo.MakeShape(hlo.S32)
	f := b.Computation("both", func(b *hlo.Builder) hlo.Value {
		x0, i0, x1, i1 := b.Parameter("x0", t), b.Parameter("i0", index), b.Parameter("x1", t), b.Parameter("i1", index)
		return b.Tuple(b.Add(x0, x1), b.Maximum(i0, i1))
	})
	r := b.Emit(hlo.OpSpec{
		Opcode: hlo.OpReduce, Attrs: &hlo.DimensionsAttrs{Dimensions: []int64{axis}}, Callees: []hlo.CompID{f},
		Operands: []hlo.Value{x, b.Iota(s.WithType(hlo.S32), axis), g.constant(t), g.constant(index)},
	})
	g.keep(b.Element(r, 0))
	g.keep(b.Element(r, 1))
}

// pool folds windows of two along the last axis, and sometimes sends values back to where the greatest came from.
func (g *generator) pool(x hlo.Value) {
	b, s := g.b, x.Shape()
	w := &hlo.Window{}
	for range s.Rank() {
		w.Dims = append(w.Dims, hlo.DefaultWindowDim(1))
	}
	last := &w.Dims[s.Rank()-1]
	last.Size = 2
	if s.Dim(s.Rank()-1) < 2 || g.r.IntN(2) == 0 {
		last.PadLow = 1
	} else {
		last.Stride = 2
	}
	zero := g.constant(hlo.MakeShape(s.Type()))
	f := g.adder(s.Type())
	pooled := b.Emit(hlo.OpSpec{Opcode: hlo.OpReduceWindow, Attrs: &hlo.WindowAttrs{Window: w}, Operands: []hlo.Value{x, zero}, Callees: []hlo.CompID{f}})
	g.keep(pooled)
	if g.r.IntN(2) == 0 {
		return
	}
	t := hlo.MakeShape(s.Type())
	greater := b.Computation("greater", func(b *hlo.Builder) hlo.Value {
		return b.Compare(hlo.GE, b.Parameter("x", t), b.Parameter("y", t))
	})
	g.keep(b.Emit(hlo.OpSpec{
		Opcode: hlo.OpSelectAndScatter, Attrs: &hlo.WindowAttrs{Window: w},
		Operands: []hlo.Value{x, g.like(pooled.Shape()), zero}, Callees: []hlo.CompID{greater, f},
	}))
}

// convolve slides two weights over the elements of x.
func (g *generator) convolve(x hlo.Value) {
	b, s := g.b, x.Shape()
	window := hlo.DefaultWindowDim(2)
	window.PadHigh = 1
	g.keep(b.Op(hlo.OpConvolution, &hlo.ConvolutionAttrs{
		Window: &hlo.Window{Dims: []hlo.WindowDim{window}}, FeatureGroupCount: 1, BatchGroupCount: 1,
		DimLabels: &hlo.ConvDims{
			InputBatch: 0, InputSpatial: []int64{1}, InputFeature: 2, KernelSpatial: []int64{0}, KernelInput: 1, KernelOutput: 2,
			OutputBatch: 0, OutputSpatial: []int64{1}, OutputFeature: 2,
		},
	}, b.Reshape(x, 1, s.NumElements(), 1), g.like(hlo.MakeShape(s.Type(), 2, 1, 1))))
}

// mapped applies a computation of scalars to each element.
func (g *generator) mapped(x hlo.Value) {
	b, s := g.b, x.Shape()
	t := hlo.MakeShape(s.Type())
	f := b.Computation("each", func(b *hlo.Builder) hlo.Value {
		p, q := b.Parameter("x", t), b.Parameter("y", t)
		return b.Subtract(b.Multiply(p, q), p)
	})
	g.keep(b.Emit(hlo.OpSpec{
		Opcode: hlo.OpMap, Attrs: &hlo.MapAttrs{Dimensions: axesFrom(0, s.Rank())}, Operands: []hlo.Value{x, g.like(s)}, Callees: []hlo.CompID{f},
	}))
}

// reinterpret takes numbers for others, or apart.
func (g *generator) reinterpret(x hlo.Value) {
	b, s := g.b, x.Shape()
	as := func(t hlo.PrimitiveType) { g.keep(b.OpOf(hlo.OpBitcastConvert, s.WithType(t), nil, x)) }
	switch s.Type() {
	case hlo.F32:
		if g.r.IntN(2) == 0 {
			as(hlo.S32)
		} else {
			g.keep(b.Op(hlo.OpComplex, nil, x, g.like(s)))
		}
	case hlo.S32, hlo.U32:
		as(hlo.F32)
	case hlo.BF16, hlo.F16:
		as(hlo.U16)
	case hlo.F64:
		g.keep(b.Op(hlo.OpReducePrecision, &hlo.ReducePrecisionAttrs{ExponentBits: 8, MantissaBits: 10}, x))
	case hlo.C64:
		g.keep(b.Op(hlo.OpReal, nil, x))
		g.keep(b.Op(hlo.OpImag, nil, x))
	}
}

// collective is a collective of one device, in one piece or in two.
func (g *generator) collective(x hlo.Value) {
	b, s := g.b, x.Shape()
	alone := &hlo.ReplicaGroups{Lists: [][]int64{{0}}}
	to, here := []hlo.Value{x}, [][]int64{{0, 0}}
	sum := func() []hlo.CompID { return []hlo.CompID{g.adder(s.Type())} }
	switch k := g.r.IntN(7); {
	case k == 0 && isOrdered(s.Type()):
		g.keep(b.Emit(hlo.OpSpec{Opcode: hlo.OpAllReduce, Attrs: &hlo.AllReduceAttrs{ReplicaGroups: alone}, Operands: to, Callees: sum()}))
	case k == 1 && isOrdered(s.Type()):
		start := b.Emit(hlo.OpSpec{Opcode: hlo.OpAllReduceStart, Attrs: &hlo.AllReduceAttrs{ReplicaGroups: alone}, Operands: to, Callees: sum()})
		g.keep(b.Unary(hlo.OpCopy, g.value())) // work beside it
		g.keep(b.Op(hlo.OpAllReduceDone, nil, start))
	case k == 2 && s.Rank() > 0:
		g.keep(b.OpOf(hlo.OpAllGather, s, &hlo.AllGatherAttrs{ReplicaGroups: alone, Dimensions: []int64{0}}, x))
	case k == 3 && s.Rank() > 0 && isOrdered(s.Type()):
		attrs := &hlo.ReduceScatterAttrs{ReplicaGroups: alone, Dimensions: []int64{0}}
		g.keep(b.Emit(hlo.OpSpec{Opcode: hlo.OpReduceScatter, Shape: s, Attrs: attrs, Operands: to, Callees: sum()}))
	case k == 4 && s.Rank() > 0:
		g.keep(b.Op(hlo.OpAllToAll, &hlo.AllToAllAttrs{ReplicaGroups: alone, Dimensions: []int64{0}}, x))
	case k == 5:
		g.keep(b.Op(hlo.OpCollectivePermute, &hlo.CollectivePermuteAttrs{SourceTargetPairs: here}, x))
	case k == 6:
		start := b.Op(hlo.OpCollectivePermuteStart, &hlo.CollectivePermuteAttrs{SourceTargetPairs: here}, x)
		g.keep(b.Op(hlo.OpCollectivePermuteDone, nil, start))
	}
}

// inFlight is work that goes on beside other work: a copy, or a computation called asynchronously.
func (g *generator) inFlight(x hlo.Value) {
	b, s := g.b, x.Shape()
	if g.r.IntN(3) == 0 {
		start := b.Op(hlo.OpCopyStart, nil, x)
		g.keep(b.Unary(hlo.OpCopy, g.value()))
		g.keep(b.Op(hlo.OpCopyDone, nil, start))
		return
	}
	chain := b.AsyncStart(g.elementwise(s), "worker", x, g.like(s))
	for range g.r.IntN(3) {
		g.keep(b.Unary(hlo.OpCopy, g.value()))
		chain = b.AsyncUpdate(chain)
	}
	g.keep(b.AsyncDone(chain))
}

// callingLoop runs as often as a value says, at most three times, and calls a computation of many kinds each time.
func (g *generator) callingLoop(x hlo.Value) {
	if g.depth >= 2 {
		return
	}
	b, s := g.b, x.Shape()
	count := hlo.MakeShape(hlo.S32)
	step := g.inner("step", s, count)
	state := hlo.MakeTuple(count, count, s).WithDefaultLayout()
	body := b.Computation("body", func(b *hlo.Builder) hlo.Value {
		p := b.Parameter("state", state)
		i, limit, v := b.Element(p, 0), b.Element(p, 1), b.Element(p, 2)
		return b.Tuple(b.Add(i, hlo.ConstantOf(b, count, int32(1))), limit, b.Call(step, v, i))
	})
	cond := b.Computation("cond", func(b *hlo.Builder) hlo.Value {
		p := b.Parameter("state", state)
		return b.Compare(hlo.LT, b.Element(p, 0), b.Element(p, 1))
	})
	limit := b.Clamp(hlo.ConstantOf(b, count, int32(0)), g.like(count), hlo.ConstantOf(b, count, int32(3)))
	w := b.While(cond, body, b.Tuple(hlo.ConstantOf(b, count, int32(0)), limit, x))
	g.keep(b.Element(w, 0))
	g.keep(b.Element(w, 2))
}

// sortPairs sorts the elements of x along one axis, and takes a permutation along.
func (g *generator) sortPairs(x hlo.Value) {
	b, s := g.b, x.Shape()
	axis := int64(g.r.IntN(s.Rank()))
	t, index := hlo.MakeShape(s.Type()), hlo.MakeShape(hlo.S32)
	less := b.Computation("less", func(b *hlo.Builder) hlo.Value {
		x, y := b.Parameter("x", t), b.Parameter("y", t)
		b.Parameter("i", index)
		b.Parameter("j", index)
		return b.Compare(hlo.GT, x, y)
	})
	sorted := b.Emit(hlo.OpSpec{
		Opcode: hlo.OpSort, Attrs: &hlo.SortAttrs{Dimensions: []int64{axis}, IsStable: true},
		Operands: []hlo.Value{x, b.Iota(s.WithType(hlo.S32), axis)}, Callees: []hlo.CompID{less},
	})
	g.keep(b.Element(sorted, 0))
	g.keep(b.Element(sorted, 1))
}

// nested puts x into a tuple within a tuple and takes values out again, after a barrier.
func (g *generator) nested(x hlo.Value) {
	b := g.b
	t := b.Tuple(b.Tuple(x, g.value()), g.value())
	t = b.Op(hlo.OpOptBarrier, nil, t)
	g.keep(b.Element(b.Element(t, 0), g.r.IntN(2)))
	g.keep(b.Element(t, 1))
}

// normalize makes a batch norm of x as one feature.
func (g *generator) normalize(x hlo.Value) {
	b, s := g.b, x.Shape()
	flat := b.Reshape(x, s.NumElements(), 1)
	one := hlo.MakeShape(s.Type(), 1)
	attrs := &hlo.BatchNormAttrs{Epsilon: 0.5, FeatureIndex: 1}
	if g.r.IntN(2) == 0 {
		g.keep(b.Op(hlo.OpBatchNormInference, attrs, flat, g.like(one), g.like(one), g.like(one), g.like(one)))
		return
	}
	t := b.Op(hlo.OpBatchNormTraining, attrs, flat, g.like(one), g.like(one))
	for i := range 3 {
		g.keep(b.Element(t, i))
	}
}

// complexOps are the binary ops that complex numbers have.
var complexOps = slices.DeleteFunc(slices.Clone(binaryOps), func(op hlo.Opcode) bool {
	return op == hlo.OpMaximum || op == hlo.OpMinimum || op == hlo.OpRemainder
})
