package halocmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/internal/view"
)

// nanOverlay is the way that NaN takes through a program: where the evaluator makes one of operands without any, what hands it on, and what
// turns it back into numbers.
func (c *viewCmd) nanOverlay(m hlo.Module, p *view.Program, beside *saved) (*view.Overlay, error) {
	args, err := (&compareCmd{Inputs: c.Inputs, Fill: "random", saved: beside}).arguments(m)
	if err != nil {
		return nil, err
	}
	const born, carried, ended = 0, 1, 2
	o := &view.Overlay{ID: "nan", Title: "NaN", Classes: []view.Class{{Name: "makes NaN", Colour: "#c2255c"}, {Name: "hands NaN on", Colour: "#f783ac"}, {Name: "ends it", Colour: "#74c0fc"}}}
	has := map[string]bool{}
	class := map[string]int{} // the first that an instruction was
	_, err = eval.Module(context.Background(), m, args, eval.Options{Trace: func(in hlo.Instruction, value *hlo.Literal) {
		is := slices.ContainsFunc(value.Leaves(), func(leaf *hlo.Literal) bool { return arrays.FirstNaN(leaf) >= 0 })
		has[in.Name()] = is
		operandHas := false
		for operand := range in.Operands() {
			operandHas = operandHas || has[operand.Name()]
		}
		if _, known := class[in.Name()]; known || !is && !operandHas {
			return
		}
		switch {
		case !is:
			class[in.Name()] = ended
		case operandHas || in.Opcode() == hlo.OpParameter && in.Computation().ID() != m.Entry().ID():
			class[in.Name()] = carried
		default:
			class[in.Name()] = born
		}
	}})
	if err != nil {
		return nil, err
	}
	makers := 0
	for name, k := range class {
		i, ok := p.Index(name)
		if !ok {
			continue
		}
		o.Values = append(o.Values, view.Value{Instr: i, Number: float64(k), Label: o.Classes[k].Name})
		if k == born {
			makers++
		}
	}
	slices.SortFunc(o.Values, func(a, b view.Value) int { return a.Instr - b.Instr })
	o.About = fmt.Sprintf("Executed with the reference evaluator: %s of numbers, %s in all touch one.",
		count(makers, "instruction makes a NaN", "instructions make a NaN"), count(len(o.Values), "instruction", "instructions"))
	return o, nil
}
