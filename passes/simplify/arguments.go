package simplify

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// useKnownArguments replaces the parameters of a computation that are the same constant wherever it is called, if it is only called.
func useKnownArguments(ctx *pass.Context, m hlo.Module, ce hlo.CompEdit) error {
	c := m.MustComputation(ce.ID())
	var sites []hlo.Instruction
	for caller, id := range m.Callers(ce.ID()) {
		in := m.MustComputation(caller).MustAt(id)
		if in.Opcode() != hlo.OpCall {
			return nil
		}
		sites = append(sites, in)
	}
	if len(sites) == 0 || c.ID() == m.Entry().ID() {
		return nil
	}
	for i, p := range c.Parameters() {
		first := sites[0].OperandInstr(i)
		lit := first.Literal()
		if first.Opcode() != hlo.OpConstant || lit == nil || lit.IsElided() || c.UserCount(p) == 0 && c.Root().ID() != p || c.MustAt(p).NumControlSuccessors() > 0 {
			continue
		}
		same := !isHidden(c.MustAt(p))
		for _, site := range sites[1:] {
			other := site.OperandInstr(i)
			same = same && other.Opcode() == hlo.OpConstant && other.Literal() != nil && other.Literal().Equal(lit)
		}
		if !same || !ctx.Spend("argument") {
			continue
		}
		shape := c.MustAt(p).Shape()
		l, err := lit.WithShape(shape)
		if err != nil {
			return err
		}
		spec := hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: shape, Attrs: &hlo.ConstantAttrs{Literal: l}, Position: first.Position()}
		ce.ReplaceAllUses(p, insertFirst(ce, spec))
		ctx.Count("arguments", 1)
	}
	return nil
}

// isHidden reports whether all that reads a value is there to hide what it is.
func isHidden(in hlo.Instruction) bool {
	for u := range in.Users() {
		if u.Opcode() != hlo.OpOptBarrier {
			return false
		}
	}
	return in.UserCount() > 0
}

// insertFirst puts an instruction without operands in front of everything that is computed.
func insertFirst(c hlo.CompEdit, spec hlo.InstrSpec) hlo.InstrID {
	for in := range c.View().Instructions() {
		if in.Opcode() != hlo.OpParameter {
			return c.InsertSpecBefore(in.ID(), spec).ID()
		}
	}
	return c.AddSpec(spec).ID()
}
