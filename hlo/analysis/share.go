package analysis

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// Sharing says that a result leaf of an instruction may have the memory of an operand leaf, counted over all operands.
type Sharing struct {
	Result, Operand int
	// Same says that the bytes are the same, so that there is nothing to compute.
	Same bool
}

// Shareable lists which results of an instruction may have the memory of which operand leaves. The op table decides for most: an
// elementwise op may overwrite an operand of the same size, an op with hlo.TraitInPlace its first operands.
func Shareable(m hlo.Module, in hlo.Instruction) []Sharing {
	if in.Shape().IsTuple() && in.Opcode() == hlo.OpFusion {
		return shareableResults(m, in)
	}
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
	case in.IsElementwise():
		for i := range in.NumOperands() {
			s := in.OperandInstr(i).Shape()
			if sameSize(s, in.Shape()) {
				pairs = append(pairs, Sharing{0, i, false})
			}
		}
	}
	return pairs
}

// shareableResults is Shareable for a fusion of several results. Its loop computes all of them for some elements before it stores any; so what
// comes of an operand as it is must not be read after another result has been stored there.
func shareableResults(m hlo.Module, in hlo.Instruction) (pairs []Sharing) {
	body := m.MustComputation(in.Callee(0))
	root := body.Root()
	if root.Opcode() != hlo.OpTuple {
		return nil
	}
	for part := range root.Operands() {
		traits := hlo.Info(part.Opcode()).Traits
		if !traits.Has(hlo.TraitElementwise) || part.Opcode() == hlo.OpCopy || part.Opcode() == hlo.OpConvert || part.Opcode() == hlo.OpBitcastConvert {
			return nil
		}
	}
	for step := range body.Instructions() {
		if step.Opcode() == hlo.OpReduce { // whose loop passes over its rows again
			return nil
		}
	}
	leaf := 0
	for i := range in.NumOperands() {
		first := leaf
		leaf += in.OperandInstr(i).Shape().NumLeaves()
		if !in.OperandInstr(i).Shape().IsArray() || !readInPlace(body, body.Parameter(i)) {
			continue
		}
		for k := range root.NumOperands() {
			if sameSize(in.OperandInstr(i).Shape(), root.OperandInstr(k).Shape()) {
				pairs = append(pairs, Sharing{k, first, false})
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
	result := body.Root()
	if result.Opcode() == hlo.OpTuple {
		result = result.OperandInstr(0)
	}
	elementwise := func(in hlo.Instruction) bool {
		return in == body.Root() && in.Opcode() == hlo.OpTuple ||
			in.IsElementwise() && SameDimensions(in.Shape(), result.Shape())
	}
	var reads idmap.Set[hlo.InstrID]
	reads.Add(param.ID())
	for in := range body.Instructions() {
		for i := range in.NumOperands() {
			if reads.Has(in.Operand(i)) {
				if !elementwise(in) {
					return false
				}
				reads.Add(in.ID())
				break
			}
		}
	}
	return true
}
