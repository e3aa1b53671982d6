package types

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const elementDoc = `convert ops of types that a backend lacks to another type

Every op with an operand or a result of the type eliminate-type computes in replace-with-type, between conversions. Ops that only hand values on stay, and those with
computations that they apply or run.`

// NewElementTypeConverter makes the pass element-type-converter.
func NewElementTypeConverter(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("eliminate-type", "replace-with-type"); err != nil {
		return nil, err
	}
	from, err := typeOf(o.Text("eliminate-type", "bf16"))
	if err != nil {
		return nil, err
	}
	to, err := typeOf(o.Text("replace-with-type", "f32"))
	if err != nil {
		return nil, err
	}
	params := []pass.Param{{Name: "eliminate-type", Doc: "the type to avoid; bf16"}, {Name: "replace-with-type", Doc: "the type to compute in; f32"}}
	return &pass.Pass{Name: "element-type-converter", Doc: elementDoc, Options: o, Params: params, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		if pass.Fact(ctx, m, closedOrCollective)[c.ID()] {
			return nil
		}
		for in := range m.MustComputation(c.ID()).PostOrder() {
			if handsOn(in) || in.NumCallees() > 0 || hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective) {
				continue
			}
			found := in.NumOperands() == 0 && has(in.Shape(), from)
			for o := range in.Operands() {
				found = found || has(o.Shape(), from)
			}
			if !found || !ctx.Spend("convert") {
				continue
			}
			if err := computeIn(c, in, from, to); err != nil {
				return err
			}
			ctx.Count("ops", 1)
		}
		return nil
	}}, nil
}

func has(s hlo.Shape, t hlo.PrimitiveType) bool {
	for _, l := range leavesOf(s) {
		if l == t {
			return true
		}
	}
	return false
}

// computeIn puts an op in another type between conversions.
func computeIn(c hlo.CompEdit, in hlo.Instruction, from, to hlo.PrimitiveType) error {
	at, spec := emit.Before(c, c.At(in.ID())), emit.Again(c.At(in.ID()))
	shape := spec.Shape
	for i, o := range spec.Operands {
		if s := at.Shape(o); s.IsArray() && s.Type() == from {
			spec.Operands[i] = at.Convert(o, to)
		}
	}
	spec.Shape = retyped(shape, from, to)
	if has(shape, from) {
		spec.Common = nil
	}
	x := at.Spec(spec)
	for _, u := range slices.Collect(c.ControlSuccessors(in.ID())) { // what waits for the op waits for it, not for the conversions
		c.Instr(u).RemoveControlPredecessor(in.ID()).AddControlPredecessor(x)
	}
	for _, p := range spec.Control {
		c.Instr(in.ID()).RemoveControlPredecessor(p)
	}
	switch {
	case shape.IsTuple():
		parts := make([]hlo.InstrID, shape.NumElems())
		for i := range parts {
			parts[i] = at.Convert(at.Element(x, i), shape.Elem(i).Type())
		}
		x = at.OpOf(hlo.OpTuple, shape, nil, parts...)
	case shape.Type() == from:
		x = at.OpOf(hlo.OpConvert, shape, nil, x)
	}
	return emit.Replace(c, in.ID(), x)
}
