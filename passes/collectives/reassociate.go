package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const reassociateDoc = `reduce once after adding rather than twice before

all-reduce(x) + all-reduce(y) becomes all-reduce(x + y), for every op that reductions fold with. Slices, reshapes, pads with the neutral element
and equal dynamic slices may stand between. Floating-point sums are added in another order: policy xla or fast. reassociate-converted-ar also looks through conversions to a
wider type, in which the values are then reduced.`

// NewAllReduceReassociate makes the pass all-reduce-reassociate.
func NewAllReduceReassociate(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("reassociate-converted-ar"); err != nil {
		return nil, err
	}
	converted, err := o.Bool("reassociate-converted-ar")
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "all-reduce-reassociate", Doc: reassociateDoc, Options: o,
		Params: []pass.Param{{Name: "reassociate-converted-ar", Doc: "look through conversions; false"}},
		Lent:   true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
				r := reassociating{ctx: ctx, e: e, c: e.Computation(c.ID()), converted: converted}
				for in := range c.PostOrder() {
					if err := r.at(in.ID()); err != nil {
						return m, err
					}
				}
			}
			return e.Freeze(), nil
		}}, nil
}

type reassociating struct {
	ctx       *pass.Context
	e         *hlo.Editor
	c         hlo.CompEdit
	converted bool
}

// reduced is an all-reduce below a value, and the instructions between them, the value first.
type reduced struct {
	all  hlo.Instruction
	path []hlo.Instruction
}

// at looks at one instruction that may combine two reductions.
func (r *reassociating) at(id hlo.InstrID) error {
	if !r.c.Has(id) {
		return nil
	}
	in := r.c.At(id)
	if in.NumOperands() != 2 || !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCommutative) || !in.Shape().IsArray() ||
		!mayReorder(r.ctx, in.Opcode(), in.Shape().Type()) {
		return nil
	}
	x, okX := r.trace(in.OperandInstr(0), in)
	y, okY := r.trace(in.OperandInstr(1), in)
	if !okX || !okY {
		return nil
	}
	fx, fy := factsFrom(r.e.View, x.all), factsFrom(r.e.View, y.all)
	if !fx.reducer.ok || fx.reducer.op != in.Opcode() || !alike(x.all, y.all, fx, fy) || r.c.At(id).NumControlPredecessors() > 0 {
		return nil
	}
	if sameDynamicSlice(x, y) {
		if !r.ctx.Spend("reassociate") {
			return nil
		}
		return r.behindSlice(r.c.At(id), x, y)
	}
	for _, t := range []reduced{x, y} {
		for _, p := range t.path {
			if p.Opcode() == hlo.OpDynamicSlice || p.Opcode() == hlo.OpPad && !isNeutral(p.OperandInstr(1), fx.reducer.op) {
				return nil
			}
		}
	}
	if !r.ctx.Spend("reassociate") {
		return nil
	}
	return r.lift(r.c.At(id), x, y)
}

// mayReorder reports whether the policy lets values be folded in another order.
func mayReorder(ctx *pass.Context, op hlo.Opcode, t hlo.PrimitiveType) bool {
	return !t.IsFloat() && !t.IsComplex() || op == hlo.OpMaximum || op == hlo.OpMinimum || ctx.FP() >= pass.Rounding
}

// trace goes from an operand of user down to an all-reduce, through values that nothing else uses.
func (r *reassociating) trace(v, user hlo.Instruction) (reduced, bool) {
	var path []hlo.Instruction
	for {
		if u, ok := soleUser(v); !ok || u.ID() != user.ID() || v.NumControlPredecessors() > 0 {
			return reduced{}, false
		}
		switch v.Opcode() {
		case hlo.OpAllReduce:
			return reduced{v, path}, v.NumOperands() == 1 && v.Shape().IsArray()
		case hlo.OpConvert:
			if !r.converted || v.Shape().Type().Bits() < v.OperandInstr(0).Shape().Type().Bits() {
				return reduced{}, false
			}
		case hlo.OpSlice, hlo.OpReshape, hlo.OpPad, hlo.OpDynamicSlice:
		default:
			return reduced{}, false
		}
		if len(path) > 8 {
			return reduced{}, false
		}
		path = append(path, v)
		user, v = v, v.OperandInstr(0)
	}
}

// sameDynamicSlice reports whether both values are one dynamic slice of reductions of equal shapes.
func sameDynamicSlice(x, y reduced) bool {
	if len(x.path) != 1 || len(y.path) != 1 || x.path[0].Opcode() != hlo.OpDynamicSlice || y.path[0].Opcode() != hlo.OpDynamicSlice ||
		!x.all.Shape().Equal(y.all.Shape()) || !x.path[0].Shape().Equal(y.path[0].Shape()) {
		return false
	}
	return slices.Equal(slices.Collect(x.path[0].OperandIDs())[1:], slices.Collect(y.path[0].OperandIDs())[1:])
}

// isNeutral reports whether folding with a value changes nothing.
func isNeutral(in hlo.Instruction, op hlo.Opcode) bool {
	l, ok := match.SplatValue(in)
	if !ok {
		return false
	}
	t := l.Shape().Type()
	switch op {
	case hlo.OpAdd, hlo.OpOr, hlo.OpXor:
		return l.Equal(emit.Zero(t))
	case hlo.OpMultiply:
		return l.Equal(emit.Number(t, 1))
	case hlo.OpMaximum:
		return l.Equal(emit.Lowest(t))
	case hlo.OpMinimum:
		return l.Equal(emit.Highest(t))
	}
	return false
}

// behindSlice makes ds(ar(x)) + ds(ar(y)) into ds(ar(x + y)).
func (r *reassociating) behindSlice(in hlo.Instruction, x, y reduced) error {
	at, gone := emit.Before(r.c, in), append(x.ids(), y.ids()...)
	id, op, attrs := in.ID(), in.Opcode(), in.Attrs()
	all, slice := emit.Again(x.all), emit.Again(x.path[0])
	sum := at.Spec(hlo.InstrSpec{Opcode: op, Attrs: attrs, Shape: all.Shape, Operands: []hlo.InstrID{x.all.Operand(0), y.all.Operand(0)}})
	slice.Operands[0] = at.Spec(emit.With(all, sum))
	if err := emit.Replace(r.c, id, at.Spec(slice)); err != nil {
		return err
	}
	return r.drop(gone)
}

// ids lists the instructions of a trace, from the value down.
func (t reduced) ids() (ids []hlo.InstrID) {
	for _, p := range t.path {
		ids = append(ids, p.ID())
	}
	return append(ids, t.all.ID())
}

// lift takes the reductions away below in, and reduces what it computes.
func (r *reassociating) lift(in hlo.Instruction, x, y reduced) error {
	id, op, shape, gone := in.ID(), in.Opcode(), in.Shape(), []hlo.InstrID{x.all.ID(), y.all.ID()}
	spec := emit.With(emit.Again(x.all), id)
	type edge struct{ user, from, to hlo.InstrID }
	var edges []edge
	for _, t := range []reduced{x, y} {
		user := id
		if n := len(t.path); n > 0 {
			user = t.path[n-1].ID()
		}
		edges = append(edges, edge{user, t.all.ID(), t.all.Operand(0)})
	}
	for _, e := range edges {
		useInstead(r.c, e.user, e.from, e.to)
	}
	if spec.Shape.Type() != shape.Type() {
		spec.Callees = []hlo.CompID{emit.BinaryComputation(r.e, op, shape.Type())}
	}
	spec.Shape = shape
	users := slices.Collect(r.c.Users(id))
	isRoot := r.c.Root() == id
	all := r.c.AddSpec(spec).ID()
	for _, u := range users {
		useInstead(r.c, u, id, all)
	}
	if isRoot {
		r.c.SetRoot(all)
	}
	if err := r.drop(gone); err != nil {
		return err
	}
	emit.Reorder(r.c)
	return nil
}

// useInstead makes one user use another value.
func useInstead(c hlo.CompEdit, user, from, to hlo.InstrID) {
	operands := slices.Collect(c.At(user).OperandIDs())
	for i, o := range operands {
		if o == from {
			operands[i] = to
		}
	}
	c.Instr(user).SetOperands(operands...)
}

// drop removes what has lost its users.
func (r *reassociating) drop(ids []hlo.InstrID) error {
	for _, id := range ids {
		if r.c.Has(id) && r.c.UserCount(id) == 0 && r.c.Root() != id {
			if err := r.c.Remove(id); err != nil {
				return err
			}
		}
	}
	r.ctx.Count("reduced-once", 1)
	return nil
}
