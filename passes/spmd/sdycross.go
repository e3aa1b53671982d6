package spmd

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// call is a custom-call about shardings.
func (i *importer) call(e hlo.CompEdit, at hlo.Instruction, target string, operand hlo.InstrID, shape hlo.Shape, s *hlo.Sharding, open []int) hlo.InstrID {
	common := &hlo.Common{Sharding: s}
	if k := at.Common(); k != nil {
		common.Metadata = k.Metadata
	}
	if len(open) > 0 {
		common.BackendConfig = unspecified(open)
	}
	return e.InsertSpecBefore(at.ID(), hlo.InstrSpec{
		Opcode: hlo.OpCustomCall, Name: at.Name(), Shape: shape, Operands: []hlo.InstrID{operand}, Common: common,
		Attrs: &hlo.CustomCallAttrs{Target: target, FeatureGroupCount: 1, BatchGroupCount: 1},
	}).ID()
}

// toLocal leads into a region: each argument is sharded as the region says, and then seen as its part.
func (i *importer) toLocal(e hlo.CompEdit, in hlo.Instruction, outer []string) error {
	return i.cross(e, in, "xla.sdy.in_shardings", func(b *sdyBody, axes []string, operand hlo.InstrID, from, to hlo.Shape) (hlo.InstrID, error) {
		outside, open, err := i.leaf(b, from, outer)
		if err != nil {
			return 0, err
		}
		inside, _, err := i.leaf(b, to, slices.Concat(outer, axes))
		if err != nil {
			return 0, err
		}
		given := i.call(e, in, shardingCall, operand, from, outside, open)
		return i.call(e, in, toShards, given, to, inside, open), nil
	})
}

// toGlobal leads out of a region.
func (i *importer) toGlobal(e hlo.CompEdit, in hlo.Instruction, outer []string) error {
	return i.cross(e, in, "xla.sdy.out_shardings", func(b *sdyBody, axes []string, operand hlo.InstrID, from, to hlo.Shape) (hlo.InstrID, error) {
		inside, open, err := i.leaf(b, from, slices.Concat(outer, axes))
		if err != nil {
			return 0, err
		}
		outside, _, err := i.leaf(b, to, outer)
		if err != nil {
			return 0, err
		}
		given := i.call(e, in, shardingCall, operand, from, inside, open)
		return i.call(e, in, toFull, given, to, outside, open), nil
	})
}

// cross replaces a custom-call with an array for each operand by one call for each.
func (i *importer) cross(e hlo.CompEdit, in hlo.Instruction, key string,
	one func(b *sdyBody, axes []string, operand hlo.InstrID, from, to hlo.Shape) (hlo.InstrID, error),
) error {
	text, ok := in.Common().FrontendAttributes.Get(key)
	if !ok {
		return fmt.Errorf("frontend attribute %s is missing", key)
	}
	bodies, err := bodiesOf(text)
	if err != nil {
		return err
	}
	if len(bodies) != in.NumOperands() {
		return fmt.Errorf("%d shardings for %d operands", len(bodies), in.NumOperands())
	}
	axes := manualAxes(in)
	operands := slices.Collect(e.At(in.ID()).OperandIDs())
	results := make([]hlo.InstrID, len(operands))
	for k, operand := range operands {
		from, to := e.At(operand).Shape(), in.Shape()
		if to.IsTuple() {
			if k >= to.NumElems() {
				return fmt.Errorf("%d operands and a result of %v", len(operands), to)
			}
			to = to.Elem(k)
		}
		if results[k], err = one(&bodies[k], axes, operand, from, to); err != nil {
			return err
		}
	}
	result := hlo.InstrID(0)
	if in.Shape().IsTuple() {
		result = e.InsertBefore(in.ID(), hlo.OpTuple, in.Shape(), results...).ID()
	} else {
		result = results[0]
	}
	return e.ReplaceInstruction(in.ID(), result)
}
