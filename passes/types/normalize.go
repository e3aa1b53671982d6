package types

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const normalizationDoc = `widen ops that a backend lacks in a narrow type

Operands that an op does not take in the narrow type are converted before it, and results that it does not return in it behind it. An op that takes
operands of both types at once only where mixed-precision names it computes in the wider type. What reductions apply keeps its narrow arithmetic, between
conversions; a reduction may round otherwise than one in the narrow type.`

// NewFloatNormalization makes the pass float-normalization.
func NewFloatNormalization(o pass.Options) (*pass.Pass, error) {
	s, err := readSupport(o)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "float-normalization", Doc: normalizationDoc, Options: o, Params: supportParams, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		closed := closedOrCollective(m)
		e := ctx.Edit(m)
		for c := range m.Computations() {
			if closed[c.ID()] {
				continue
			}
			n := &normalizing{support: s, ctx: ctx, e: e, c: e.Computation(c.ID())}
			for _, in := range slices.Collect(c.PostOrder()) {
				if !handsOn(in) {
					n.at(in.ID())
				}
			}
		}
		return e.Freeze(), nil
	}}, nil
}

// apart is a set of computations, a fact of its own.
type apart map[hlo.CompID]bool

// closedOrCollective is the computations that are left alone: those of fusions and asynchronous instructions, and what collectives reduce with.
func closedOrCollective(m hlo.Module) apart {
	set := apart{}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if t := hlo.Info(in.Opcode()).Traits; in.Opcode() == hlo.OpFusion || in.Opcode() == hlo.OpAsyncStart || t.Has(hlo.TraitCollective) {
				for id := range in.Callees() {
					set[id] = true
				}
			}
		}
	}
	return set
}

type normalizing struct {
	support
	ctx *pass.Context
	e   *hlo.Editor
	c   hlo.CompEdit
}

// at looks at one instruction: first at what it takes and returns, then at the mixture.
func (n *normalizing) at(id hlo.InstrID) {
	in := n.c.At(id)
	op := in.Opcode()
	if !slices.Contains(n.typesAround(in), n.low) {
		return
	}
	var wide []int // operands to convert
	for i := range in.NumOperands() {
		if in.OperandInstr(i).Shape().IsArray() && in.OperandInstr(i).Shape().Type() == n.low && !n.takes(op, i) {
			wide = append(wide, i)
		}
	}
	returns := slices.Contains(leavesOf(in.Shape()), n.low)
	widen := returns && !n.output.has(op)
	if len(wide) > 0 || widen {
		if !n.ctx.Spend("widen") {
			return
		}
		n.change(id, wide, widen, n.low, n.high)
		in = n.c.At(id)
	}
	low, high := 0, 0
	for _, t := range n.typesAround(in) {
		switch t {
		case n.low:
			low++
		case n.high:
			high++
		}
	}
	if low == 0 || high == 0 || n.mixed.has(op) || op == hlo.OpTuple || !n.ctx.Spend("mixture") {
		return
	}
	results := leavesOf(in.Shape())
	if in.Shape().IsTuple() && !slices.Contains(results, n.high) && n.output.has(op) && n.takes(op, 0) { // all results are narrow: so are the operands then
		n.change(id, n.operandsOf(in, n.high), false, n.high, n.low)
		return
	}
	n.change(id, n.operandsOf(in, n.low), slices.Contains(results, n.low), n.low, n.high)
}

// takes reports whether an op takes the narrow type for operand i. Of dot it may be the first alone.
func (n *normalizing) takes(op hlo.Opcode, _ int) bool { return n.operand.has(op) }

func (n *normalizing) typesAround(in hlo.Instruction) []hlo.PrimitiveType {
	types := leavesOf(in.Shape())
	for o := range in.Operands() {
		types = append(types, leavesOf(o.Shape())...)
	}
	return types
}

func (n *normalizing) operandsOf(in hlo.Instruction, t hlo.PrimitiveType) (some []int) {
	for i := range in.NumOperands() {
		if s := in.OperandInstr(i).Shape(); s.IsArray() && s.Type() == t {
			some = append(some, i)
		}
	}
	return some
}

// change converts operands, and computes the result in another type, with conversions back behind it.
func (n *normalizing) change(id hlo.InstrID, operands []int, result bool, from, to hlo.PrimitiveType) {
	at := emit.Before(n.c, n.c.At(id))
	ids := slices.Collect(n.c.At(id).OperandIDs())
	converted := map[hlo.InstrID]hlo.InstrID{}
	for _, i := range operands {
		if converted[ids[i]] == 0 {
			converted[ids[i]] = at.Convert(ids[i], to)
		}
		ids[i] = converted[ids[i]]
	}
	n.c.Instr(id).SetOperands(ids...)
	if t := hlo.Info(n.c.At(id).Opcode()).Traits; t.Has(hlo.TraitApply) && !t.Has(hlo.TraitCollective) {
		n.wrapCallees(id, from, to)
	}
	if result {
		n.changeResult(id, from, to)
	}
	n.ctx.Count("changed", 1)
}

// changeResult gives an instruction another type, and its users the old one.
func (n *normalizing) changeResult(id hlo.InstrID, from, to hlo.PrimitiveType) {
	old := n.c.At(id).Shape()
	users, isRoot := slices.Collect(n.c.Users(id)), n.c.Root() == id
	n.c.Instr(id).SetShape(retyped(old, from, to))
	at := n.behind(id)
	var back hlo.InstrID
	if old.IsTuple() {
		parts := make([]hlo.InstrID, old.NumElems())
		for i := range parts {
			parts[i] = at.Convert(at.Element(id, i), old.Elem(i).Type())
		}
		back = at.OpOf(hlo.OpTuple, old, nil, parts...)
	} else {
		back = at.OpOf(hlo.OpConvert, old, nil, id)
	}
	for _, u := range users {
		operands := slices.Collect(n.c.At(u).OperandIDs())
		for i, o := range operands {
			if o == id {
				operands[i] = back
			}
		}
		n.c.Instr(u).SetOperands(operands...)
	}
	if isRoot {
		n.c.SetRoot(back)
	}
}

// behind is the place behind an instruction.
func (n *normalizing) behind(id hlo.InstrID) emit.At {
	at := emit.Before(n.c, n.c.At(id))
	at.Before = hlo.NoInstr
	next := false
	for in := range n.c.View().Instructions() {
		if next {
			at.Before = in.ID()
			break
		}
		next = in.ID() == id
	}
	return at
}

// flat reports whether a shape is an array or a tuple of arrays.
func flat(s hlo.Shape) bool {
	if !s.IsTuple() {
		return s.IsArray()
	}
	return !slices.ContainsFunc(s.Elems(), func(e hlo.Shape) bool { return !e.IsArray() })
}

// wrapCallees makes what is applied to elements take and return the other type, with conversions at its edges.
func (n *normalizing) wrapCallees(id hlo.InstrID, from, to hlo.PrimitiveType) {
	for i, callee := range slices.Collect(n.c.At(id).Callees()) {
		v := n.e.View(callee)
		sig := v.Signature()
		if !slices.ContainsFunc(append(sig.Parameters, sig.Result), func(s hlo.Shape) bool { return slices.Contains(leavesOf(s), from) }) || !flat(v.Root().Shape()) {
			continue
		}
		var params []hlo.Shape
		for _, p := range sig.Parameters {
			params = append(params, retyped(p, from, to))
		}
		wrapped := emit.Computation(n.e, v.Name(), params, func(at emit.At, ids []hlo.InstrID) hlo.InstrID {
			copied := map[hlo.InstrID]hlo.InstrID{}
			for k, p := range v.Parameters() {
				copied[p] = at.Convert(ids[k], sig.Parameters[k].Type())
			}
			for in := range v.PostOrder() {
				if in.Opcode() == hlo.OpParameter {
					continue
				}
				spec := emit.Again(in)
				for k, o := range spec.Operands {
					spec.Operands[k] = copied[o]
				}
				spec.Control = nil
				copied[in.ID()] = at.Spec(spec)
			}
			root := copied[v.Root().ID()]
			if s := v.Root().Shape(); s.IsTuple() {
				parts := make([]hlo.InstrID, s.NumElems())
				for k := range parts {
					parts[k] = at.Element(root, k)
					if s.Elem(k).Type() == from {
						parts[k] = at.Convert(parts[k], to)
					}
				}
				return at.Tuple(parts...)
			}
			if at.Shape(root).Type() == from {
				root = at.Convert(root, to)
			}
			return root
		})
		n.c.Instr(id).SetCallee(i, wrapped)
	}
}
