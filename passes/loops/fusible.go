package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const fusibleDoc = `recompute cheap loop-invariant values in every round if their operands are smaller

A part of the state that the body hands on untouched, and that is made of iotas, broadcasts and elementwise ops at first, is made anew inside: of what those are made from, which
becomes part of the state in its place. Masks are the usual case: fused into what reads them, they need no memory.`

// NewFusibleSinking makes the pass while-loop-fusible-sinking.
func NewFusibleSinking(o pass.Options) (*pass.Pass, error) {
	const key = "sink-broadcast-of-constant"
	if err := o.Known(key); err != nil {
		return nil, err
	}
	constants, err := o.BoolOr(key, true)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "while-loop-fusible-sinking", Doc: fusibleDoc, Options: o, Params: []pass.Param{{Name: key, Doc: "also what is a broadcast of a constant alone; true"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			for c := range m.PostOrder() {
				for in := range c.Instructions() {
					if in.Opcode() != hlo.OpWhile || !ownsCallees(m, in) {
						continue
					}
					s := &fusing{ctx: ctx, c: e.Computation(c.ID()), while: in.ID(), body: e.Computation(body(m, in).ID()), cond: e.Computation(condition(m, in).ID()), constants: constants}
					if err := s.sink(); err != nil {
						return m, err
					}
				}
			}
			return e.Freeze(), nil
		}}, nil
}

// fusing is the work on one loop.
type fusing struct {
	ctx        *pass.Context
	c          hlo.CompEdit
	while      hlo.InstrID
	body, cond hlo.CompEdit
	constants  bool
}

// tree is a value that is made again inside: its instructions, operands first, and what they are made from.
type tree struct {
	part   int
	ops    []hlo.InstrSpec
	ids    []hlo.InstrID // of ops
	leaves []hlo.InstrID
}

func (s *fusing) sink() error {
	init := s.c.At(s.c.At(s.while).Operand(0))
	b, c := s.body.View(), s.cond.View()
	if init.Opcode() != hlo.OpTuple || b.NumParameters() != 1 || c.NumParameters() != 1 || b.Root().Opcode() != hlo.OpTuple || b.Root().UserCount() > 0 || b.Parameter(0).IsRoot() ||
		hasSharding(s.c.At(s.while)) || hasSharding(b.Root()) || hasSharding(b.Parameter(0)) {
		return nil
	}
	var trees []tree
	for i := range init.NumOperands() {
		v := init.OperandInstr(i)
		if !handsOn(b, i, v.Shape()) || b.Root().OperandInstr(i).UserCount() < 2 {
			continue
		}
		t := tree{part: i}
		if s.grow(&t, v) && s.pays(&t, v) && s.ctx.Spend("sink") {
			trees = append(trees, t)
		}
	}
	if len(trees) == 0 {
		return nil
	}
	var leaves []hlo.InstrID
	for _, t := range trees {
		for _, l := range t.leaves {
			if !slices.Contains(leaves, l) {
				leaves = append(leaves, l)
			}
		}
	}
	place, err := s.carry(leaves)
	if err != nil {
		return err
	}
	for _, t := range trees {
		element := s.body.At(s.body.Root()).Operand(t.part)
		at := emit.Before(s.body, s.body.At(element))
		made := map[hlo.InstrID]hlo.InstrID{}
		param := s.body.View().Parameters()[0]
		for _, l := range t.leaves {
			made[l] = at.Element(param, place[l])
		}
		var last hlo.InstrID
		for k, op := range t.ops {
			for j, o := range op.Operands {
				op.Operands[j] = made[o]
			}
			last = at.Spec(op)
			made[t.ids[k]] = last
		}
		root := s.body.Root()
		for _, u := range slices.Collect(s.body.Users(element)) {
			operands := slices.Collect(s.body.At(u).OperandIDs())
			for j, o := range operands {
				if o == element && !(u == root && j == t.part) {
					operands[j] = last
				}
			}
			s.body.Instr(u).SetOperands(operands...)
		}
		s.ctx.Count("values", 1)
	}
	emit.Reorder(s.body)
	return nil
}

func hasSharding(in hlo.Instruction) bool { return in.Common() != nil && in.Common().Sharding != nil }

// maxTree bounds what is made again in every round.
const maxTree = 64

// grow collects the ops of a value down to what is not to be made again.
func (s *fusing) grow(t *tree, in hlo.Instruction) bool {
	if slices.Contains(t.ids, in.ID()) || slices.Contains(t.leaves, in.ID()) {
		return true
	}
	if !fusible(in) {
		t.leaves = append(t.leaves, in.ID())
		return true
	}
	for o := range in.Operands() {
		if !s.grow(t, o) {
			return false
		}
	}
	spec := emit.Again(in)
	spec.Control = nil
	t.ids, t.ops = append(t.ids, in.ID()), append(t.ops, spec)
	return len(t.ids) <= maxTree
}

// fusible reports ops that cost little in a fusion.
func fusible(in hlo.Instruction) bool {
	t := hlo.Info(in.Opcode()).Traits
	if in.NumControlPredecessors() > 0 || in.NumCallees() > 0 || t.Has(hlo.TraitRandom) || t.Has(hlo.TraitSideEffect) || !in.Shape().IsArray() || !in.Shape().IsStatic() {
		return false
	}
	switch in.Opcode() {
	case hlo.OpIota, hlo.OpBroadcast:
		return true
	case hlo.OpConstant:
		return in.Shape().IsScalar() && in.Literal() != nil
	}
	return t.Has(hlo.TraitElementwise) && in.NumOperands() > 0
}

// pays reports whether what is carried gets smaller.
func (s *fusing) pays(t *tree, v hlo.Instruction) bool {
	if len(t.ids) == 0 || v.Opcode() == hlo.OpConstant {
		return false
	}
	if v.Opcode() == hlo.OpBroadcast && v.OperandInstr(0).Opcode() == hlo.OpConstant && !s.constants {
		return false
	}
	var bytes int64
	for _, l := range t.leaves {
		x := s.c.At(l)
		if !x.Shape().IsArray() {
			return false
		}
		bytes += x.Shape().ByteSize()
	}
	return bytes < v.Shape().ByteSize()
}

// carry adds values to the state, which the body hands on, and says which parts they are. Those that are parts already stay.
func (s *fusing) carry(leaves []hlo.InstrID) (map[hlo.InstrID]int, error) {
	place := map[hlo.InstrID]int{}
	spec := emit.Again(s.c.At(s.while))
	init := emit.Again(s.c.At(spec.Operands[0]))
	narrow := spec.Shape
	n := narrow.NumElems()
	var shapes []hlo.Shape
	var origins []*hlo.Origin
	var added []hlo.InstrID
	for _, l := range leaves {
		if i := slices.Index(init.Operands[:n], l); i >= 0 && handsOn(s.body.View(), i, s.c.At(l).Shape()) {
			place[l] = i
			continue
		}
		place[l] = n + len(added)
		added, shapes = append(added, l), append(shapes, s.c.At(l).Shape())
		origins = append(origins, originOf(s.c.At(l)))
	}
	if len(added) == 0 {
		return place, nil
	}
	state := hlo.MakeTuple(append(narrow.Elems(), shapes...)...)
	param, root := s.body.View().Parameters()[0], s.body.Root()
	results := slices.Collect(s.body.At(root).OperandIDs())
	widenState(s.body.Instr(param), state, origins)
	at := emit.At{C: s.body, Before: root}
	for k := range added {
		results = append(results, at.Element(param, n+k))
	}
	widenState(s.body.Instr(root).SetOperands(results...), state, origins)
	widenState(s.cond.Instr(s.cond.View().Parameters()[0]), state, origins)

	out := emit.Before(s.c, s.c.At(s.while))
	init.Shape, init.Operands, init.Common = state, append(init.Operands, added...), emit.WiderOrigin(init.Common, origins)
	was := spec.Operands[0]
	spec.Shape, spec.Operands, spec.Common = state, []hlo.InstrID{out.Spec(init)}, emit.WiderOrigin(spec.Common, origins)
	name := spec.Name
	loop := out.Spec(spec)
	parts := make([]hlo.InstrID, n)
	for i := range parts {
		parts[i] = out.Element(loop, i)
	}
	if err := s.c.ReplaceInstruction(s.while, out.OpOf(hlo.OpTuple, narrow, nil, parts...)); err != nil {
		return nil, err
	}
	s.c.Instr(loop).SetName(name)
	pass.Release(s.c, was, nil)
	return place, nil
}
