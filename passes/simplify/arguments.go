package simplify

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// useKnownArguments replaces the parameters of a computation that are the same constant wherever it is called, if it is only called.
func useKnownArguments(ctx *pass.Context, m hlo.Module, ce hlo.CompEdit) error {
	e, c := ce.Editor(), ce.View()
	var sites []hlo.Instruction
	for caller, id := range m.Callers(ce.ID()) {
		in, ok := e.View(caller).At(id)
		if !ok {
			continue // folded before
		}
		if in.Opcode() != hlo.OpCall {
			return nil
		}
		sites = append(sites, in)
	}
	if len(sites) == 0 || c.ID() == m.Entry().ID() {
		return nil
	}
	for i, p := range c.Parameters() {
		c = ce.View()
		first := sites[0].OperandInstr(i)
		lit := first.Literal()
		if first.Opcode() != hlo.OpConstant || lit == nil || lit.IsElided() || c.UserCount(p) == 0 && c.Root().ID() != p || c.MustAt(p).NumControlSuccessors() > 0 {
			continue
		}
		same := true
		for _, site := range sites[1:] {
			other := site.OperandInstr(i)
			same = same && other.Opcode() == hlo.OpConstant && other.Literal() != nil && other.Literal().Equal(lit)
		}
		if !same || onlyBarred(c, p) || !ctx.Spend("argument") {
			continue
		}
		shape := c.MustAt(p).Shape()
		l, err := lit.WithShape(shape)
		if err != nil {
			return err
		}
		spec := hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: shape, Attrs: &hlo.ConstantAttrs{Literal: l}, Position: first.Position()}
		pass.Fact(ctx, m, analysis.FindCosts) // what is folded then asks for it
		ce.ReplaceAllUses(p, insertFirst(ce, spec))
		ctx.Count("arguments", 1)
	}
	return nil
}

// onlyBarred reports whether a value is used by what is never folded alone: barriers, which are there so that nothing is known of it, and Fourier transforms.
func onlyBarred(c hlo.Computation, id hlo.InstrID) bool {
	for u := range c.MustAt(id).Users() {
		if u.Opcode() != hlo.OpOptBarrier && u.Opcode() != hlo.OpFft {
			return false
		}
	}
	return c.Root().ID() != id
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
