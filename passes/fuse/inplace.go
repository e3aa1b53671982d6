package fuse

import (
	"github.com/gohalo/halo/hlo"
)

// refusesInPlace gives the reason not to fuse a producer that reads an array which the consumer overwrites: fused, it might read what has been written. Where
// both work element by element, or the producer reads exactly the window that is overwritten, each element is read before its place is written.
func (f *engine) refusesInPlace(producer, consumer hlo.Instruction) string {
	if elementwise(producer) {
		return ""
	}
	update, inner := f.updates(consumer)
	if update < 0 {
		return ""
	}
	array := consumer.Operand(update)
	if array == producer.ID() && isUpdate(producer) {
		return "both write into one array, at places of their own"
	}
	for i := range consumer.NumOperands() {
		if i != update && consumer.Operand(i) == array && consumer.Opcode() != hlo.OpFusion {
			return "its user overwrites an array that it also reads"
		}
	}
	if array == producer.ID() {
		return ""
	}
	for o := range producer.OperandIDs() {
		if o == array && !f.readsTheWindow(producer, consumer, inner) {
			return "its user overwrites the array that it reads"
		}
	}
	return ""
}

// isUpdate reports whether an op writes into its first operand.
func isUpdate(in hlo.Instruction) bool { return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitInPlace) }

// elementwise reports whether each element of the result comes from the elements of the operands at its place.
func elementwise(in hlo.Instruction) bool {
	return in.IsElementwise() || in.Opcode() == hlo.OpMap ||
		in.Opcode() == hlo.OpCopy && in.Shape().Equal(in.OperandInstr(0).Shape())
}

// updates is the number of the operand that an instruction, or the root of a fusion, overwrites, -1 if there is none, and the op that does.
func (f *engine) updates(in hlo.Instruction) (operand int, inner hlo.Instruction) {
	if in.Opcode() != hlo.OpFusion {
		if isUpdate(in) {
			return 0, in
		}
		return -1, in
	}
	root := f.c.Editor().View(in.Callee(0)).Root()
	if !isUpdate(root) {
		return -1, root
	}
	if n, ok := root.OperandInstr(0).ParameterNumber(); ok {
		return int(n), root
	}
	return -1, root
}

// readsTheWindow reports whether a slice reads the window that a dynamic-update-slice writes, and nothing but elementwise ops lie between the two.
func (f *engine) readsTheWindow(producer, consumer, update hlo.Instruction) bool {
	if update.Opcode() != hlo.OpDynamicUpdateSlice || !producer.Shape().EqualIgnoringLayout(update.OperandInstr(1).Shape()) {
		return false
	}
	for axis := range producer.Shape().Rank() {
		index := update.OperandInstr(2 + axis)
		var outside hlo.InstrID = hlo.NoInstr
		if n, ok := index.ParameterNumber(); ok && consumer.Opcode() == hlo.OpFusion {
			outside = consumer.Operand(int(n))
			index = f.c.At(outside)
		} else if consumer.Opcode() != hlo.OpFusion {
			outside = index.ID()
		}
		switch producer.Opcode() {
		case hlo.OpSlice:
			s := hlo.AttrsOf[hlo.SliceAttrs](producer).Slice[axis]
			if at, ok := scalarOf(index); !ok || at != s.Start || s.Stride != 1 {
				return false
			}
		case hlo.OpDynamicSlice:
			own := producer.OperandInstr(1 + axis)
			a, isA := scalarOf(own)
			b, isB := scalarOf(index)
			if own.ID() != outside && !(isA && isB && a == b) {
				return false
			}
		default:
			return false
		}
	}
	return f.elementwiseTo(consumer, producer.ID(), update)
}

func scalarOf(in hlo.Instruction) (int64, bool) {
	if in.Opcode() != hlo.OpConstant || in.Literal() == nil || in.Literal().IsElided() {
		return 0, false
	}
	return in.Literal().ScalarInt()
}

// elementwiseTo reports whether an operand of a consumer comes to the update operand of the op that overwrites by elementwise ops alone.
func (f *engine) elementwiseTo(consumer hlo.Instruction, operand hlo.InstrID, update hlo.Instruction) bool {
	if consumer.Opcode() != hlo.OpFusion {
		return true // it is the update
	}
	body := f.c.Editor().View(consumer.Callee(0))
	reads := map[hlo.InstrID]bool{}
	for i := range consumer.NumOperands() {
		if consumer.Operand(i) == operand {
			reads[body.Parameters()[i]] = true
		}
	}
	for in := range body.PostOrder() {
		for i := range in.NumOperands() {
			switch {
			case !reads[in.Operand(i)]:
			case in.ID() == update.ID():
				if i != 1 {
					return false
				}
			case !elementwise(in):
				return false
			default:
				reads[in.ID()] = true
			}
		}
	}
	return true
}
