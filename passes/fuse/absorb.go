package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// fuse puts a producer into a consumer, which becomes a fusion if it is none, and removes the producer if nothing else uses it.
func (f *engine) fuse(producer, consumer hlo.Instruction) (hlo.InstrID, error) {
	kind := hlo.FusionLoop
	if f.policy.kind != nil {
		kind = f.policy.kind(producer, consumer)
	}
	id, spec := consumer.ID(), emit.Again(producer)
	producerID := producer.ID()
	if consumer.Opcode() != hlo.OpFusion {
		fusion, err := f.wrap(consumer, kind)
		if err != nil {
			return 0, err
		}
		f.windows.Stands(fusion, id)
		id = fusion
	} else if hlo.AttrsOf[hlo.FusionAttrs](consumer).Kind != kind {
		attrs := hlo.AttrsOf[hlo.FusionAttrs](consumer)
		attrs.Kind = kind
		f.c.Instr(id).SetAttrs(&attrs)
	}
	if err := f.absorb(id, producerID, spec); err != nil {
		return 0, err
	}
	pass.Release(f.c, producerID, nil)
	return id, nil
}

// wrap makes a fusion of one instruction.
func (f *engine) wrap(in hlo.Instruction, kind hlo.FusionKind) (hlo.InstrID, error) {
	e := f.c.Editor()
	b := e.NewComputation("fused_computation")
	b.SetExecutionThread(f.before.ExecutionThread())
	b.SetScheduled(e.Config().IsScheduled)
	var outside, params []hlo.InstrID
	id, spec := in.ID(), emit.Again(in)
	spec.Control = nil
	for i, o := range spec.Operands {
		k := slices.Index(outside, o)
		if k < 0 {
			k = len(outside)
			outside = append(outside, o)
			operand := in.OperandInstr(i)
			params = append(params, b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "param_" + operand.Name(), Shape: operand.Shape(), Attrs: &hlo.ParameterAttrs{Number: int64(k)}}))
		}
		spec.Operands[i] = params[k]
	}
	root := b.Append(spec)
	fusion := f.c.InsertSpecBefore(id, hlo.InstrSpec{Opcode: hlo.OpFusion, Name: in.Name() + "_fusion", Shape: in.Shape(), Operands: outside,
		Attrs: &hlo.FusionAttrs{Kind: kind}, Callees: []hlo.CompID{b.Finish(root)}, Common: in.Common(), Position: in.Position()}).ID()
	f.within[fusion] = len(outside) + 1
	return fusion, f.c.ReplaceInstruction(id, fusion)
}

// absorb computes an operand of a fusion inside of it.
func (f *engine) absorb(fusion, producer hlo.InstrID, spec hlo.InstrSpec) error {
	operands := slices.Collect(f.c.At(fusion).OperandIDs())
	k := slices.Index(operands, producer)
	body := f.c.Editor().Computation(f.c.At(fusion).Callee(0))
	params := body.View().Parameters()
	param := params[k]
	for i, o := range spec.Operands {
		p := slices.Index(operands, o)
		if p < 0 {
			p = len(operands)
			operand := f.c.At(o)
			params = append(params, body.InsertSpecBefore(param, hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "param_" + operand.Name(), Shape: operand.Shape(),
				Attrs: &hlo.ParameterAttrs{Number: int64(p)}}).ID())
			operands = append(operands, o)
			f.c.Instr(fusion).AppendOperand(o)
		}
		spec.Operands[i] = params[p]
	}
	spec.Control = nil
	computed := body.InsertSpecBefore(body.View().Parameters()[k], spec).ID()
	body.ReplaceAllUses(param, computed)
	if err := body.RemoveParameter(k); err != nil {
		return err
	}
	f.c.Instr(fusion).RemoveOperand(k)
	emit.Reorder(body)
	f.within[fusion] = body.NumInstructions()
	return nil
}
