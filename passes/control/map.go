package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// MapInliner replaces maps by what they apply.
var MapInliner = &pass.Pass{
	Name:  "map-inliner",
	About: []hlo.Opcode{hlo.OpMap},
	Doc: `replace each map by the ops of its computation

	map(x, y) of a body that is one elementwise op of its parameters   → op(x, y)
	map of a body that returns a parameter                             → operand
	map of a body that returns a constant                              → broadcast of the constant`,
	Lent: true, Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		for in := range pass.EachOf(c, hlo.OpMap) {
			root := c.Editor().View(in.Callee(0)).Root()
			operands, ok := mapped(root, slices.Collect(in.OperandIDs()))
			if !ok || !ctx.Spend("map") {
				continue
			}
			to := hlo.NoInstr
			spec := hlo.InstrSpec{Opcode: root.Opcode(), Shape: in.Shape(), Operands: operands, Attrs: root.Attrs(), Common: in.Common(), Position: in.Position()}
			switch {
			case root.Opcode() == hlo.OpParameter:
				if to = operands[0]; !c.At(to).Shape().Equal(in.Shape()) {
					continue
				}
			case root.Opcode() == hlo.OpConstant:
				k := c.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: root.Shape(), Attrs: root.Attrs(), Position: in.Position()})
				spec.Opcode, spec.Operands, spec.Attrs = hlo.OpBroadcast, []hlo.InstrID{k.ID()}, &hlo.BroadcastAttrs{}
			}
			if to == hlo.NoInstr {
				to = c.InsertSpecBefore(in.ID(), spec).ID()
			}
			if err := c.ReplaceInstruction(in.ID(), to); err != nil {
				return err
			}
			ctx.Count("maps", 1)
		}
		return nil
	},
}

// mapped lists the operands of the map that the root of its body reads, in the root's order; false if the root reads anything else.
func mapped(root hlo.Instruction, args []hlo.InstrID) ([]hlo.InstrID, bool) {
	if n, ok := root.ParameterNumber(); ok {
		return []hlo.InstrID{args[n]}, true
	}
	if root.Opcode() == hlo.OpConstant {
		return nil, true
	}
	if !hlo.Info(root.Opcode()).Traits.Has(hlo.TraitElementwise) {
		return nil, false
	}
	var operands []hlo.InstrID
	for o := range root.Operands() {
		n, ok := o.ParameterNumber()
		if !ok {
			return nil, false
		}
		operands = append(operands, args[n])
	}
	return operands, len(operands) > 0
}
