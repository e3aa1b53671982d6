package fuse

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// make replaces every merged group by its fusion.
func (f *siblings) make(e *hlo.Editor) error {
	ce, changed := e.Computation(f.c.ID()), false
	for in := range f.c.PostOrder() {
		g := f.groups.Get(in.ID())
		if g == nil || !g.merged || g.members[0] != in.ID() {
			continue
		}
		changed = true
		if err := f.makeOne(ce, g); err != nil {
			return err
		}
		for _, id := range g.members {
			if member := f.c.MustAt(id); member.Opcode() == hlo.OpFusion {
				e.RemoveComputation(member.Callee(0))
			}
		}
	}
	if changed {
		emit.Reorder(ce)
	}
	return nil
}

// makeOne makes the fusion of a group out of its first member, which is one.
func (f *siblings) makeOne(ce hlo.CompEdit, g *group) error {
	b := ce.Editor().NewComputation("fused_computation")
	b.SetExecutionThread(f.c.ExecutionThread())
	inside := map[hlo.InstrID]hlo.InstrID{}
	operands := make([]hlo.InstrID, len(g.operands))
	for i, o := range g.operands {
		operand := f.c.MustAt(o)
		inside[o] = b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "param_" + operand.Name(), Shape: operand.Shape(), Attrs: &hlo.ParameterAttrs{Number: int64(i)}})
		operands[i] = f.current(o)
	}
	var results []hlo.InstrID
	var shapes []hlo.Shape
	first := make([]int, len(g.members)) // the number of the first result of each member
	for i, id := range g.members {
		first[i] = len(results)
		in := f.c.MustAt(id)
		if in.Opcode() != hlo.OpFusion {
			results, shapes = append(results, b.Append(within(in, inside))), append(shapes, in.Shape())
			continue
		}
		roots, of := f.copyBody(b, in, inside)
		results, shapes = append(results, roots...), append(shapes, of...)
	}
	tuple := hlo.MakeTuple(shapes...)
	body := b.Finish(b.Append(hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: tuple, Operands: results}))
	fusion := g.members[0]
	if f.c.MustAt(fusion).Shape().IsArray() {
		result := f.result(ce, f.c.MustAt(fusion), fusion, 0)
		ce.ReplaceAllUses(fusion, result)
	}
	in := ce.Instr(fusion).SetShape(tuple).SetOperands(operands...).SetCallees(body)
	if c := f.c.MustAt(fusion).Common(); c != nil && c.Origin != nil {
		in.SetCommon(&hlo.Common{Metadata: c.Metadata})
	}
	for i, id := range g.members[1:] {
		if err := f.hand(ce, id, fusion, first[1+i]); err != nil {
			return err
		}
	}
	return nil
}

// copyBody computes in b what a fusion computes, and lists the results and their shapes.
func (f *siblings) copyBody(b *hlo.ComputationBuilder, fusion hlo.Instruction, outside map[hlo.InstrID]hlo.InstrID) (results []hlo.InstrID, shapes []hlo.Shape) {
	inside := map[hlo.InstrID]hlo.InstrID{}
	body := f.m.MustComputation(fusion.Callee(0))
	for i, p := range body.Parameters() {
		inside[p] = outside[fusion.Operand(i)]
	}
	root := body.Root()
	for in := range body.PostOrder() {
		if _, param := in.ParameterNumber(); !param && (in.ID() != root.ID() || fusion.Shape().IsArray()) {
			inside[in.ID()] = b.Append(within(in, inside))
		}
	}
	if fusion.Shape().IsArray() {
		return []hlo.InstrID{inside[root.ID()]}, []hlo.Shape{root.Shape()}
	}
	for o := range root.Operands() {
		results, shapes = append(results, inside[o.ID()]), append(shapes, o.Shape())
	}
	return results, shapes
}

// within describes in with its operands inside of a fusion.
func within(in hlo.Instruction, inside map[hlo.InstrID]hlo.InstrID) hlo.InstrSpec {
	spec := emit.Again(in)
	for i, o := range spec.Operands {
		spec.Operands[i] = inside[o]
	}
	spec.Control = nil
	return spec
}

// hand makes the results of a fusion, from number first on, stand for those of a member.
func (f *siblings) hand(ce hlo.CompEdit, member, fusion hlo.InstrID, first int) error {
	in := f.c.MustAt(member)
	if in.Shape().IsArray() {
		return ce.ReplaceInstruction(member, f.result(ce, in, fusion, first))
	}
	for u := range in.Users() {
		if err := ce.ReplaceInstruction(u.ID(), f.result(ce, u, fusion, first+int(hlo.AttrsOf[hlo.TupleElementAttrs](u).Index))); err != nil {
			return err
		}
	}
	return ce.Remove(member)
}

// result takes a result out of a fusion, for an instruction as it was.
func (f *siblings) result(ce hlo.CompEdit, of hlo.Instruction, fusion hlo.InstrID, i int) hlo.InstrID {
	spec := hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: of.Shape(), Operands: []hlo.InstrID{fusion}, Attrs: &hlo.TupleElementAttrs{Index: int64(i)}, Position: of.Position()}
	if c := of.Common(); c != nil && of.Opcode() == hlo.OpGetTupleElement {
		spec.Common = c
	} else if c != nil && (c.Metadata != nil || c.Origin != nil) {
		spec.Common = &hlo.Common{Metadata: c.Metadata, Origin: c.Origin}
	}
	id := ce.InsertSpecBefore(of.ID(), spec).ID()
	f.now.Set(of.ID(), id)
	return id
}

// current is what stands for an instruction of the computation as it was.
func (f *siblings) current(id hlo.InstrID) hlo.InstrID {
	if now, ok := f.now.Lookup(id); ok {
		return now
	}
	return id
}
