package legalize

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// NewControlDepRemover makes the pass control-dep-remover.
func NewControlDepRemover(o pass.Options) (*pass.Pass, error) {
	const copies = "only-copies"
	if err := o.Known(copies); err != nil {
		return nil, err
	}
	only, err := o.Bool(copies)
	if err != nil {
		return nil, err
	}
	p := &pass.Pass{
		Name: "control-dep-remover",
		Doc: `remove control dependencies from and to instructions without effects

Those between instructions with effects stay: they say in which order these happen. XLA's copy insertion orders copies, so that each reads a buffer before the next one
writes it; values that never change do not need that.`,
		Options: o,
		Params:  []pass.Param{{Name: copies, Doc: "remove only those between two copies; false"}},
		Lent:    true, Run: withoutControl,
	}
	if only {
		p.About, p.Run = []hlo.Opcode{hlo.OpCopy}, withoutControlOfCopies
	}
	return p, nil
}

// withoutControl removes control dependencies from and to instructions without effects.
func withoutControl(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	return removeControl(ctx, m, func(a, b hlo.Instruction, ordered func(hlo.Instruction) bool) bool { return !ordered(a) || !ordered(b) })
}

// withoutControlOfCopies removes those between copies alone.
func withoutControlOfCopies(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	return removeControl(ctx, m, func(a, b hlo.Instruction, _ func(hlo.Instruction) bool) bool {
		return a.Opcode() == hlo.OpCopy && b.Opcode() == hlo.OpCopy
	})
}

// removeControl removes the control dependencies for which goes holds; ordered tells it of instructions whose order is seen from outside.
func removeControl(ctx *pass.Context, m hlo.Module, goes func(a, b hlo.Instruction, ordered func(hlo.Instruction) bool) bool) (hlo.Module, error) {
	ordered := func(in hlo.Instruction) bool {
		t := hlo.Info(in.Opcode()).Traits
		return pass.Fact(ctx, m, analysis.FindSideEffects).Of(in) || t.Has(hlo.TraitCollective) || t.Has(hlo.TraitAsyncStart) || t.Has(hlo.TraitAsyncDone) || hlo.IsAsync(in.Opcode())
	}
	type edge struct {
		c      hlo.CompID
		to, by hlo.InstrID
	}
	var edges []edge
	for c := range m.Computations() {
		for in := range c.Instructions() {
			for p := range in.ControlPredecessors() {
				if goes(c.MustAt(p), in, ordered) && ctx.Spend("control") {
					edges = append(edges, edge{c.ID(), in.ID(), p})
				}
			}
		}
	}
	if len(edges) == 0 {
		return m, nil
	}
	e := ctx.Edit(m)
	for _, x := range edges {
		e.Computation(x.c).Instr(x.to).RemoveControlPredecessor(x.by)
	}
	ctx.Count("control", int64(len(edges)))
	return e.Freeze(), nil
}
