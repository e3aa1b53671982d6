package hlotest

import (
	"math/rand/v2"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Dynamic is [Wide] with arrays whose sizes are known at run time only: parameters with bounds, sizes set and read, and ops and computations of
// every kind on them. Sizes that must agree do, so a module evaluates for all sizes of its parameters that are the same function of their bounds.
func Dynamic(seed uint64, size int) (hlo.Module, error) {
	r := rand.New(rand.NewPCG(seed, 0x2545F4914F6CDD1D))
	g := newGenerator(seed, r, true)
	d := &sizedGenerator{generator: g, known: &sizeNumbers{}}
	g.keep(g.b.Parameter("p", g.shape()))
	for range 1 + r.IntN(3) {
		d.parameter()
	}
	for range size {
		if r.IntN(4) == 0 {
			g.step()
		} else {
			d.step()
		}
	}
	m, err := g.finish(d.root())
	if err != nil {
		return m, err
	}
	return decorate(m, rand.New(rand.NewPCG(seed, 0xD1B54A32D192ED03))), nil
}

// sized is an array of which some dimensions have sizes known at run time only.
type sized struct {
	hlo.Value
	// sizes numbers the size of each dimension: equal numbers are equal sizes, 0 is the size that the shape states.
	sizes []int
}

// sizeNumbers hands out the numbers of sizes. Numbers of parameters belong to bounds.
type sizeNumbers struct {
	last  int
	bound map[int64]int
}

func (n *sizeNumbers) fresh() int {
	n.last++
	return n.last
}

func (n *sizeNumbers) ofBound(b int64) int {
	if n.bound == nil {
		n.bound = map[int64]int{}
	}
	if n.bound[b] == 0 {
		n.bound[b] = n.fresh()
	}
	return n.bound[b]
}

// sizedGenerator adds values of dynamic size to the computation that its generator grows.
type sizedGenerator struct {
	*generator
	known  *sizeNumbers
	arrays []sized
}

// dynamicDims are the dimensions of parameters; those below zero are bounds.
var dynamicDims = [][]int64{{-4}, {-3}, {-4, 3}, {2, -4}, {-2, -3}, {1, -4}, {-4, 1}, {2, -3, 2}, {-5, 2}, {-1}, {-3, 2, -4}}

func (g *sizedGenerator) parameter() {
	dims := slices.Clone(pick(g.r, dynamicDims))
	dyn, sizes := make([]bool, len(dims)), make([]int, len(dims))
	for i, d := range dims {
		if d < 0 {
			dims[i], dyn[i], sizes[i] = -d, true, g.known.ofBound(-d)
		}
	}
	s := hlo.MakeArray(g.elementType(), dims, dyn, hlo.DefaultLayout(len(dims)))
	g.hold(g.b.Parameter("d", s), sizes)
}

// hold keeps a value; sizes are those of its dimensions.
func (g *sizedGenerator) hold(v hlo.Value, sizes []int) sized {
	x := sized{v, slices.Clone(sizes)}
	s := v.Shape()
	if !s.IsValid() || !s.IsArray() {
		return x
	}
	for i := range min(s.Rank(), len(sizes)) {
		if !s.IsDynamicDimension(i) {
			x.sizes[i] = 0
		}
	}
	if s.IsStatic() {
		g.keep(v)
	} else {
		g.arrays = append(g.arrays, x)
	}
	return x
}

func (g *sizedGenerator) any() sized {
	if n := len(g.arrays); g.r.IntN(2) == 0 {
		return g.arrays[max(0, n-1-g.r.IntN(3))]
	}
	return pick(g.r, g.arrays)
}

// alike is a value of the type t and the sizes of x.
func (g *sizedGenerator) alike(x sized, t hlo.PrimitiveType) sized {
	want := x.Shape().WithType(t)
	var same []sized
	for _, y := range g.arrays {
		if y.Shape().EqualIgnoringLayout(want) && slices.Equal(y.sizes, x.sizes) {
			same = append(same, y)
		}
	}
	if len(same) > 0 && g.r.IntN(4) > 0 {
		return pick(g.r, same)
	}
	return g.cutLike(g.generator.like(hlo.MakeShape(t, want.Dimensions()...)), x)
}

// cutLike cuts an array to the sizes of x.
func (g *sizedGenerator) cutLike(v hlo.Value, x sized) sized {
	for i := range x.sizes {
		if x.Shape().IsDynamicDimension(i) {
			v = g.setSize(v, i, g.sizeOf(x.Value, i))
		}
	}
	return sized{v, x.sizes}
}

func (g *sizedGenerator) sizeOf(x hlo.Value, axis int) hlo.Value {
	return g.b.Op(hlo.OpGetDimensionSize, &hlo.AxisAttrs{Dimensions: []int64{int64(axis)}}, x)
}

func (g *sizedGenerator) setSize(x hlo.Value, axis int, n hlo.Value) hlo.Value {
	return g.b.Op(hlo.OpSetDimensionSize, &hlo.AxisAttrs{Dimensions: []int64{int64(axis)}}, x, n)
}

func (g *sizedGenerator) number(n int64) hlo.Value {
	return hlo.ConstantOf(g.b, hlo.MakeShape(hlo.S32), int32(n))
}

// step adds a value that depends on one of dynamic size.
func (g *sizedGenerator) step() {
	b, x := g.b, g.any()
	s := x.Shape()
	t := s.Type()
	number := isOrdered(t)
	switch k := g.r.IntN(24); {
	case k < 4:
		ops := binaryOps
		switch {
		case t == hlo.PRED:
			ops = logicOps
		case t.IsComplex():
			ops = complexOps
		}
		op, y := pick(g.r, ops), g.alike(x, t)
		g.hold(b.Binary(op, x.Value, y.Value), x.sizes)
		if g.r.IntN(3) == 0 { // something for cse
			g.hold(b.Binary(op, x.Value, y.Value), x.sizes)
		}
		if g.r.IntN(3) == 0 { // something for algebra
			g.hold(b.Binary(op, x.Value, x.Value), x.sizes)
		}
	case k == 4 && t.IsFloat():
		g.hold(b.Unary(pick(g.r, append(slices.Clone(unaryOps), floatOps...)), x.Value), x.sizes)
	case k == 4 || k == 5 && number:
		g.hold(b.Unary(hlo.OpCopy, x.Value), x.sizes)
		if number {
			g.hold(b.Unary(hlo.OpNegate, x.Value), x.sizes)
		}
	case k == 5:
		g.hold(b.Op(hlo.OpOptBarrier, nil, x.Value), x.sizes)
	case k == 6:
		g.hold(b.Compare(pick(g.r, []hlo.Direction{hlo.EQ, hlo.NE}), x.Value, g.alike(x, t).Value), x.sizes)
	case k == 7:
		g.hold(b.Select(g.alike(x, hlo.PRED).Value, x.Value, g.alike(x, t).Value), x.sizes)
	case k == 8:
		if to := g.elementType(); !t.IsComplex() || to.IsComplex() {
			g.hold(b.Convert(x.Value, to), x.sizes)
		}
	case k == 9:
		g.turn(x)
	case k == 10:
		g.regroup(x)
	case k == 11:
		g.cut(x)
	case k == 12:
		g.append(x)
	case k == 13:
		g.widen(x)
	case k == 14 && number:
		axis := g.r.IntN(s.Rank())
		r := b.Reduce(x.Value, g.constant(hlo.MakeShape(t)), g.adder(t), int64(axis))
		g.hold(r, slices.Delete(slices.Clone(x.sizes), axis, axis+1))
	case k == 15 && (t == hlo.F32 || t == hlo.S32):
		g.contract(x)
	case k == 16:
		g.keep(g.sizeOf(x.Value, g.r.IntN(s.Rank())))
	case k == 17:
		g.setSizeOfAny(x)
	case k == 18:
		g.window(x)
	case k == 19 && number:
		g.order(x)
	case k == 20:
		g.grouped(x)
	case k == 21:
		g.toStatic(x)
	default:
		g.structured(x, k)
	}
}

// setSizeOfAny gives a dimension of some array a size that is computed, never larger than it was.
func (g *sizedGenerator) setSizeOfAny(x sized) {
	n := g.generator.like(hlo.MakeShape(hlo.S32))
	if g.r.IntN(3) == 0 {
		n = g.number(int64(g.r.IntN(4)))
	}
	if g.r.IntN(2) == 0 && len(g.values) > 0 {
		if v := g.value(); v.Shape().Rank() > 0 {
			x = sized{v, make([]int, v.Shape().Rank())}
		}
	}
	axis := g.r.IntN(x.Shape().Rank())
	now := g.number(x.Shape().Dim(axis))
	if x.Shape().IsDynamicDimension(axis) {
		now = g.sizeOf(x.Value, axis)
	}
	n = g.b.Clamp(g.number(0), n, now)
	sizes := slices.Clone(x.sizes)
	sizes[axis] = g.known.fresh()
	g.hold(g.setSize(x.Value, axis, n), sizes)
}

// root is a tuple of some values of either kind, and of a size.
func (g *sizedGenerator) root() hlo.Value {
	last := g.arrays[len(g.arrays)-1]
	picked := []hlo.Value{last.Value, g.any().Value, g.sizeOf(g.any().Value, 0)}
	for range g.r.IntN(3) {
		picked = append(picked, g.any().Value)
	}
	if len(g.values) > 0 {
		picked = append(picked, g.value())
	}
	return g.b.Tuple(picked...)
}
