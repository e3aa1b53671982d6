package expand

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// SelectAndScatter finds the places first, and scatters to them.
var SelectAndScatter = &pass.Pass{
	Name: "select-and-scatter-expander",
	Doc: `write select-and-scatter as a reduce-window that gives the place of each selected element, and a scatter

Places are numbers of elements in row-major order, -1 where a window has none.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for _, in := range backward(c) {
				if in.Opcode() != hlo.OpSelectAndScatter || !staticArrays(in) || !ctx.Spend("select") {
					continue
				}
				ce := e.Computation(c.ID())
				if err := emit.Replace(ce, in.ID(), selectedPlaces(m, emit.Before(ce, in), in)); err != nil {
					return m, err
				}
				ctx.Count("expanded", 1)
			}
		}
		return e.Freeze(), nil
	},
}

func selectedPlaces(m hlo.Module, at emit.At, in hlo.Instruction) hlo.InstrID {
	e, x, source, init := at.C.Editor(), in.Operand(0), in.Operand(1), in.Operand(2)
	s, n := at.Shape(x), at.Shape(x).NumElements()
	t := hlo.S32
	if !holds(t, n) {
		t = hlo.S64
	}
	value, place := hlo.MakeShape(s.Type()).WithDefaultLayout(), hlo.MakeShape(t).WithDefaultLayout()
	choose := m.MustComputation(in.Callee(0))
	better := emit.Computation(e, "choose", []hlo.Shape{value, place, value, place}, func(at emit.At, p []hlo.InstrID) hlo.InstrID {
		none := at.Int(t, -1)
		stays := at.Binary(hlo.OpAnd, at.Compare(hlo.NE, p[1], none), at.Binary(hlo.OpOr, at.Compare(hlo.EQ, p[3], none), applied(at, choose, p[0], p[2])))
		return at.Tuple(at.Select(stays, p[0], p[2]), at.Select(stays, p[1], p[3]))
	})
	where := at.Reshape(at.Iota(t, 0, n), s.Dimensions()...)
	dims, count := at.Shape(source).Dimensions(), at.Shape(source).NumElements()
	chosen := at.Spec(hlo.InstrSpec{Opcode: hlo.OpReduceWindow, Shape: hlo.MakeTuple(hlo.MakeShape(s.Type(), dims...), hlo.MakeShape(t, dims...)).WithDefaultLayout(),
		Operands: []hlo.InstrID{x, where, at.Constant(emit.Zero(s.Type())), at.Int(t, -1)}, Callees: []hlo.CompID{better}, Attrs: &hlo.WindowAttrs{Window: hlo.AttrsOf[hlo.WindowAttrs](in).Window}})
	result := in.Shape()
	scattered := at.Spec(hlo.InstrSpec{Opcode: hlo.OpScatter, Shape: hlo.MakeShape(result.Type(), n), Callees: []hlo.CompID{in.Callee(1)},
		Operands: []hlo.InstrID{at.Fill(init, n), at.Reshape(at.Element(chosen, 1), count, 1), at.Reshape(source, count)},
		Attrs:    &hlo.ScatterAttrs{UpdateWindowDims: []int64{}, InsertedWindowDims: []int64{0}, ScatterDimsToOperandDims: []int64{0}, IndexVectorDim: 1}})
	return at.Reshape(scattered, result.Dimensions()...)
}
