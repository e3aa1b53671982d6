package motion

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Moves out of the branches of a conditional: what all of them compute at their end is computed once, behind it.

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
