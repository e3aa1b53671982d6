package algsimp

import (
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// placesRule counts places in as few bits as elements have: vectors hold the two side by side then, and half as much is in memory where places are.
var placesRule = &pass.RewriteRule{ID: "G31", Doc: "reduce of elements and their places, of 64 bits, which it only compares and chooses → of places of 32 bits, converted, on CPUs",
	Root: []hlo.Opcode{hlo.OpReduce}, RewriteAt: narrowPlaces}

func narrowPlaces(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	if in.NumOperands() != 4 {
		return no()
	}
	x, places, first := in.OperandInstr(0), in.OperandInstr(1), in.OperandInstr(3)
	wide := places.Shape().Type()
	if !is(places, hlo.OpIota) || wide != hlo.S64 && wide != hlo.U64 || x.Shape().Type().Bits() > 32 || !static(x) || !splatIs(first, isAnyZero) ||
		places.Shape().Dim(int(hlo.AttrsOf[hlo.IotaAttrs](places).Dimension)) > math.MaxInt32 {
		return no()
	}
	by, ok := s.Computation(in.Callee(0))
	if !ok || !comparesOnly(by, wide) {
		return no()
	}
	t := map[hlo.PrimitiveType]hlo.PrimitiveType{hlo.S64: hlo.S32, hlo.U64: hlo.U32}[wide]
	to := func(s hlo.Shape) hlo.Shape { return s.WithType(t) }
	values, found := in.Shape().Elem(0), in.Shape().Elem(1)
	r := shaped(hlo.OpReduce, hlo.MakeTuple(values, to(found)), in.Attrs(), pass.Use(x), shaped(hlo.OpIota, to(places.Shape()), places.Attrs()),
		pass.Use(in.OperandInstr(2)), shaped(hlo.OpConvert, to(first.Shape()), nil, pass.Use(first)))
	r = r.Making(&pass.NewCallee{Make: func(e *hlo.Editor) hlo.CompID { return retyped(e, by, wide, t) }})
	return tupleOf(in, func(i int) pass.Expr {
		if i == 0 {
			return shaped(hlo.OpGetTupleElement, values, &hlo.TupleElementAttrs{Index: 0}, r)
		}
		return shaped(hlo.OpConvert, found, nil, shaped(hlo.OpGetTupleElement, to(found), &hlo.TupleElementAttrs{Index: 1}, r))
	})
}

// comparesOnly reports whether a computation does nothing with numbers of a type, which its second and fourth parameters alone have, but compare them with each other and choose
// among them.
func comparesOnly(c hlo.Computation, t hlo.PrimitiveType) bool {
	for in := range c.Instructions() {
		//halo:allow opswitch what does the same with numbers of any width
		switch in.Opcode() {
		case hlo.OpParameter, hlo.OpCompare, hlo.OpSelect, hlo.OpTuple:
		default:
			if in.Shape().IsTuple() || in.Shape().Type() == t {
				return false
			}
			for o := range in.Operands() {
				if o.Shape().Type() == t {
					return false
				}
			}
		}
		if in.NumCallees() > 0 || in.NumControlPredecessors() > 0 {
			return false
		}
	}
	root := c.Root()
	return c.NumParameters() == 4 && is(root, hlo.OpTuple) && root.NumOperands() == 2 && root.OperandInstr(1).Shape().Type() == t &&
		c.Parameter(0).Shape().Type() != t && root.OperandInstr(0).Shape().Type() != t
}

// retyped makes a computation that is c with numbers of one type instead of another.
func retyped(e *hlo.Editor, c hlo.Computation, from, to hlo.PrimitiveType) hlo.CompID {
	b := e.NewComputation(c.Name())
	b.SetScheduled(e.Config().IsScheduled)
	change := func(s hlo.Shape) hlo.Shape {
		if s.Type() == from {
			return s.WithType(to)
		}
		return s
	}
	ids := make(map[hlo.InstrID]hlo.InstrID)
	add := func(in hlo.Instruction) {
		spec := hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: change(in.Shape()), Attrs: in.Attrs(), Position: in.Position()}
		if in.Shape().IsTuple() {
			spec.Shape = hlo.MakeTuple(in.Shape().Elem(0), change(in.Shape().Elem(1)))
		}
		for o := range in.Operands() {
			spec.Operands = append(spec.Operands, ids[o.ID()])
		}
		ids[in.ID()] = b.Append(spec)
	}
	for i := range c.NumParameters() {
		add(c.Parameter(i))
	}
	for in := range c.PostOrder() {
		if !is(in, hlo.OpParameter) {
			add(in)
		}
	}
	return b.Finish(ids[c.Root().ID()])
}
