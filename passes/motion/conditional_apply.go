package motion

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// outward is a move out of branches.
type outward struct {
	k       *crossing
	moved   map[string]boundary
	values  map[string]hlo.InstrID // behind the conditional
	outputs [][]hlo.InstrID        // the new result: one instruction of each branch
	index   map[string]int
	at      emit.At
}

func key(ids []hlo.InstrID) string { return fmt.Sprint(ids) }

// moveOut makes the instructions of boundaries behind the conditional, from whatever else of the branches they use.
func (k *crossing) moveOut(group []boundary) bool {
	o := &outward{k: k, moved: map[string]boundary{}, values: map[string]hlo.InstrID{}, index: map[string]int{}}
	for _, b := range group {
		if k.at(b.first()).Opcode() != hlo.OpTuple {
			o.moved[key(b.ids)] = b
		}
	}
	tuples := k.allTuples()
	var roots []hlo.InstrID
	for _, b := range k.branches {
		roots = append(roots, b.Root().ID())
	}
	var results [][]hlo.InstrID // of the old result
	parts := []int{-1}
	users := slices.Collect(k.c.Users(k.id))
	if tuples {
		parts = nil
		for _, u := range users {
			parts = append(parts, int(hlo.AttrsOf[hlo.TupleElementAttrs](k.view.MustAt(u)).Index))
		}
	}
	for _, part := range parts {
		result := slices.Clone(roots)
		for i := range result {
			if part >= 0 {
				result[i] = k.branches[i].Root().Operand(part)
			}
		}
		results = append(results, result)
	}
	o.collect(slices.Clone(results))
	var shapes []hlo.Shape
	for _, out := range o.outputs {
		shapes = append(shapes, k.branches[0].MustAt(out[0]).Shape())
	}
	specs := o.describe()
	for i, b := range k.branches {
		c := k.e.Computation(b.ID())
		old := c.Root()
		var elems []hlo.InstrID
		for _, out := range o.outputs {
			elems = append(elems, out[i])
		}
		c.SetRoot(emit.End(c).OpOf(hlo.OpTuple, hlo.MakeTuple(shapes...), nil, elems...))
		pass.Release(c, old, nil)
	}
	emit.Retuple(k.c.Instr(k.id), hlo.MakeTuple(shapes...))
	o.at = emit.End(k.c)
	if tuples {
		for n, u := range users {
			k.c.ReplaceAllUses(u, o.value(results[n], specs))
			if k.c.Root() == u {
				k.c.SetRoot(o.value(results[n], specs))
			}
			pass.Release(k.c, u, nil)
		}
	} else {
		emit.Redirect(k.c, users, k.id, o.value(results[0], specs))
	}
	emit.Reorder(k.c)
	return true
}

func (k *crossing) allTuples() bool {
	return !slices.ContainsFunc(k.branches, func(b hlo.Computation) bool { return b.Root().Opcode() != hlo.OpTuple })
}

// collect finds what the branches must hand out for values, nearest first.
func (o *outward) collect(values [][]hlo.InstrID) {
	for todo := values; len(todo) > 0; todo = todo[1:] {
		name := key(todo[0])
		if _, met := o.index[name]; met {
			continue
		}
		b, ok := o.moved[name]
		if !ok {
			o.index[name] = len(o.outputs)
			o.outputs = append(o.outputs, todo[0])
			continue
		}
		o.index[name] = -1
		for _, next := range o.k.neighbours(b) {
			todo = append(todo, next.ids)
		}
	}
}

// described is an instruction to make, and the values that it uses.
type described struct {
	spec     hlo.InstrSpec
	operands [][]hlo.InstrID
}

// describe notes the moved instructions as they are now: views end with the first edit.
func (o *outward) describe() map[string]described {
	specs := map[string]described{}
	for name, b := range o.moved {
		d := described{spec: emit.Again(o.k.at(b.first()))}
		for _, next := range o.k.neighbours(b) {
			d.operands = append(d.operands, next.ids)
		}
		specs[name] = d
	}
	return specs
}

// value is what stands behind the conditional for instructions of all branches.
func (o *outward) value(ids []hlo.InstrID, specs map[string]described) hlo.InstrID {
	name := key(ids)
	if v, ok := o.values[name]; ok {
		return v
	}
	var v hlo.InstrID
	if d, ok := specs[name]; ok {
		spec := d.spec
		spec.Operands = nil
		for _, next := range d.operands {
			spec.Operands = append(spec.Operands, o.value(next, specs))
		}
		v = o.at.Spec(spec)
	} else {
		v = o.at.Element(o.k.id, o.index[name])
	}
	o.values[name] = v
	return v
}

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
	emit.Reorder(k.c)
	return true
}

// closed are the instructions of a group, in program order, that need nothing but the conditional, one another and constants.
func (k *crossing) closed(group []boundary) (all []hlo.Instruction) {
	set := map[hlo.InstrID]bool{k.id: true}
	for _, b := range group {
		if in, ok := k.view.At(b.ids[0]); ok && !k.effects.Of(in) {
			set[in.ID()] = true
		}
	}
	for in := range k.view.PostOrder() {
		if !set[in.ID()] || in.ID() == k.id {
			continue
		}
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

// moveOperandsIn computes operands of the conditional in the branches that get them.
func (k *crossing) moveOperandsIn(group []boundary) bool {
	k.look()
	set := map[hlo.InstrID]bool{}
	for _, b := range group {
		if in, ok := k.view.At(b.ids[0]); ok && !k.effects.Of(in) {
			set[in.ID()] = true
		}
	}
	var order []hlo.InstrID // of the group, operands first
	var specs []hlo.InstrSpec
	for in := range k.view.PostOrder() {
		if set[in.ID()] {
			order, specs = append(order, in.ID()), append(specs, emit.Again(in))
		}
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

// hoistConverts moves conversions to bf16 that end all branches behind the conditional.
func (k *crossing) hoistConverts() bool {
	if !k.allTuples() {
		return false
	}
	for _, b := range k.branches {
		if k.calls[b.ID()] > 1 {
			return false
		}
	}
	var group []boundary
	for part := range k.branches[0].Root().NumOperands() {
		var ids []hlo.InstrID
		ok := true
		for _, b := range k.branches {
			in := b.Root().OperandInstr(part)
			ok = ok && in.Opcode() == hlo.OpConvert && in.Shape().Type() == hlo.BF16 && in.OperandInstr(0).Shape().Type() == hlo.F32 &&
				in.NumControlPredecessors()+in.NumControlSuccessors() == 0
			ids = append(ids, in.ID())
		}
		if ok && k.identical(ids) {
			group = append(group, boundary{inside, ids})
		}
	}
	if len(group) == 0 || !k.ctx.Spend("convert") {
		return false
	}
	k.ctx.Count("converts", int64(len(group)))
	return k.moveOut(group)
}
