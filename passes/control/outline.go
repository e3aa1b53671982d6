package control

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// CallOutliner makes calls again of what call-marker has marked.
var CallOutliner = &pass.Pass{
	Name: "call-outliner",
	Doc: `turn the instructions between two markers of call-marker into a call

What depends on the first marker and leads to the second becomes a computation under the marked name. Constants are copied into it, other values from outside become
parameters. Blocks in blocks become calls in calls. A block with effects of which values are used outside stays in place, without its markers. Markers that do not match are an error.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		closed := pass.Fact(ctx, m, analysis.FindClosed)
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			if closed.Has(c.ID()) {
				continue
			}
			var befores []hlo.Instruction
			o := &outlining{ctx: ctx, e: e, c: e.Computation(c.ID()), effects: effects}
			for in := range c.PostOrder() {
				switch target, _, _, ok := markerOf(in); {
				case ok && target == markerBefore:
					befores = append(befores, in)
				case ok && o.c.Has(in.ID()):
					if err := o.block(in.ID()); err != nil {
						return m, err
					}
				}
			}
			for _, in := range befores {
				if o.c.Has(in.ID()) && !o.kept[in.ID()] {
					_, name, _, _ := markerOf(in)
					return m, fmt.Errorf("call-outliner: found _before marker without matching _after marker for %s", name)
				}
			}
		}
		return e.Freeze(), nil
	},
}

type outlining struct {
	ctx     *pass.Context
	e       *hlo.Editor
	c       hlo.CompEdit
	effects *analysis.SideEffects
	kept    map[hlo.InstrID]bool // first markers of blocks for which there was no fuel
}

// region is what is between two markers.
type region struct {
	before hlo.InstrID
	body   []hlo.InstrID // operands first
	inside map[hlo.InstrID]bool
	argued []hlo.InstrID // from outside
}

// block makes a call of the block that ends at a marker.
func (o *outlining) block(after hlo.InstrID) error {
	_, name, callName, _ := markerOf(o.c.At(after))
	r := &region{before: hlo.NoInstr, inside: map[hlo.InstrID]bool{}}
	if err := o.find(r, after, name); err != nil {
		return err
	}
	if r.before == hlo.NoInstr {
		return fmt.Errorf("call-outliner: found _after marker without matching _before marker for %s", name)
	}
	if !o.ctx.Spend("block") {
		if o.kept == nil {
			o.kept = map[hlo.InstrID]bool{}
		}
		o.kept[r.before] = true
		return nil
	}
	last := o.c.At(after).Operand(0)
	if !r.inside[last] || !o.movable(r, after) {
		if err := o.c.ReplaceInstruction(after, last); err != nil {
			return err
		}
		return o.dropBefore(r.before)
	}
	callee := o.computation(r, name, last)
	call := o.call(r, after, callee, callName)
	if err := o.c.ReplaceInstruction(after, call); err != nil {
		return err
	}
	if err := o.remove(r.body); err != nil {
		return err
	}
	o.ctx.Count("calls", 1)
	return o.dropBefore(r.before)
}

// remove takes away what nothing in its place uses any more.
func (o *outlining) remove(body []hlo.InstrID) error {
	for _, id := range slices.Backward(body) {
		operands := slices.Collect(o.c.At(id).OperandIDs())
		if o.c.UserCount(id) > 0 || o.c.Root() == id {
			continue
		}
		for _, s := range slices.Collect(o.c.ControlSuccessors(id)) {
			o.c.Instr(s).RemoveControlPredecessor(id)
		}
		for _, p := range slices.Collect(o.c.At(id).ControlPredecessors()) {
			o.c.Instr(id).RemoveControlPredecessor(p)
		}
		if err := o.c.Remove(id); err != nil {
			return err
		}
		for _, op := range operands { // constants, of which the block has copies
			if o.c.Has(op) && isCopied(o.c.At(op)) {
				pass.Release(o.c, op, nil)
			}
		}
	}
	return nil
}

// find collects the block, from its end backwards.
func (o *outlining) find(r *region, after hlo.InstrID, name string) error {
	v := o.c.View()
	reaches := map[hlo.InstrID]bool{} // the first marker
	var order []hlo.InstrID
	type frame struct {
		id   hlo.InstrID
		next int
	}
	stack := []frame{{v.MustAt(after).Operand(0), 0}}
	seen := map[hlo.InstrID]bool{stack[0].id: true}
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		in := v.MustAt(f.id)
		if target, marked, _, ok := markerOf(in); ok && target == markerBefore {
			if marked != name {
				if r.before == hlo.NoInstr {
					return errUnclosed(name, marked)
				}
			} else if r.before == hlo.NoInstr || r.before == f.id {
				r.before = f.id
				reaches[f.id] = true
			}
			stack = stack[:len(stack)-1]
			continue
		}
		if f.next == 0 && r.before != hlo.NoInstr && v.Less(f.id, r.before) {
			stack = stack[:len(stack)-1] // from before the block
			continue
		}
		if f.next < in.NumOperands() {
			id := in.Operand(f.next)
			f.next++
			if !seen[id] {
				seen[id] = true
				stack = append(stack, frame{id, 0})
			}
			continue
		}
		order = append(order, f.id)
		stack = stack[:len(stack)-1]
	}
	for _, id := range order {
		in := v.MustAt(id)
		for op := range in.OperandIDs() {
			reaches[id] = reaches[id] || reaches[op]
		}
		if reaches[id] {
			r.body = append(r.body, id)
			r.inside[id] = true
		}
	}
	for _, id := range r.body {
		for op := range v.MustAt(id).OperandIDs() {
			if !r.inside[op] && op != r.before && !isCopied(v.MustAt(op)) && !slices.Contains(r.argued, op) {
				r.argued = append(r.argued, op)
			}
		}
	}
	return nil
}

// isCopied reports what is made again in the block rather than handed to it.
func isCopied(in hlo.Instruction) bool {
	return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitNullaryValue)
}

// movable reports whether a block can leave its place: what has effects is not used outside of it, and no order is lost.
func (o *outlining) movable(r *region, after hlo.InstrID) bool {
	v := o.c.View()
	for _, id := range r.body {
		in := v.MustAt(id)
		for p := range in.ControlPredecessors() {
			if !r.inside[p] && p != r.before {
				return false
			}
		}
		for s := range in.ControlSuccessors() {
			if !r.inside[s] && s != after {
				return false
			}
		}
		outside := in.IsRoot()
		for u := range in.Users() {
			outside = outside || !r.inside[u.ID()] && u.ID() != after
		}
		if outside && (o.effects.Of(in) || in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 || hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective)) {
			return false
		}
	}
	return true
}

// computation makes the block a computation of its own.
func (o *outlining) computation(r *region, name string, last hlo.InstrID) hlo.CompID {
	v := o.c.View()
	before := v.MustAt(r.before)
	var shapes []hlo.Shape
	for id := range before.OperandIDs() {
		shapes = append(shapes, v.MustAt(id).Shape())
	}
	for _, id := range r.argued {
		shapes = append(shapes, v.MustAt(id).Shape())
	}
	type copied struct {
		id   hlo.InstrID
		spec hlo.InstrSpec
	}
	var specs []copied
	single := !before.Shape().IsTuple()
	from := slices.Collect(before.OperandIDs())
	given := map[hlo.InstrID]hlo.Instruction{}
	for _, id := range r.body {
		for op := range v.MustAt(id).Operands() {
			if !r.inside[op.ID()] && isCopied(op) && given[op.ID()].IsZero() {
				given[op.ID()] = op
				specs = append(specs, copied{op.ID(), emit.Again(op)})
			}
		}
		specs = append(specs, copied{id, emit.Again(v.MustAt(id))})
	}
	elements := map[hlo.InstrID]int64{}
	for u := range before.Users() {
		if u.Opcode() == hlo.OpGetTupleElement && !single {
			elements[u.ID()] = hlo.AttrsOf[hlo.TupleElementAttrs](u).Index
		}
	}
	thread := v.ExecutionThread()
	callee := emit.Computation(o.e, name, shapes, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		made := map[hlo.InstrID]hlo.InstrID{}
		if single {
			made[r.before] = params[0]
		} else {
			for id, i := range elements {
				made[id] = params[i]
			}
		}
		for i, id := range r.argued {
			made[id] = params[len(from)+i]
		}
		for _, s := range specs {
			if _, ok := made[s.id]; ok {
				continue
			}
			spec := s.spec
			for i, op := range spec.Operands {
				if op == r.before && !single { // the tuple itself
					if _, ok := made[op]; !ok {
						made[op] = at.Tuple(params[:len(from)]...)
					}
				}
				spec.Operands[i] = made[op]
			}
			var control []hlo.InstrID
			for _, p := range spec.Control {
				if to, ok := made[p]; ok && r.inside[p] {
					control = append(control, to)
				}
			}
			spec.Control = control
			made[s.id] = at.Spec(spec)
		}
		return made[last]
	})
	o.e.Computation(callee).SetExecutionThread(thread)
	return callee
}

// call makes the call, with what the second marker says of it.
func (o *outlining) call(r *region, after hlo.InstrID, callee hlo.CompID, name string) hlo.InstrID {
	in := o.c.At(after)
	operands := append(slices.Collect(o.c.At(r.before).OperandIDs()), r.argued...)
	spec := hlo.InstrSpec{Opcode: hlo.OpCall, Name: name, Shape: in.Shape(), Operands: operands, Callees: []hlo.CompID{callee}, Position: in.Position(),
		Control: slices.Collect(o.c.At(r.before).ControlPredecessors())}
	if common := in.Common(); common != nil && (common.Sharding != nil || common.Metadata != nil) {
		spec.Common = &hlo.Common{Sharding: common.Sharding, Metadata: common.Metadata}
	}
	return o.c.InsertSpecBefore(after, spec).ID()
}

// dropBefore makes what uses a first marker use its operands.
func (o *outlining) dropBefore(id hlo.InstrID) error {
	in := o.c.At(id)
	if !in.Shape().IsTuple() {
		return o.c.ReplaceInstruction(id, in.Operand(0))
	}
	operands := slices.Collect(in.OperandIDs())
	for _, u := range slices.Collect(o.c.Users(id)) {
		if o.c.At(u).Opcode() != hlo.OpGetTupleElement {
			continue
		}
		if err := o.c.ReplaceInstruction(u, operands[hlo.AttrsOf[hlo.TupleElementAttrs](o.c.At(u)).Index]); err != nil {
			return err
		}
	}
	if o.c.UserCount(id) == 0 && len(slices.Collect(o.c.ControlSuccessors(id))) == 0 && o.c.At(id).NumControlPredecessors() == 0 && o.c.Root() != id {
		return o.c.Remove(id)
	}
	return o.c.ReplaceInstruction(id, emit.Before(o.c, o.c.At(id)).Tuple(operands...))
}
