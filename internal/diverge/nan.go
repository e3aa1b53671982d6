package diverge

import (
	"slices"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

// watch notes the birth of a NaN: an array that has one, of an instruction none of whose operands has.
func (o *observation) watch(in hlo.Instruction, execution int, l *hlo.Literal) {
	has := slices.ContainsFunc(l.Leaves(), func(leaf *hlo.Literal) bool { return arrays.FirstNaN(leaf) >= 0 })
	o.nan[placeOf(in)] = has
	if !has || in.Opcode() == hlo.OpConstant {
		return
	}
	given := in.Opcode() == hlo.OpParameter
	if given && in.Computation().ID() != o.entry {
		return
	}
	for operand := range in.Operands() {
		if has, known := o.nan[placeOf(operand)]; has || !known {
			return
		}
	}
	for k, leaf := range l.Leaves() {
		if i := arrays.FirstNaN(leaf); i >= 0 {
			o.birth = &Birth{Computation: in.Computation().Name(), Instruction: in, Execution: execution, Leaf: k, Element: i,
				Parameter: given, Operands: o.operandsAt(in, leaf, i)}
			return
		}
	}
}

// operandsAt is the elements of the operands of an elementwise instruction that element i is made of.
func (o *observation) operandsAt(in hlo.Instruction, result *hlo.Literal, i int) []string {
	if !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitElementwise) {
		return nil
	}
	var list []string
	for operand := range in.Operands() {
		v := o.last[placeOf(operand)]
		switch {
		case v == nil:
			return nil
		case v.Shape().IsScalar():
			list = append(list, arrays.ElementText(v, 0))
		case slices.Equal(v.Shape().Dimensions(), result.Shape().Dimensions()):
			list = append(list, arrays.ElementText(v, i))
		default:
			list = append(list, "")
		}
	}
	return list
}
