package lower

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// shareable lists which results of an instruction may use the storage of which operand leaves. The op table decides for most: an
// elementwise op may overwrite an operand of the same size, an op with hlo.TraitInPlace its first operands.
func shareable(in hlo.Instruction) []sharing {
	if in.Shape().IsTuple() && !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitInPlace) {
		return nil
	}
	if analysis.SameBytes(in) {
		return []sharing{{0, 0, alias}}
	}
	traits := hlo.Info(in.Opcode()).Traits
	var pairs []sharing
	switch {
	case traits.Has(hlo.TraitInPlace):
		// dynamic-update-slice has one array to update, scatter as many as results.
		for i := range in.Shape().NumLeaves() {
			pairs = append(pairs, sharing{i, i, inPlace})
		}
	case traits.Has(hlo.TraitElementwise):
		for i := range in.NumOperands() {
			s := in.OperandInstr(i).Shape()
			if s.Type().ByteSize() == in.Shape().Type().ByteSize() && analysis.SameDimensions(s, in.Shape()) {
				pairs = append(pairs, sharing{0, i, inPlace})
			}
		}
	}
	return pairs
}
