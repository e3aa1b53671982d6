package hlotest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Random makes a module of about size instructions that verifies in profile doc and evaluates without a host. The same seed makes the
// same module. Programs hold what passes look for: dead code, repeated expressions, constants, identities, tuples taken apart, calls,
// loops, branches, fusions, asynchronous chains, control dependencies; one in four is scheduled.
func Random(seed uint64, size int) (hlo.Module, error) { return random(seed, size, false) }

func random(seed uint64, size int, wide bool) (hlo.Module, error) {
	r := rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))
	g := newGenerator(seed, r, wide)
	for i := range 2 + r.IntN(3) {
		g.keep(g.b.Parameter(fmt.Sprintf("p%d", i), g.shape()))
	}
	for range size {
		g.step()
	}
	return g.finish(g.root())
}

func newGenerator(seed uint64, r *rand.Rand, wide bool) *generator {
	return &generator{r: r, b: hlo.NewBuilder(fmt.Sprintf("random_%d", seed)), wide: wide}
}

// finish is the module that results in root.
func (g *generator) finish(root hlo.Value) (hlo.Module, error) {
	m, err := g.b.Build(root)
	if err != nil || g.r.IntN(4) > 0 {
		return m, err
	}
	e := m.Edit()
	for c := range m.Computations() {
		if calledBy(m, c.ID(), hlo.OpFusion) { // what is fused runs in no order
			continue
		}
		ids := []hlo.InstrID{}
		for in := range c.PostOrder() {
			ids = append(ids, in.ID())
		}
		if err := e.Computation(c.ID()).SetSchedule(ids); err != nil {
			return m, err
		}
	}
	config := *m.Config()
	config.IsScheduled = true
	e.SetConfig(&config)
	return e.Freeze(), nil
}

// calledBy reports whether an instruction of opcode op calls computation id.
func calledBy(m hlo.Module, id hlo.CompID, op hlo.Opcode) bool {
	for c, in := range m.Callers(id) {
		if m.MustComputation(c).MustAt(in).Opcode() == op {
			return true
		}
	}
	return false
}

// generator grows one computation.
type generator struct {
	r      *rand.Rand
	b      *hlo.Builder
	values []hlo.Value // arrays only
	depth  int         // of computations around this one
	wide   bool        // every kind of op
}

var (
	randomTypes = []hlo.PrimitiveType{hlo.F32, hlo.F32, hlo.S32, hlo.U8, hlo.F64, hlo.PRED}
	randomDims  = [][]int64{{}, {4}, {1}, {2, 3}, {3, 2}, {1, 4}, {0}, {2, 1, 3}}
	//halo:allow opswitch what the generator draws from
	binaryOps = []hlo.Opcode{hlo.OpAdd, hlo.OpSubtract, hlo.OpMultiply, hlo.OpDivide, hlo.OpMaximum, hlo.OpMinimum, hlo.OpRemainder}
	logicOps  = []hlo.Opcode{hlo.OpAnd, hlo.OpOr, hlo.OpXor}
	//halo:allow opswitch what the generator draws from
	unaryOps = []hlo.Opcode{hlo.OpNegate, hlo.OpAbs, hlo.OpSign, hlo.OpExponential, hlo.OpTanh, hlo.OpFloor, hlo.OpCopy}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func (g *generator) shape() hlo.Shape {
	return hlo.MakeShape(g.elementType(), pick(g.r, randomDims)...)
}

func (g *generator) elementType() hlo.PrimitiveType {
	if g.wide {
		return pick(g.r, wideTypes)
	}
	return pick(g.r, randomTypes)
}

func (g *generator) keep(v hlo.Value) {
	if v.Shape().IsValid() && v.Shape().IsArray() {
		g.values = append(g.values, v)
	}
}

// value is a value made before: a recent one more often.
func (g *generator) value() hlo.Value {
	if n := len(g.values); g.r.IntN(2) == 0 {
		return g.values[max(0, n-1-g.r.IntN(4))]
	}
	return pick(g.r, g.values)
}

// like is a value of shape s; a constant when there is none.
func (g *generator) like(s hlo.Shape) hlo.Value {
	var same []hlo.Value
	for _, v := range g.values {
		if v.Shape().EqualIgnoringLayout(s) {
			same = append(same, v)
		}
	}
	if len(same) > 0 && g.r.IntN(3) > 0 {
		return pick(g.r, same)
	}
	return g.constant(s)
}

// constant is a constant or a broadcast of one, often zero, one or all bits.
func (g *generator) constant(s hlo.Shape) hlo.Value {
	scalar := hlo.MakeArray(s.Type(), nil, nil, hlo.DefaultLayout(0))
	c := g.b.Constant(number(s.Type(), g.r.IntN(6)-2, scalar))
	if s.IsScalar() {
		return c
	}
	return g.b.Broadcast(c, nil, s.Dimensions()...)
}

func (g *generator) step() {
	b, x := g.b, g.value()
	s := x.Shape()
	if g.wide {
		switch g.r.IntN(4) {
		case 0:
			g.wideStep(x)
			return
		case 1:
			g.rareStep(x)
			return
		}
	}
	if g.r.IntN(10) == 0 && len(g.values) > 2 {
		b.After(pick(g.r, g.values))
	}
	arithmetic, binary := s.Type() != hlo.PRED, binaryOps
	if s.Type().IsComplex() {
		binary = complexOps
	}
	switch k := g.r.IntN(20); {
	case k < 5 && arithmetic:
		y := g.like(s)
		g.keep(b.Binary(pick(g.r, binary), x, y))
		if g.r.IntN(3) == 0 { // something for cse
			g.keep(b.Add(x, y))
			g.keep(b.Add(y, x))
		}
	case k < 5:
		g.keep(b.Binary(pick(g.r, logicOps), x, g.like(s)))
	case k == 5 && arithmetic:
		op := pick(g.r, unaryOps)
		if s.Type().IsFloat() || op == hlo.OpNegate || op == hlo.OpCopy || op == hlo.OpAbs && s.Type() == hlo.S32 {
			g.keep(b.Unary(op, x))
		}
	case k == 5:
		g.keep(b.Unary(hlo.OpNot, x))
	case k == 6:
		directions := []hlo.Direction{hlo.EQ, hlo.NE, hlo.LT, hlo.GE}
		if s.Type().IsComplex() {
			directions = directions[:2]
		}
		g.keep(b.Compare(pick(g.r, directions), x, g.like(s)))
	case k == 7:
		g.keep(b.Select(g.like(s.WithType(hlo.PRED)), x, g.like(s)))
	case k == 8:
		if t := g.elementType(); !s.Type().IsComplex() || t.IsComplex() {
			g.keep(b.Convert(x, t))
		}
	case k == 9:
		g.reshape(x)
	case k == 10 && s.Rank() > 0:
		ranges := make([]hlo.SliceDim, s.Rank())
		for i := range ranges {
			ranges[i] = hlo.SliceDim{Start: s.Dim(i) / 2 * int64(g.r.IntN(2)), Limit: s.Dim(i), Stride: 1}
		}
		g.keep(b.Slice(x, ranges...))
	case k == 11 && s.Rank() > 0:
		g.keep(b.Concatenate(int64(g.r.IntN(s.Rank())), x, g.like(s)))
	case k == 12 && s.Rank() > 0 && arithmetic:
		f := g.adder(s.Type())
		g.keep(b.Reduce(x, g.constant(hlo.MakeShape(s.Type())), f, int64(g.r.IntN(s.Rank()))))
	case k == 13:
		t := b.Tuple(x, g.value(), g.value())
		g.keep(b.Element(t, g.r.IntN(3)))
		if g.r.IntN(2) == 0 {
			t = b.Tuple(b.Element(t, 0), b.Element(t, 1), b.Element(t, 2))
			g.keep(b.Element(t, g.r.IntN(3)))
		}
	case k == 14 && s.Rank() > 0:
		g.keep(b.Iota(s.WithType(hlo.S32), int64(g.r.IntN(s.Rank()))))
	case k == 15:
		g.keep(g.constant(s))
	default:
		g.structured(x, k)
	}
}

func (g *generator) reshape(x hlo.Value) {
	b, s := g.b, x.Shape()
	switch {
	case s.Rank() >= 2 && g.r.IntN(2) == 0:
		perm := make([]int64, s.Rank())
		for i := range perm {
			perm[i] = int64(s.Rank() - 1 - i)
		}
		x = b.Transpose(x, perm...)
		g.keep(x)
		g.keep(b.Transpose(x, perm...))
	case s.Rank() > 0:
		g.keep(b.Reshape(b.Reshape(x, s.NumElements()), s.Dimensions()...))
		g.keep(b.Reshape(x, append([]int64{1}, s.Dimensions()...)...))
	}
}

// structured adds what calls computations.
func (g *generator) structured(x hlo.Value, k int) {
	b, s := g.b, x.Shape()
	if g.depth >= 2 {
		return
	}
	y := g.value()
	switch k {
	case 16:
		f := g.inner("callee", s, y.Shape())
		g.keep(b.Call(f, x, y))
		g.keep(b.Call(f, x, y))
	case 17:
		g.keep(b.Fusion(hlo.FusionLoop, g.elementwise(s), x, g.like(s)))
	case 18:
		if hlo.Info(hlo.OpAdd).Arity.Min == 2 && s.Type() != hlo.PRED {
			start := b.AsyncOp(hlo.OpAdd, nil, "worker", x, g.like(s))
			g.keep(b.Unary(hlo.OpCopy, y)) // work beside it
			if g.r.IntN(2) == 0 {
				start = b.AsyncUpdate(start)
			}
			g.keep(b.AsyncDone(start))
		}
	default:
		g.loop(x)
	}
}

// inner is a computation of parameters of shapes s and t that results in a value of shape s.
func (g *generator) inner(name string, s, t hlo.Shape) hlo.CompID {
	return g.b.Computation(name, func(b *hlo.Builder) hlo.Value {
		in := &generator{r: g.r, b: b, depth: g.depth + 1, wide: g.wide}
		in.keep(b.Parameter("a", s))
		in.keep(b.Parameter("b", t))
		for range g.r.IntN(5) {
			in.step()
		}
		return in.like(s)
	})
}

// elementwise is a computation that a fusion may call.
func (g *generator) elementwise(s hlo.Shape) hlo.CompID {
	return g.b.Computation("fused", func(b *hlo.Builder) hlo.Value {
		x, y := b.Parameter("a", s), b.Parameter("b", s)
		if s.Type() == hlo.PRED {
			return b.Binary(hlo.OpXor, x, y)
		}
		return b.Multiply(b.Add(x, y), x)
	})
}

func (g *generator) adder(t hlo.PrimitiveType) hlo.CompID {
	return g.b.Computation("add", func(b *hlo.Builder) hlo.Value {
		return b.Add(b.Parameter("x", hlo.MakeShape(t)), b.Parameter("y", hlo.MakeShape(t)))
	})
}

// loop counts to three with x and an invariant beside it.
func (g *generator) loop(x hlo.Value) {
	b, s := g.b, x.Shape()
	invariant := g.like(s)
	count := hlo.MakeShape(hlo.S32)
	state := hlo.MakeTuple(count, s, s).WithDefaultLayout()
	body := b.Computation("body", func(b *hlo.Builder) hlo.Value {
		p := b.Parameter("state", state)
		i, v, k := b.Element(p, 0), b.Element(p, 1), b.Element(p, 2)
		next := v
		switch {
		case s.Type().IsComplex():
			next = b.Subtract(v, k)
		case s.Type() != hlo.PRED:
			next = b.Maximum(v, b.Multiply(k, k))
		}
		return b.Tuple(b.Add(i, hlo.ConstantOf(b, count, int32(1))), next, k)
	})
	cond := b.Computation("cond", func(b *hlo.Builder) hlo.Value {
		p := b.Parameter("state", state)
		return b.Compare(hlo.LT, b.Element(p, 0), hlo.ConstantOf(b, count, int32(3)))
	})
	w := b.While(cond, body, b.Tuple(hlo.ConstantOf(b, count, int32(0)), x, invariant))
	g.keep(b.Element(w, 1))
}

// root is a tuple of some values, the last among them.
func (g *generator) root() hlo.Value {
	n := len(g.values)
	picked := []hlo.Value{g.values[n-1]}
	for range 1 + g.r.IntN(4) {
		picked = append(picked, pick(g.r, g.values))
	}
	slices.Reverse(picked)
	return g.b.Tuple(picked...)
}
