package analysis

import "github.com/gohalo/halo/hlo"

// Sharing says that a result leaf of an instruction may have the memory of an operand leaf, counted over all operands.
type Sharing struct {
	Result, Operand int
	// Same says that the bytes are the same, so that there is nothing to compute.
	Same bool
}

// Shareable lists which results of an instruction may have the memory of which operand leaves. The op table decides for most: an
// elementwise op may overwrite an operand of the same size, an op with hlo.TraitInPlace its first operands.
func Shareable(m hlo.Module, in hlo.Instruction) []Sharing {
	if in.Shape().IsTuple() && !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitInPlace) {
		return nil
	}
	if SameBytes(in) && in.Shape().ByteSize() == in.OperandInstr(0).Shape().ByteSize() {
		return []Sharing{{0, 0, true}}
	}
	traits := hlo.Info(in.Opcode()).Traits
	var pairs []Sharing
	switch {
	case in.Opcode() == hlo.OpFusion:
		body := m.MustComputation(in.Callee(0))
		leaf := 0
		for i := range in.NumOperands() {
			if sameSize(in.OperandInstr(i).Shape(), in.Shape()) && readInPlace(body, body.Parameter(i)) {
				pairs = append(pairs, Sharing{0, leaf, false})
			}
			leaf += in.OperandInstr(i).Shape().NumLeaves()
		}
	case traits.Has(hlo.TraitInPlace):
		// dynamic-update-slice has one array to update, scatter as many as results.
		for i := range in.Shape().NumLeaves() {
			pairs = append(pairs, Sharing{i, i, false})
		}
	case traits.Has(hlo.TraitElementwise):
		for i := range in.NumOperands() {
			s := in.OperandInstr(i).Shape()
			if sameSize(s, in.Shape()) {
				pairs = append(pairs, Sharing{0, i, false})
			}
		}
	}
	return pairs
}

func sameSize(a, b hlo.Shape) bool {
	return a.IsArray() && a.Type().ByteSize() == b.Type().ByteSize() && SameDimensions(a, b)
}

// readInPlace reports whether a fused computation reads a parameter only at the index that it computes: everything from the parameter to
// the root is elementwise, so each element is read before its place is written.
func readInPlace(body hlo.Computation, param hlo.Instruction) bool {
	elementwise := func(in hlo.Instruction) bool {
		return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitElementwise) && SameDimensions(in.Shape(), body.Root().Shape())
	}
	reads := map[hlo.InstrID]bool{param.ID(): true}
	for in := range body.Instructions() {
		for id := range in.OperandIDs() {
			if reads[id] {
				if !elementwise(in) {
					return false
				}
				reads[in.ID()] = true
			}
		}
	}
	return true
}
