package hlotest

import (
	"fmt"
	"math/rand/v2"

	"github.com/gohalo/halo/hlo"
)

// Wide is [Random] with all element types of hardware, with more kinds of op (contractions, convolutions, windows and indices into arrays,
// several results, sorting, branches, loops that call, bits, elementary functions, complex numbers, collectives of one device, copies and
// calls in flight) and with all that hangs from instructions: shardings, layouts, metadata, frontend attributes, backend configurations.
func Wide(seed uint64, size int) (hlo.Module, error) {
	m, err := random(seed, size, true)
	if err != nil {
		return m, err
	}
	return decorate(m, rand.New(rand.NewPCG(seed, 0xD1B54A32D192ED03))), nil
}

var (
	//halo:allow opswitch what the generator draws from
	floatOps = []hlo.Opcode{hlo.OpLog, hlo.OpLogPlusOne, hlo.OpExponentialMinusOne, hlo.OpSqrt, hlo.OpRsqrt, hlo.OpCbrt, hlo.OpSine, hlo.OpCosine, hlo.OpTan,
		hlo.OpLogistic, hlo.OpErf, hlo.OpCeil, hlo.OpRoundNearestEven, hlo.OpIsFinite}
	//halo:allow opswitch what the generator draws from
	bitOps = []hlo.Opcode{hlo.OpAnd, hlo.OpOr, hlo.OpXor, hlo.OpShiftLeft, hlo.OpShiftRightLogical, hlo.OpShiftRightArithmetic}
)

// wideStep adds what Random leaves out.
func (g *generator) wideStep(x hlo.Value) {
	b, s := g.b, x.Shape()
	float, integer := s.Type().IsFloat(), s.Type().IsInteger()
	switch k := g.r.IntN(11); {
	case k == 0 && float:
		g.keep(b.Unary(pick(g.r, floatOps), x))
	case k == 1 && float:
		g.keep(b.Binary(pick(g.r, []hlo.Opcode{hlo.OpAtan2, hlo.OpPower}), x, g.like(s)))
	case k <= 1 && integer:
		g.keep(b.Binary(pick(g.r, bitOps), x, g.like(s)))
	case k == 2 && integer:
		g.keep(b.Unary(pick(g.r, []hlo.Opcode{hlo.OpNot, hlo.OpPopcnt, hlo.OpCountLeadingZeros}), x))
	case k == 3 && (float || integer):
		g.keep(b.Clamp(g.like(s), x, g.constant(hlo.MakeShape(s.Type()))))
	case k == 4 && s.Rank() == 2 && (s.Type() == hlo.F32 || s.Type() == hlo.S32):
		g.keep(b.MatMul(x, g.like(hlo.MakeShape(s.Type(), s.Dim(1), 2))))
	case k == 5 && s.Rank() > 0:
		g.windows(x)
	case k == 6 && s.Rank() > 0:
		g.keep(b.Op(hlo.OpReverse, &hlo.DimensionsAttrs{Dimensions: []int64{int64(g.r.IntN(s.Rank()))}}, x))
	case k == 7 && s.Rank() > 0:
		padding := make([]hlo.PaddingDim, s.Rank())
		for i := range padding {
			padding[i] = hlo.PaddingDim{Low: int64(g.r.IntN(2)), High: int64(g.r.IntN(2)), Interior: int64(g.r.IntN(2))}
		}
		g.keep(b.Op(hlo.OpPad, &hlo.PadAttrs{Padding: padding}, x, g.constant(hlo.MakeShape(s.Type()))))
	case k == 8 && s.Rank() > 0 && !s.Type().IsComplex():
		g.sort(x)
	case k == 9:
		g.branch(x)
	case k == 10:
		g.keep(b.Op(hlo.OpOptBarrier, nil, x))
	}
}

// windows takes a part of x at places that are computed, and puts another one in.
func (g *generator) windows(x hlo.Value) {
	b, s := g.b, x.Shape()
	at, sizes := make([]hlo.Value, s.Rank()), make([]int64, s.Rank())
	for i := range at {
		at[i] = g.like(hlo.MakeShape(hlo.S32))
		sizes[i] = (s.Dim(i) + 1) / 2
	}
	part := b.DynamicSlice(x, at, sizes...)
	g.keep(part)
	g.keep(b.DynamicUpdateSlice(x, g.like(part.Shape()), at...))
}

func (g *generator) sort(x hlo.Value) {
	b, s := g.b, x.Shape()
	less := b.Computation("less", func(b *hlo.Builder) hlo.Value {
		t := hlo.MakeShape(s.Type())
		return b.Compare(hlo.LT, b.Parameter("x", t), b.Parameter("y", t))
	})
	g.keep(b.Emit(hlo.OpSpec{
		Opcode: hlo.OpSort, Attrs: &hlo.SortAttrs{Dimensions: []int64{int64(g.r.IntN(s.Rank()))}, IsStable: g.r.IntN(2) == 0},
		Operands: []hlo.Value{x}, Callees: []hlo.CompID{less},
	}))
}

// branch takes one of two or three ways by a predicate or an index.
func (g *generator) branch(x hlo.Value) {
	if g.depth >= 2 {
		return
	}
	b, s := g.b, x.Shape()
	way := func(name string) hlo.CompID {
		return b.Computation(name, func(b *hlo.Builder) hlo.Value {
			in := &generator{r: g.r, b: b, depth: g.depth + 1, wide: true}
			in.keep(b.Parameter("x", s))
			for range g.r.IntN(4) {
				in.step()
			}
			return in.like(s)
		})
	}
	if g.r.IntN(2) == 0 {
		g.keep(b.If(g.like(hlo.MakeShape(hlo.PRED)), way("yes"), x, way("no"), g.like(s)))
		return
	}
	g.keep(b.Switch(g.like(hlo.MakeShape(hlo.S32)), []hlo.CompID{way("first"), way("second"), way("third")}, x, x, g.like(s)))
}

// decorate gives some instructions what passes carry along and few look at.
func decorate(m hlo.Module, r *rand.Rand) hlo.Module {
	e := m.Edit()
	for c := range m.Computations() {
		if calledBy(m, c.ID(), hlo.OpAsyncStart) { // the short form of the text has one set of attributes for both
			continue
		}
		ce := e.Computation(c.ID())
		for in := range c.Instructions() {
			switch in.Opcode() {
			case hlo.OpAsyncStart, hlo.OpAsyncUpdate, hlo.OpAsyncDone:
				continue
			}
			edit, s := ce.Edit(in), in.Shape()
			if r.IntN(3) == 0 {
				edit.SetAttr(hlo.KeyMetadata, &hlo.Metadata{OpType: in.Opcode().String(), OpName: "jit(f)/" + in.Name(), SourceFile: "f.py", SourceLine: int32(r.IntN(99))})
			}
			if r.IntN(8) == 0 {
				edit.SetAttr(hlo.KeyFrontendAttributes, &hlo.FrontendAttributes{Entries: []hlo.FrontendAttribute{{Key: "k", Value: fmt.Sprint(r.IntN(9))}}})
			}
			if r.IntN(8) == 0 {
				edit.SetAttr(hlo.KeyBackendConfig, fmt.Sprintf(`{"n":%d}`, r.IntN(9)))
			}
			if r.IntN(6) == 0 && s.IsArray() && !in.IsRoot() && in.NumCallees() == 0 && in.Opcode() != hlo.OpParameter { // those must agree
				edit.SetAttr(hlo.KeySharding, &hlo.Sharding{Kind: pick(r, []hlo.ShardingKind{hlo.ShardingReplicated, hlo.ShardingManual})})
			}
			if in.Opcode() == hlo.OpCopy && s.Rank() > 1 && !in.IsRoot() && c.ID() == m.Entry().ID() {
				edit.SetShape(s.WithLayout(firstFastest(s.Rank())))
			}
		}
	}
	return e.Freeze()
}

// firstFastest is the layout in which the first axis varies fastest.
func firstFastest(rank int) *hlo.Layout {
	l := &hlo.Layout{MinorToMajor: make([]int64, rank)}
	for i := range l.MinorToMajor {
		l.MinorToMajor[i] = int64(i)
	}
	return l
}
