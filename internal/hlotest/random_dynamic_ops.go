package hlotest

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Ops on arrays of dynamic size, for [Dynamic].

// shapeOf is a shape of type t in which the dimensions with numbers in sizes are bounds.
func shapeOf(t hlo.PrimitiveType, dims []int64, sizes []int) hlo.Shape {
	dyn := make([]bool, len(dims))
	for i, n := range sizes {
		dyn[i] = n != 0
	}
	return hlo.MakeArray(t, dims, dyn, hlo.DefaultLayout(len(dims)))
}

// turn exchanges axes, or reverses one.
func (g *sizedGenerator) turn(x sized) {
	rank := x.Shape().Rank()
	if rank < 2 || g.r.IntN(3) == 0 {
		g.hold(g.b.Op(hlo.OpReverse, &hlo.DimensionsAttrs{Dimensions: []int64{int64(g.r.IntN(rank))}}, x.Value), x.sizes)
		return
	}
	perm, sizes := make([]int64, rank), make([]int, rank)
	for i, a := range g.r.Perm(rank) {
		perm[i], sizes[i] = int64(a), x.sizes[a]
	}
	y := g.hold(g.b.Transpose(x.Value, perm...), sizes)
	if g.r.IntN(2) == 0 {
		back, sizes := make([]int64, rank), make([]int, rank)
		for i, a := range perm {
			back[a], sizes[a] = int64(i), y.sizes[i]
		}
		g.hold(g.b.Transpose(y.Value, back...), sizes)
	}
}

// regroup adds an axis of size one and takes it away again, or makes one axis of all, by a reshape or with the sizes as operands.
func (g *sizedGenerator) regroup(x sized) {
	b, s := g.b, x.Shape()
	at := g.r.IntN(s.Rank() + 1)
	dims := slices.Insert(s.Dimensions(), at, 1)
	sizes := slices.Insert(slices.Clone(x.sizes), at, 0)
	switch g.r.IntN(3) {
	case 0:
		y := g.hold(b.OpOf(hlo.OpReshape, shapeOf(s.Type(), dims, sizes), nil, x.Value), sizes)
		if g.r.IntN(2) == 0 {
			g.hold(b.OpOf(hlo.OpReshape, s.WithDefaultLayout(), nil, y.Value), x.sizes)
		}
	case 1:
		operands := []hlo.Value{x.Value}
		for i := range dims {
			n := g.number(1)
			if i != at {
				n = g.sizeOf(x.Value, i-btoi(i > at))
			}
			operands = append(operands, n)
		}
		g.hold(b.OpOf(hlo.OpDynamicReshape, shapeOf(s.Type(), dims, sizes), nil, operands...), sizes)
	default:
		n := g.sizeOf(x.Value, 0)
		for i := 1; i < s.Rank(); i++ {
			n = b.Multiply(n, g.sizeOf(x.Value, i))
		}
		flat := shapeOf(s.Type(), []int64{s.NumElements()}, []int{1})
		y := g.hold(b.OpOf(hlo.OpDynamicReshape, flat, nil, x.Value, n), []int{g.known.fresh()})
		operands := []hlo.Value{y.Value}
		for i := range s.Rank() {
			operands = append(operands, g.sizeOf(x.Value, i))
		}
		g.hold(b.OpOf(hlo.OpDynamicReshape, s.WithDefaultLayout(), nil, operands...), x.sizes)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cut takes a part of each axis. What is cut from an axis of dynamic size may be empty, but is never a single element: that has the size that it
// states, whether it is there or not.
func (g *sizedGenerator) cut(x sized) {
	s := x.Shape()
	ranges, sizes := make([]hlo.SliceDim, s.Rank()), slices.Clone(x.sizes)
	for i := range ranges {
		r := hlo.SliceDim{Limit: s.Dim(i), Stride: 1}
		if g.r.IntN(2) == 0 {
			r.Start = s.Dim(i) / 2 * int64(g.r.IntN(2))
			r.Stride = int64(1 + g.r.IntN(2))
		}
		if n := (r.Limit - r.Start + r.Stride - 1) / r.Stride; n == 1 && s.IsDynamicDimension(i) {
			r = hlo.SliceDim{Limit: s.Dim(i), Stride: 1}
		}
		if s.Dim(i) == 1 && s.IsDynamicDimension(i) {
			return
		}
		if r.Start != 0 || r.Stride != 1 {
			sizes[i] = g.known.fresh()
		}
		ranges[i] = r
	}
	g.hold(g.b.Slice(x.Value, ranges...), sizes)
}

// append puts two or three arrays one after the other.
func (g *sizedGenerator) append(x sized) {
	axis := g.r.IntN(x.Shape().Rank())
	parts := []hlo.Value{x.Value, g.alike(x, x.Shape().Type()).Value}
	if g.r.IntN(2) == 0 {
		dims, sizes := x.Shape().Dimensions(), slices.Clone(x.sizes)
		dims[axis], sizes[axis] = 2, 0
		third := g.generator.like(hlo.MakeShape(x.Shape().Type(), dims...))
		for i, n := range sizes {
			if n != 0 {
				third = g.setSize(third, i, g.sizeOf(x.Value, i))
			}
		}
		parts = append(parts, third)
	}
	sizes := slices.Clone(x.sizes)
	sizes[axis] = g.known.fresh()
	if g.b.Err() == nil && parts[0].Shape().Dim(axis) < 16 {
		g.hold(g.b.Concatenate(int64(axis), parts...), sizes)
	}
}

// widen repeats x along a new axis, or pads it.
func (g *sizedGenerator) widen(x sized) {
	b, s := g.b, x.Shape()
	if g.r.IntN(2) == 0 && s.Rank() < 4 {
		at := g.r.IntN(s.Rank() + 1)
		axes := axesFrom(0, s.Rank())
		for i := at; i < len(axes); i++ {
			axes[i]++
		}
		dims, sizes := slices.Insert(s.Dimensions(), at, 2), slices.Insert(slices.Clone(x.sizes), at, 0)
		g.hold(b.OpOf(hlo.OpBroadcast, shapeOf(s.Type(), dims, sizes), &hlo.BroadcastAttrs{Dimensions: axes}, x.Value), sizes)
		return
	}
	padding, sizes := make([]hlo.PaddingDim, s.Rank()), slices.Clone(x.sizes)
	for i := range padding {
		padding[i] = hlo.PaddingDim{Low: int64(g.r.IntN(2)), High: int64(g.r.IntN(2)), Interior: int64(g.r.IntN(2))}
		sizes[i] = g.known.fresh()
	}
	if s.NumElements() < 200 {
		g.hold(b.Op(hlo.OpPad, &hlo.PadAttrs{Padding: padding}, x.Value, g.constant(hlo.MakeShape(s.Type()))), sizes)
	}
}

// contract multiplies x by itself or by a matrix, over an axis.
func (g *sizedGenerator) contract(x sized) {
	b, s := g.b, x.Shape()
	axis := g.r.IntN(s.Rank())
	rest := slices.Delete(slices.Clone(x.sizes), axis, axis+1)
	over := []int64{int64(axis)}
	if g.r.IntN(2) == 0 && s.Rank() < 3 {
		y := g.alike(x, s.Type())
		g.hold(b.Dot(x.Value, y.Value, hlo.DotAttrs{LHSContracting: over, RHSContracting: over}), append(slices.Clone(rest), rest...))
		return
	}
	m := g.generator.like(hlo.MakeShape(s.Type(), s.Dim(axis), 2))
	if s.IsDynamicDimension(axis) {
		m = g.setSize(m, 0, g.sizeOf(x.Value, axis))
	}
	g.hold(b.Dot(x.Value, m, hlo.DotAttrs{LHSContracting: over, RHSContracting: []int64{0}}), append(rest, 0))
}

// window takes all of the axes of dynamic size and a part of the others, at places that are computed, and puts it back; or it takes rows.
func (g *sizedGenerator) window(x sized) {
	b, s := g.b, x.Shape()
	if axis := g.r.IntN(s.Rank()); g.r.IntN(2) == 0 && !s.IsDynamicDimension(axis) && s.Dim(axis) > 0 {
		take := s.Dimensions()
		take[axis] = 1
		var offsets []int64
		for i := range s.Rank() {
			if i != axis {
				offsets = append(offsets, int64(len(offsets)+1))
			}
		}
		rows := g.generator.like(hlo.MakeShape(hlo.S32, 3))
		sizes := slices.Insert(slices.Delete(slices.Clone(x.sizes), axis, axis+1), 0, 0)
		if g.r.IntN(2) == 0 {
			sizes[0] = g.known.fresh()
			rows = g.setSize(rows, 0, b.Clamp(g.number(0), g.generator.like(hlo.MakeShape(hlo.S32)), g.number(3)))
		}
		g.hold(b.Op(hlo.OpGather, &hlo.GatherAttrs{OffsetDims: offsets, CollapsedSliceDims: []int64{int64(axis)}, StartIndexMap: []int64{int64(axis)},
			IndexVectorDim: 1, SliceSizes: take}, x.Value, rows), sizes)
		return
	}
	at, take := make([]hlo.Value, s.Rank()), s.Dimensions()
	for i := range at {
		at[i] = g.generator.like(hlo.MakeShape(hlo.S32))
		if s.IsDynamicDimension(i) {
			at[i] = g.number(0)
			if take[i] == 1 {
				return // the part would have a size that is stated
			}
		} else {
			take[i] = (take[i] + 1) / 2
		}
	}
	part := g.hold(b.DynamicSlice(x.Value, at, take...), x.sizes)
	g.hold(b.DynamicUpdateSlice(x.Value, part.Value, at...), x.sizes)
}

// order sorts along an axis, folds windows of two along it, or takes a running sum.
func (g *sizedGenerator) order(x sized) {
	b, s := g.b, x.Shape()
	t, axis := s.Type(), g.r.IntN(s.Rank())
	if g.r.IntN(2) == 0 {
		less := b.Computation("less", func(b *hlo.Builder) hlo.Value {
			a := &hlo.CompareAttrs{Direction: hlo.LT}
			if t.IsFloat() {
				a.Type = hlo.CompareTotalOrder // with NaN there is no order else, and the result is the sorter's own
			}
			return b.Op(hlo.OpCompare, a, b.Parameter("x", hlo.MakeShape(t)), b.Parameter("y", hlo.MakeShape(t)))
		})
		g.hold(b.Emit(hlo.OpSpec{Opcode: hlo.OpSort, Attrs: &hlo.SortAttrs{Dimensions: []int64{int64(axis)}, IsStable: true},
			Operands: []hlo.Value{x.Value}, Callees: []hlo.CompID{less}}), x.sizes)
		return
	}
	w, sizes := &hlo.Window{}, slices.Clone(x.sizes)
	for range s.Rank() {
		w.Dims = append(w.Dims, hlo.DefaultWindowDim(1))
	}
	w.Dims[axis].Size, w.Dims[axis].PadLow = 2, 1
	g.hold(b.Emit(hlo.OpSpec{Opcode: hlo.OpReduceWindow, Attrs: &hlo.WindowAttrs{Window: w}, Operands: []hlo.Value{x.Value, g.constant(hlo.MakeShape(t))},
		Callees: []hlo.CompID{g.adder(t)}}), sizes)
}

// grouped puts x into a tuple and takes it out again.
func (g *sizedGenerator) grouped(x sized) {
	b, y := g.b, g.any()
	t := b.Tuple(x.Value, y.Value)
	if g.r.IntN(3) == 0 {
		t = b.Op(hlo.OpOptBarrier, nil, t)
	}
	g.hold(b.Element(t, 0), x.sizes)
	g.hold(b.Element(t, 1), y.sizes)
}

// toStatic fills x up to its bounds, with its sizes beside it, and cuts it again.
func (g *sizedGenerator) toStatic(x sized) {
	b, s := g.b, x.Shape()
	parts := []hlo.Shape{hlo.MakeShape(s.Type(), s.Dimensions()...)}
	for range s.Rank() {
		parts = append(parts, hlo.MakeShape(hlo.S32))
	}
	padded := b.CustomCall("PadToStatic", hlo.MakeTuple(parts...).WithDefaultLayout(), x.Value)
	operands := []hlo.Value{b.Element(padded, 0)}
	g.keep(operands[0])
	for i := range s.Rank() {
		operands = append(operands, b.Element(padded, i+1))
		g.keep(operands[i+1])
	}
	g.hold(b.CustomCall("SliceToDynamic", s.WithDefaultLayout(), operands...), x.sizes)
}

// structured adds an instruction that calls a computation with values of dynamic size.
func (g *sizedGenerator) structured(x sized, k int) {
	if g.depth >= 2 {
		return
	}
	b, y := g.b, g.any()
	t := x.Shape().Type()
	switch g.r.IntN(5) {
	case 0:
		f := g.inside("callee", x, y)
		g.hold(b.Call(f, x.Value, y.Value), x.sizes)
	case 1:
		z := g.alike(x, t)
		g.hold(b.Fusion(hlo.FusionLoop, g.elementwise(x.Shape()), x.Value, z.Value), x.sizes)
	case 2:
		chain := b.AsyncStart(g.elementwise(x.Shape()), "worker", x.Value, g.alike(x, t).Value)
		g.hold(b.Unary(hlo.OpCopy, y.Value), y.sizes) // work beside it
		if k%2 == 0 {
			chain = b.AsyncUpdate(chain)
		}
		g.hold(b.AsyncDone(chain), x.sizes)
	case 3:
		z := g.alike(x, t)
		g.hold(b.If(g.generator.like(hlo.MakeShape(hlo.PRED)), g.inside("yes", x), x.Value, g.inside("no", z), z.Value), x.sizes)
	default:
		g.loopOver(x, y)
	}
}

// inside is a computation of values like those given that results in one like the first.
func (g *sizedGenerator) inside(name string, params ...sized) hlo.CompID {
	return g.b.Computation(name, func(b *hlo.Builder) hlo.Value {
		in := &sizedGenerator{generator: &generator{r: g.r, b: b, depth: g.depth + 1, wide: true}, known: g.known}
		for _, p := range params {
			in.hold(b.Parameter("a", p.Shape()), p.sizes)
		}
		first := in.arrays[0]
		for range g.r.IntN(5) {
			in.step()
		}
		return in.alike(first, first.Shape().Type()).Value
	})
}

// loopOver runs three rounds, or as many as y is long, that make x anew.
func (g *sizedGenerator) loopOver(x, y sized) {
	b := g.b
	count := hlo.MakeShape(hlo.S32)
	step := g.inside("step", x, y)
	state := hlo.MakeTuple(count, x.Shape(), y.Shape()).WithDefaultLayout()
	known := g.r.IntN(2) == 0
	body := b.Computation("body", func(b *hlo.Builder) hlo.Value {
		p := b.Parameter("state", state)
		return b.Tuple(b.Add(b.Element(p, 0), hlo.ConstantOf(b, count, int32(1))), b.Call(step, b.Element(p, 1), b.Element(p, 2)), b.Element(p, 2))
	})
	cond := b.Computation("cond", func(b *hlo.Builder) hlo.Value {
		p := b.Parameter("state", state)
		limit := hlo.ConstantOf(b, count, int32(3))
		if !known {
			limit = b.Op(hlo.OpGetDimensionSize, &hlo.AxisAttrs{Dimensions: []int64{0}}, b.Element(p, 2))
		}
		return b.Compare(hlo.LT, b.Element(p, 0), limit)
	})
	w := b.While(cond, body, b.Tuple(hlo.ConstantOf(b, count, int32(0)), x.Value, y.Value))
	g.hold(b.Element(w, 1), x.sizes)
	g.keep(b.Element(w, 0))
	g.hold(b.Element(w, 2), y.sizes)
}
