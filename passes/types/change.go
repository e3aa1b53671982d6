package types

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const changeDoc = `compute chosen ops in another type

An op all of whose operands and results have one of the types in from-to-types, or from-ty, computes in the other one, between conversions. op-matcher chooses ops by opcode.
What an op applies to elements is changed with it.`

// NewChange makes the pass change-op-data-type.
func NewChange(o pass.Options) (*pass.Pass, error) {
	params := []pass.Param{
		{Name: "from-to-types", Doc: "pairs of types: [[u16,u32],[s16,s32]]"},
		{Name: "from-ty", Doc: "the type to change, f16"}, {Name: "to-ty", Doc: "the type to compute in, f32"},
		{Name: "op-matcher", Doc: "the opcodes to change, all; after one type in from-to-types the type to compute in, as in XLA's second constructor"},
		{Name: "cloner", Doc: "read for XLA's sake: ops are made again in one way"},
	}
	var known []string
	for _, p := range params {
		known = append(known, p.Name)
	}
	if err := o.Known(known...); err != nil {
		return nil, err
	}
	pairs := map[hlo.PrimitiveType]hlo.PrimitiveType{}
	list, given := o.List("from-to-types")
	if given && len(list) > 0 && list[0] != "" && list[0][0] == '[' {
		var err error
		if pairs, err = Pairs(list); err != nil {
			return nil, err
		}
	} else { // one type: XLA's second constructor has the other type where the first has the matcher
		second := "f32"
		if isType(o.Text("op-matcher", "")) {
			second = o.Text("op-matcher", "")
		}
		from, err := typeOf(o.Text("from-ty", o.Text("from-to-types", "f16")))
		if err != nil {
			return nil, err
		}
		to, err := typeOf(o.Text("to-ty", second))
		if err != nil {
			return nil, err
		}
		pairs[from] = to
	}
	match := opcodes{all: true}
	if names, ok := o.List("op-matcher"); ok && !(len(names) == 1 && isType(names[0])) {
		var err error
		if match, err = readOpcodes(names); err != nil {
			return nil, err
		}
	}
	return &pass.Pass{Name: "change-op-data-type", Doc: changeDoc, Options: o, Params: params, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		return Change(ctx, m, pairs, func(in hlo.Instruction) bool { return match.has(in.Opcode()) && in.NumCallees() == 0 && !handsOn(in) })
	}}, nil
}

func isType(name string) bool {
	_, err := typeOf(name)
	return err == nil
}

// Pairs reads pairs of types from an option: [[u16,u32],[s16,s32]].
func Pairs(list pass.List) (map[hlo.PrimitiveType]hlo.PrimitiveType, error) {
	pairs := map[hlo.PrimitiveType]hlo.PrimitiveType{}
	for i := range list {
		names := list.Sub(i)
		if len(names) != 2 {
			return nil, fmt.Errorf("%s: want a pair of types, [from,to]", list[i])
		}
		from, err := typeOf(names[0])
		if err != nil {
			return nil, err
		}
		if pairs[from], err = typeOf(names[1]); err != nil {
			return nil, err
		}
	}
	return pairs, nil
}

// Change computes the ops that want chooses in other types, if all that they take and return has one type of which pairs has another.
func Change(ctx *pass.Context, m hlo.Module, pairs map[hlo.PrimitiveType]hlo.PrimitiveType, want func(hlo.Instruction) bool) (hlo.Module, error) {
	closed := closedOrCollective(m)
	e := ctx.Edit(m)
	for c := range m.Computations() {
		if closed[c.ID()] {
			continue
		}
		for in := range c.Instructions() {
			if !in.Shape().IsArray() || in.NumOperands() == 0 || !want(in) {
				continue
			}
			from := in.Shape().Type()
			to, ok := pairs[from]
			for o := range in.Operands() {
				ok = ok && o.Shape().IsArray() && o.Shape().Type() == from
			}
			if !ok || !ctx.Spend("change") {
				continue
			}
			ce := e.Computation(c.ID())
			at, spec := emit.Before(ce, ce.At(in.ID())), emit.Again(ce.At(in.ID()))
			for i, o := range spec.Operands {
				spec.Operands[i] = at.Convert(o, to)
			}
			for i, id := range spec.Callees {
				spec.Callees[i] = inType(e, id, from, to)
			}
			spec.Shape = spec.Shape.WithType(to)
			if err := ce.ReplaceInstruction(in.ID(), at.OpOf(hlo.OpConvert, in.Shape(), nil, at.Spec(spec))); err != nil {
				return m, err
			}
			ctx.Count("ops", 1)
		}
	}
	return e.Freeze(), nil
}

// inType is a copy of a computation with one type in the place of another.
func inType(e *hlo.Editor, id hlo.CompID, from, to hlo.PrimitiveType) hlo.CompID {
	v := e.View(id)
	var params []hlo.Shape
	for _, s := range v.Signature().Parameters {
		params = append(params, retyped(s, from, to))
	}
	return emit.Computation(e, v.Name()+".promoted", params, func(at emit.At, ids []hlo.InstrID) hlo.InstrID {
		copied := map[hlo.InstrID]hlo.InstrID{}
		for k, p := range v.Parameters() {
			copied[p] = ids[k]
		}
		for _, in := range slices.Collect(v.PostOrder()) {
			if in.Opcode() == hlo.OpParameter {
				continue
			}
			spec := emit.Again(in)
			for k, o := range spec.Operands {
				spec.Operands[k] = copied[o]
			}
			if in.Opcode() == hlo.OpConstant && in.Shape().Type() == from {
				copied[in.ID()] = at.Convert(at.Spec(spec), to)
				continue
			}
			spec.Shape = retyped(spec.Shape, from, to)
			copied[in.ID()] = at.Spec(spec)
		}
		return copied[v.Root().ID()]
	})
}
