package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
	"github.com/gohalo/halo/passes/emit"
)

const fusibleDoc = `recompute cheap loop-invariant values in every round if their operands are smaller

A part of the state that the body hands on untouched, and that is made of iotas, broadcasts and elementwise ops at first, is made anew inside: of what those are made from, which
becomes part of the state in its place. Masks are the usual case: fused into what reads them, they need no memory.

A part that the body reads and writes, and that is a constant repeated at first, begins as storage without contents, AllocateBuffer, if the loop is known to run: the first round
selects the constant instead.`

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
					s.plumb()
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
	begun  int // fusible instructions that have been met
}

func (s *fusing) sink() error {
	init := s.c.At(s.c.At(s.while).Operand(0))
	if !s.splits(init) {
		return nil
	}
	b := s.body.View()
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
	var known idmap.Set[hlo.InstrID]
	for _, t := range trees {
		for _, l := range t.leaves {
			if !known.Has(l) {
				known.Add(l)
				leaves = append(leaves, l)
			}
		}
	}
	place, err := s.carry(leaves)
	if err != nil {
		return err
	}
	root, param := s.body.Root(), s.body.View().Parameters()[0]
	results := slices.Collect(s.body.At(root).OperandIDs()) // the state is large: it is written once
	again := map[hlo.InstrID]hlo.InstrID{}                  // element of the state → what is made anew
	for _, t := range trees {
		element := results[t.part]
		at := emit.Before(s.body, s.body.At(element))
		made := map[hlo.InstrID]hlo.InstrID{}
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
		again[element] = last
		for _, u := range slices.Collect(s.body.Users(element)) {
			if u == root {
				continue
			}
			operands := slices.Collect(s.body.At(u).OperandIDs())
			for j, o := range operands {
				if o == element {
					operands[j] = last
				}
			}
			s.body.Instr(u).SetOperands(operands...)
		}
		s.ctx.Count("values", 1)
	}
	for j, o := range results {
		if last, ok := again[o]; ok && hlo.AttrsOf[hlo.TupleElementAttrs](s.body.At(o)).Index != int64(j) {
			results[j] = last
		}
	}
	s.body.Instr(root).SetOperands(results...)
	emit.Reorder(s.body)
	return nil
}

// splits reports whether the state is put together of parts in front of the loop and by its body, and no sharding speaks of all of it.
func (s *fusing) splits(init hlo.Instruction) bool {
	b, c := s.body.View(), s.cond.View()
	return init.Opcode() == hlo.OpTuple && b.NumParameters() == 1 && c.NumParameters() == 1 && b.Root().Opcode() == hlo.OpTuple && b.Root().UserCount() == 0 && !b.Parameter(0).IsRoot() &&
		!analysis.IsSharded(s.c.At(s.while)) && !analysis.IsSharded(b.Root()) && !analysis.IsSharded(b.Parameter(0))
}

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
	if t.begun++; t.begun > maxTree { // before what is below is looked at, which may be much
		return false
	}
	for o := range in.Operands() {
		if !s.grow(t, o) {
			return false
		}
	}
	spec := emit.Again(in)
	spec.Control = nil
	t.ids, t.ops = append(t.ids, in.ID()), append(t.ops, spec)
	return true
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
	return in.IsElementwise() && in.NumOperands() > 0
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
	var part idmap.Map[hlo.InstrID, int] // from 1 on: the first part of the state that an operand is
	for i, o := range init.Operands[:n] {
		if at := part.At(o); *at == 0 {
			*at = i + 1
		}
	}
	for _, l := range leaves {
		if i := part.Get(l) - 1; i >= 0 && handsOn(s.body.View(), i, s.c.At(l).Shape()) {
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
	s.while = loop
	pass.Release(s.c, was, nil)
	return place, nil
}
