package types

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

const foldingDoc = `let ops take and return the narrow type, and drop the conversions around them

An op all of whose users convert its result to the narrow type returns it, if low-precision-output names it, and one whose operand is converted from the narrow type takes it, if
low-precision-operand does. Where mixed-precision does not name the op, all its operands and its result must become narrow. Rounding once is rounding once: no value changes.`

// NewConversionFolding makes the pass bfloat16-fold.
func NewConversionFolding(o pass.Options) (*pass.Pass, error) {
	s, err := readSupport(o)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "bfloat16-fold", Doc: foldingDoc, Options: o, Params: supportParams, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		if pass.Fact(ctx, m, closedOrCollective)[c.ID()] {
			return nil
		}
		for in := range m.MustComputation(c.ID()).PostOrder() {
			if handsOn(in) && in.Opcode() != hlo.OpTuple || in.Opcode() == hlo.OpTuple || hlo.Info(in.Opcode()).Traits.Has(hlo.TraitSideEffect) || in.NumCallees() > 0 && !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective) {
				continue
			}
			if c.Has(in.ID()) {
				if err := s.fold(ctx, c, in.ID()); err != nil {
					return err
				}
			}
		}
		return nil
	}}, nil
}

func (s support) fold(ctx *pass.Context, c hlo.CompEdit, id hlo.InstrID) error {
	in := c.At(id)
	op := in.Opcode()
	output := s.output.has(op) && s.allNarrow(in)
	var operands []int
	wide := 0 // other operands and results of the wide type
	for i := range in.NumOperands() {
		o := in.OperandInstr(i)
		switch {
		case !o.Shape().IsArray() || o.Shape().Type() != s.high:
		case s.operand.has(op) && o.Opcode() == hlo.OpConvert && o.OperandInstr(0).Shape().Type() == s.low && o.NumControlPredecessors() == 0:
			operands = append(operands, i)
		default:
			wide++
		}
	}
	if !output && slices.Contains(leavesOf(in.Shape()), s.high) {
		wide++
	}
	if !output && len(operands) == 0 || wide > 0 && !s.mixed.has(op) || !ctx.Spend("fold") {
		return nil
	}
	ids := slices.Collect(in.OperandIDs())
	var gone []hlo.InstrID
	for _, i := range operands {
		gone = append(gone, ids[i])
		ids[i] = in.OperandInstr(i).Operand(0)
	}
	shape := in.Shape()
	c.Instr(id).SetOperands(ids...)
	for _, g := range gone {
		pass.Release(c, g, nil)
	}
	ctx.Count("folded", 1)
	if !output {
		return nil
	}
	c.Instr(id).SetShape(retyped(shape, s.high, s.low))
	for _, u := range slices.Collect(c.Users(id)) {
		if err := c.ReplaceInstruction(u, id); err != nil {
			return err
		}
	}
	return nil
}

// allNarrow reports whether everything that uses a wide result converts it to the narrow type.
func (s support) allNarrow(in hlo.Instruction) bool {
	if in.IsRoot() || in.UserCount() == 0 || !in.Shape().IsArray() || in.Shape().Type() != s.high {
		return false
	}
	for u := range in.Users() {
		if u.Opcode() != hlo.OpConvert || u.Shape().Type() != s.low || u.NumControlPredecessors() > 0 {
			return false
		}
	}
	return true
}
