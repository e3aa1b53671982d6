package motion

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Moves into the branches of a conditional: users of its result that need nothing else, and operands that not every branch uses.

// moveUsersIn computes users of the conditional, and theirs, in every branch.
func (k *crossing) moveUsersIn(group []boundary) bool {
	k.look()
	moved := k.closed(group)
	if len(moved) == 0 {
		return false
	}
	set := map[hlo.InstrID]bool{}
	for _, in := range moved {
		set[in.ID()] = true
	}
	usedOutside := func(in hlo.Instruction) bool {
		outside := in.IsRoot()
		for u := range in.Users() {
			outside = outside || !set[u.ID()]
		}
		return outside
	}
	conditional := k.view.MustAt(k.id)
	isTuple := conditional.Shape().IsTuple()
	var kept []int // parts of the old result that are still read; -1 is all of it
	place := map[int]int{}
	keep := func(part int) {
		if _, ok := place[part]; !ok {
			place[part] = len(kept)
			kept = append(kept, part)
		}
	}
	isPart := func(in hlo.Instruction) bool {
		return isTuple && in.Opcode() == hlo.OpGetTupleElement && in.Operand(0) == k.id
	}
	for u := range conditional.Users() {
		switch {
		case isPart(u) && (!set[u.ID()] || usedOutside(u)):
			keep(int(hlo.AttrsOf[hlo.TupleElementAttrs](u).Index))
		case !isTuple && !set[u.ID()]:
			keep(-1)
		}
	}
	slices.Sort(kept)
	var shapes []hlo.Shape
	for i, part := range kept {
		place[part] = i
		if part < 0 {
			shapes = append(shapes, conditional.Shape())
		} else {
			shapes = append(shapes, conditional.Shape().Elem(part))
		}
	}
	type output struct {
		id    hlo.InstrID
		shape hlo.Shape
		index int
	}
	var outputs []output
	var clones []hlo.InstrSpec
	var ids, parts []hlo.InstrID
	constants := map[hlo.InstrID]hlo.InstrSpec{}
	for _, in := range moved {
		for o := range in.Operands() {
			if !set[o.ID()] && o.Opcode() == hlo.OpConstant {
				constants[o.ID()] = emit.Again(o)
			}
		}
		if isPart(in) {
			parts = append(parts, in.ID())
			continue
		}
		clones, ids = append(clones, emit.Again(in)), append(ids, in.ID())
		if usedOutside(in) {
			outputs = append(outputs, output{in.ID(), in.Shape(), len(shapes)})
			shapes = append(shapes, in.Shape())
		}
	}
	partOf := map[hlo.InstrID]int{}
	for u := range conditional.Users() {
		if isPart(u) {
			partOf[u.ID()] = int(hlo.AttrsOf[hlo.TupleElementAttrs](u).Index)
		}
	}
	users := slices.Collect(k.c.Users(k.id))
	for _, b := range k.branches {
		c := k.e.Computation(b.ID())
		at, root := emit.End(c), c.Root()
		rootIsTuple, elems := c.At(root).Opcode() == hlo.OpTuple, slices.Collect(c.At(root).OperandIDs())
		result := func(part int) hlo.InstrID {
			switch {
			case part < 0:
				return root
			case rootIsTuple:
				return elems[part]
			}
			return at.Element(root, part)
		}
		copied := map[hlo.InstrID]hlo.InstrID{}
		if !isTuple {
			copied[k.id] = root
		}
		for _, id := range parts {
			copied[id] = result(partOf[id])
		}
		for n, spec := range clones {
			operands := make([]hlo.InstrID, len(spec.Operands))
			for i, o := range spec.Operands {
				if _, ok := copied[o]; !ok {
					copied[o] = at.Spec(constants[o])
				}
				operands[i] = copied[o]
			}
			copied[ids[n]] = at.Spec(emit.With(spec, operands...))
		}
		var all []hlo.InstrID
		for _, part := range kept {
			all = append(all, result(part))
		}
		for _, o := range outputs {
			all = append(all, copied[o.id])
		}
		c.SetRoot(at.OpOf(hlo.OpTuple, hlo.MakeTuple(shapes...), nil, all...))
		pass.Release(c, root, nil)
		emit.Reorder(c)
	}
	emit.Retuple(k.c.Instr(k.id), hlo.MakeTuple(shapes...))
	at := emit.End(k.c)
	for _, u := range users {
		if part, ok := partOf[u]; ok {
			if to, ok := place[part]; ok {
				k.c.Instr(u).SetAttrs(&hlo.TupleElementAttrs{Index: int64(to)})
			}
		} else if !set[u] {
			emit.Redirect(k.c, []hlo.InstrID{u}, k.id, at.Element(k.id, place[-1]))
		}
	}
	for _, o := range outputs {
		v := at.Element(k.id, o.index)
		k.c.ReplaceAllUses(o.id, v)
		if k.c.Root() == o.id {
			k.c.SetRoot(v)
		}
	}
	for _, id := range slices.Backward(ids) {
		pass.Release(k.c, id, nil)
	}
	for _, id := range parts {
		pass.Release(k.c, id, nil)
	}
	return true
}

// closed are the instructions of a group, operands first, that need nothing but the conditional, one another and constants.
func (k *crossing) closed(group []boundary) (all []hlo.Instruction) {
	set := map[hlo.InstrID]bool{k.id: true}
	for _, in := range k.sorted(group) {
		set[in.ID()] = true
		for o := range in.Operands() {
			if !set[o.ID()] && o.Opcode() != hlo.OpConstant {
				set[in.ID()] = false
			}
		}
		if set[in.ID()] {
			all = append(all, in)
		}
	}
	return all
}

// sorted are the instructions of a group without effects, operands first.
func (k *crossing) sorted(group []boundary) (all []hlo.Instruction) {
	set, done := map[hlo.InstrID]bool{}, map[hlo.InstrID]bool{}
	for _, b := range group {
		if in, ok := k.view.At(b.ids[0]); ok && !k.effects.Of(in) {
			set[in.ID()] = true
		}
	}
	var visit func(in hlo.Instruction)
	visit = func(in hlo.Instruction) { // a group is at most maxBoundaries deep
		if !set[in.ID()] || done[in.ID()] {
			return
		}
		done[in.ID()] = true
		for o := range in.Operands() {
			visit(o)
		}
		all = append(all, in)
	}
	for _, b := range group {
		if in, ok := k.view.At(b.ids[0]); ok {
			visit(in)
		}
	}
	return all
}

// moveOperandsIn computes operands of the conditional in the branches that get them.
func (k *crossing) moveOperandsIn(group []boundary) bool {
	k.look()
	set := map[hlo.InstrID]bool{}
	var order []hlo.InstrID // of the group, operands first
	var specs []hlo.InstrSpec
	for _, in := range k.sorted(group) {
		set[in.ID()] = true
		order, specs = append(order, in.ID()), append(specs, emit.Again(in))
	}
	operands := slices.Collect(k.view.MustAt(k.id).OperandIDs())
	changed := false
	branches := slices.Collect(k.view.MustAt(k.id).Callees())
	for i, branch := range branches {
		value := operands[i+1]
		if !set[value] {
			continue
		}
		needed := map[hlo.InstrID]bool{value: true}
		var outside []hlo.InstrID
		for n := len(specs) - 1; n >= 0; n-- {
			if !needed[order[n]] {
				continue
			}
			for _, o := range specs[n].Operands {
				if !needed[o] && !set[o] {
					outside = append(outside, o)
				}
				needed[o] = true
			}
		}
		slices.Reverse(outside)
		k.computeInside(i, branch, value, outside, order, specs, needed)
		changed = true
	}
	return changed
}

// computeInside makes the parameter of a branch what a value is computed from, and computes it there.
func (k *crossing) computeInside(i int, branch hlo.CompID, value hlo.InstrID, outside, ids []hlo.InstrID, specs []hlo.InstrSpec, needed map[hlo.InstrID]bool) {
	c := k.e.Computation(branch)
	param := c.View().Parameters()[0]
	users, isRoot := slices.Collect(c.Users(param)), c.Root() == param
	tuple := emit.At{C: k.c, Before: k.id}.Tuple(outside...)
	shape := k.c.At(tuple).Shape()
	emit.Retuple(c.Instr(param), shape)
	at := emit.End(c)
	copied := map[hlo.InstrID]hlo.InstrID{}
	for n, o := range outside {
		copied[o] = at.Element(param, n)
	}
	for n, spec := range specs {
		if !needed[ids[n]] {
			continue
		}
		operands := make([]hlo.InstrID, len(spec.Operands))
		for m, o := range spec.Operands {
			operands[m] = copied[o]
		}
		copied[ids[n]] = at.Spec(emit.With(spec, operands...))
	}
	emit.Redirect(c, users, param, copied[value])
	if isRoot {
		c.SetRoot(copied[value])
	}
	k.c.Instr(k.id).SetOperand(i+1, tuple)
	emit.Reorder(c)
}
