package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// parts lists which parts of a tuple are read, when nothing but get-tuple-element reads it.
func parts(c hlo.CompEdit, id hlo.InstrID) (read []bool, ok bool) {
	in := c.At(id)
	if !in.Shape().IsTuple() || in.IsRoot() {
		return nil, false
	}
	read = make([]bool, in.Shape().NumElems())
	for u := range in.Users() {
		if u.Opcode() != hlo.OpGetTupleElement {
			return nil, false
		}
		read[hlo.AttrsOf[hlo.TupleElementAttrs](u).Index] = true
	}
	return read, true
}

// mergeResults makes readers of a part that is the same value as an earlier one in every branch read that one.
func (k *conditional) mergeResults() error {
	in := k.c.At(k.id)
	if _, ok := parts(k.c, k.id); !ok {
		return nil
	}
	var roots []hlo.Instruction
	for id := range in.Callees() {
		root := k.e.View(id).Root()
		if root.Opcode() != hlo.OpTuple {
			return nil
		}
		roots = append(roots, root)
	}
	first := map[int]int{}
	for i := range in.Shape().NumElems() {
		for j := range i {
			if !slices.ContainsFunc(roots, func(r hlo.Instruction) bool { return r.Operand(i) != r.Operand(j) }) {
				first[i] = j
				break
			}
		}
	}
	for _, u := range slices.Collect(k.c.Users(k.id)) {
		a := hlo.AttrsOf[hlo.TupleElementAttrs](k.c.At(u))
		if j, ok := first[int(a.Index)]; ok && k.ctx.Spend("same-result") {
			k.c.Instr(u).SetAttrs(&hlo.TupleElementAttrs{Index: int64(j)})
			k.ctx.Count("same-result", 1)
		}
	}
	return nil
}

// dropResults takes parts of the result that nothing reads out of all branches.
func (k *conditional) dropResults() error {
	in := k.c.At(k.id)
	read, ok := parts(k.c, k.id)
	if !ok || !slices.Contains(read, false) || in.Common() != nil && in.Common().Sharding != nil || !k.ctx.Spend("result") {
		return nil
	}
	var kept []int
	var shapes []hlo.Shape
	place := map[int64]int64{}
	for i, r := range read {
		if r {
			place[int64(i)] = int64(len(kept))
			kept, shapes = append(kept, i), append(shapes, in.Shape().Elem(i))
		}
	}
	for i := range in.NumCallees() {
		b := k.own(i)
		root := b.At(b.Root())
		at := emit.End(b)
		var elems []hlo.InstrID
		if root.Opcode() == hlo.OpTuple {
			for _, j := range kept {
				elems = append(elems, root.Operand(j))
			}
		} else {
			for _, j := range kept {
				elems = append(elems, at.Element(root.ID(), j))
			}
		}
		old := b.Root()
		b.SetRoot(at.Tuple(elems...))
		pass.Release(b, old, nil)
	}
	emit.Narrow(k.c.Instr(k.id), hlo.MakeTuple(shapes...), read)
	for _, u := range slices.Collect(k.c.Users(k.id)) {
		k.c.Instr(u).SetAttrs(&hlo.TupleElementAttrs{Index: place[hlo.AttrsOf[hlo.TupleElementAttrs](k.c.At(u)).Index]})
	}
	k.ctx.Count("results", int64(len(read)-len(kept)))
	return nil
}

// dropArguments takes parts of arguments that a branch does not read away from it.
func (k *conditional) dropArguments() error {
	for i := range k.c.At(k.id).NumCallees() {
		callee := k.c.At(k.id).Callee(i)
		b := k.e.Computation(callee)
		if b.View().NumParameters() != 1 {
			continue
		}
		read, ok := parts(b, b.View().Parameters()[0])
		if p := b.View().Parameter(0); !ok || !slices.Contains(read, false) || p.Common() != nil && p.Common().Sharding != nil || !k.ctx.Spend("argument") {
			continue
		}
		b = k.own(i)
		p := b.View().Parameters()[0]
		arg := k.c.At(k.id).OperandInstr(i + 1)
		var elems []hlo.InstrID
		at := emit.At{C: k.c, Before: k.id}
		n := int64(0)
		place := map[int64]int64{}
		isTuple, given := arg.Opcode() == hlo.OpTuple, slices.Collect(arg.OperandIDs())
		argID := arg.ID()
		for j, r := range read {
			if !r {
				continue
			}
			place[int64(j)] = n
			n++
			if isTuple {
				elems = append(elems, given[j])
			} else {
				elems = append(elems, at.Element(argID, j))
			}
		}
		tuple := at.Tuple(elems...)
		k.c.Instr(k.id).SetOperand(i+1, tuple)
		pass.Release(k.c, argID, nil)
		emit.Narrow(b.Instr(p), k.c.At(tuple).Shape(), read)
		for _, u := range slices.Collect(b.Users(p)) {
			b.Instr(u).SetAttrs(&hlo.TupleElementAttrs{Index: place[hlo.AttrsOf[hlo.TupleElementAttrs](b.At(u)).Index]})
		}
		k.ctx.Count("arguments", int64(len(read))-n)
	}
	return nil
}

// selectBoth computes both branches of a conditional of two, if that is cheap, and selects.
func (k *conditional) selectBoth() (bool, error) {
	in := k.c.At(k.id)
	if in.NumCallees() != 2 || in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 || k.effects.Of(in) || !selectable(in.Shape()) ||
		in.Common() != nil && in.Common().Sharding != nil && in.Shape().IsTuple() {
		return false, nil
	}
	n := 0
	for id := range in.Callees() {
		if k.e.View(id).NumParameters() != 1 || id < k.m.CompIDLimit() && k.effects.OfComputation(id) {
			return false, nil
		}
		for x := range k.e.View(id).Instructions() {
			if !cheap(x) {
				return false, nil
			}
			n++
		}
	}
	if !k.ctx.SpendOn("select", pass.Cost{Instructions: n}) {
		return false, nil
	}
	callees, operands := slices.Collect(in.Callees()), slices.Collect(in.OperandIDs())
	shape, index := in.Shape(), in.OperandInstr(0).Shape()
	at := emit.Before(k.c, in)
	pred := operands[0]
	yes := InlineBefore(k.c, k.id, k.e.View(callees[0]), operands[1:2])
	no := InlineBefore(k.c, k.id, k.e.View(callees[1]), operands[2:3])
	if index.Type() != hlo.PRED {
		pred = at.Compare(hlo.EQ, pred, at.Int(index.Type(), 0))
	}
	k.ctx.Count("conditionals", 1)
	return true, k.c.ReplaceInstruction(k.id, selectLeaves(at, pred, yes, no, shape))
}

// selectable reports whether every leaf is an array of fixed size.
func selectable(s hlo.Shape) bool {
	ok := true
	for _, leaf := range s.Leaves {
		ok = ok && leaf.IsArray() && leaf.IsStatic()
		if !ok {
			break
		}
	}
	return ok
}

// cheap reports whether computing an instruction for nothing does little harm.
func cheap(in hlo.Instruction) bool {
	if in.NumControlPredecessors() > 0 || in.NumCallees() > 0 {
		return false
	}
	t := hlo.Info(in.Opcode()).Traits
	const no = hlo.TraitSideEffect | hlo.TraitCollective | hlo.TraitControl | hlo.TraitTokens | hlo.TraitRandom | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	if t&no != 0 {
		return false
	}
	return in.IsElementwise() || t.Has(hlo.TraitNullaryValue) || t.Has(hlo.TraitForwards) || t.Has(hlo.TraitMovesData) && in.Opcode() != hlo.OpGather || in.Opcode() == hlo.OpParameter
}

// selectLeaves selects each array of a tuple.
func selectLeaves(at emit.At, pred, yes, no hlo.InstrID, s hlo.Shape) hlo.InstrID {
	if !s.IsTuple() {
		return at.OpOf(hlo.OpSelect, s, nil, at.Fill(pred, s.Dimensions()...), yes, no)
	}
	elems := make([]hlo.InstrID, s.NumElems())
	for i := range elems {
		elems[i] = selectLeaves(at, pred, at.Element(yes, i), at.Element(no, i), s.Elem(i))
	}
	return at.OpOf(hlo.OpTuple, s, nil, elems...)
}
