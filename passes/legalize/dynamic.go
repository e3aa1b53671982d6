package legalize

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/passes/simplify"
)

// OutlineDynamic puts programs with dynamic dimensions inside into one fusion.
var OutlineDynamic = &pass.Pass{
	Name:  "outline-dynamic",
	Makes: []pass.Phase{pass.Legal},
	Doc: `hand programs with bounded dynamic dimensions inside over to the evaluator

Buffers are planned by size, so lowering has no place for values whose size is known at run time only. A program that computes with them
becomes a single kCustom fusion, which runs as one kernel. Its parameters and results may have dynamic dimensions if these have bounds.
A program that has them only there already, in kCustom fusions, stays.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		if entry := m.Entry(); !hasDynamic(m) || !entry.Root().Shape().IsBounded() {
			return m, nil
		}
		for i := range m.Entry().NumParameters() {
			if !m.Entry().Parameter(i).Shape().IsBounded() {
				return m, nil
			}
		}
		if !ctx.Spend("outline") {
			return m, nil
		}
		e := ctx.Edit(m)
		if err := simplify.RemoveDead(ctx, e); err != nil { // a fused computation holds nothing that is not used
			return m, err
		}
		entry := e.View(e.Entry())
		root := emit.Again(entry.Root())
		b := e.NewComputation(entry.Name() + ".static")
		b.SetScheduled(entry.IsScheduled())
		var params []hlo.InstrID
		for i := range entry.NumParameters() {
			p := entry.Parameter(i)
			id := b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: p.Name(), Shape: p.Shape(), Attrs: p.Attrs(), Position: p.Position()})
			if p.UserCount() > 0 || p.IsRoot() {
				params = append(params, id)
			}
		}
		fused := e.Computation(entry.ID())
		for i := fused.View().NumParameters() - 1; i >= 0; i-- {
			if p := fused.View().Parameter(i); p.UserCount() == 0 && !p.IsRoot() {
				if err := fused.RemoveParameter(i); err != nil {
					return m, err
				}
			}
		}
		call := b.Append(hlo.InstrSpec{Opcode: hlo.OpFusion, Name: root.Name, Shape: root.Shape, Operands: params,
			Attrs: &hlo.FusionAttrs{Kind: hlo.FusionCustom}, Callees: []hlo.CompID{entry.ID()}, Position: root.Position})
		e.SetEntry(b.Finish(call))
		return e.Freeze(), nil
	},
}

// hasDynamic reports whether some value of the program has a dynamic dimension, or is made of one, outside of fusions for the evaluator.
func hasDynamic(m hlo.Module) bool {
	reachable := map[hlo.CompID]bool{}
	work := []hlo.CompID{m.Entry().ID()}
	for len(work) > 0 {
		c := m.MustComputation(work[len(work)-1])
		work = work[:len(work)-1]
		if reachable[c.ID()] {
			continue
		}
		reachable[c.ID()] = true
		entry := c.ID() == m.Entry().ID()
		for in := range c.Instructions() {
			switch {
			case in.Opcode() == hlo.OpFusion && hlo.AttrsOf[hlo.FusionAttrs](in).Kind == hlo.FusionCustom:
				continue
			case in.Opcode() == hlo.OpParameter && entry && !in.IsRoot():
			case !in.Shape().IsStatic():
				return true
			}
			for o := range in.Operands() {
				if !o.Shape().IsStatic() {
					return true
				}
			}
			work = slices.AppendSeq(work, in.Callees())
		}
	}
	return false
}
