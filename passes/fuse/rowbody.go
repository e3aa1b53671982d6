package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// fuse puts the members into a computation of their own. What it returns puts the fusion into their place.
func (b *band) fuse(results []hlo.InstrID) func() error {
	body := b.e.NewComputation("fused_rows")
	body.SetExecutionThread(b.c.ExecutionThread())
	inside := make(map[hlo.InstrID]hlo.InstrID)
	var operands []hlo.InstrID
	var copyIn func(id hlo.InstrID) hlo.InstrID
	copyIn = func(id hlo.InstrID) hlo.InstrID {
		if to, ok := inside[id]; ok {
			return to
		}
		in := b.c.MustAt(id)
		spec := hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Attrs: in.Attrs(), Callees: slices.Collect(in.Callees()),
			Common: in.Common(), Position: in.Position()}
		if b.computes(in) {
			for o := range in.OperandIDs() {
				spec.Operands = append(spec.Operands, copyIn(o))
			}
		} else {
			spec = hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "param_" + in.Name(), Shape: in.Shape(), Attrs: &hlo.ParameterAttrs{Number: int64(len(operands))}}
			operands = append(operands, id)
		}
		inside[id] = body.Append(spec)
		return inside[id]
	}
	for _, id := range results {
		copyIn(id)
	}
	spec := hlo.InstrSpec{Opcode: hlo.OpFusion, Name: b.c.MustAt(results[len(results)-1]).Name() + "_fusion",
		Attrs: &hlo.FusionAttrs{Kind: hlo.FusionInput}, Position: b.c.MustAt(results[len(results)-1]).Position()}
	var parts []hlo.InstrSpec // if there are several results
	if len(results) == 1 {
		in := b.c.MustAt(results[0])
		spec.Shape, spec.Common, spec.Callees = in.Shape(), in.Common(), []hlo.CompID{body.Finish(inside[results[0]])}
	} else {
		parts = b.parts(body, &spec, results, inside)
	}
	members, left := slices.Collect(b.membersInOrder()), make(map[hlo.InstrID][]hlo.InstrID)
	for _, id := range members {
		left[id] = slices.Collect(b.c.MustAt(id).OperandIDs())
	}
	return func() error {
		ce := b.e.Computation(b.c.ID())
		at, needed := b.next(ce), false
		for _, id := range results {
			needed = needed || ce.Has(id)
		}
		if !needed {
			return nil // the fusions before this one compute all of it themselves, and dce takes what was made for nothing
		}
		spec.Operands = b.current(operands)
		b.made = ce.InsertSpecBefore(at, spec).ID()
		b.fused.Set(results[0], b.made)
		for i, part := range parts {
			part.Operands = []hlo.InstrID{b.made}
			b.fused.Set(results[i], ce.InsertSpecBefore(at, part).ID())
		}
		for _, id := range results {
			if !ce.Has(id) {
				continue
			}
			if err := ce.ReplaceInstruction(id, b.fused.Get(id)); err != nil {
				return err
			}
		}
		for _, id := range slices.Backward(members) {
			if !ce.Has(id) || ce.UserCount(id) > 0 || ce.Root() == id {
				continue
			}
			if err := ce.Remove(id); err != nil {
				return err
			}
			for _, o := range left[id] {
				pass.Release(ce, b.now(o), nil)
			}
		}
		return nil
	}
}

// parts makes of spec the fusion of several results, and returns what takes each out of its tuple.
func (b *band) parts(body *hlo.ComputationBuilder, spec *hlo.InstrSpec, results []hlo.InstrID, inside map[hlo.InstrID]hlo.InstrID) (specs []hlo.InstrSpec) {
	shapes, parts := make([]hlo.Shape, len(results)), make([]hlo.InstrID, len(results))
	for i, id := range results {
		shapes[i], parts[i] = b.c.MustAt(id).Shape(), inside[id]
	}
	spec.Shape = hlo.MakeTuple(shapes...)
	spec.Callees = []hlo.CompID{body.Finish(body.Append(hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: spec.Shape, Operands: parts}))}
	for i, id := range results {
		specs = append(specs, hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: shapes[i], Attrs: &hlo.TupleElementAttrs{Index: int64(i)}, Common: b.c.MustAt(id).Common()})
	}
	return specs
}
