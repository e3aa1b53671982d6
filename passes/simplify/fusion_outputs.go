package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// dropFusionOutputs narrows the fusions of a computation with several results of which some are not read. What computed these goes too, unless it has
// effects, and with it the operands that nothing else in the fusion reads. It reports whether there were any.
func dropFusionOutputs(ctx *pass.Context, e *hlo.Editor, callers []int, needed func(hlo.Instruction) bool, id hlo.CompID) (found bool, err error) {
	for _, in := range narrowable(e, callers, e.View(id)) {
		kept := keptParts(e.View(id).MustAt(in), e.View(e.View(id).MustAt(in).Callee(0)).Root(), needed)
		if kept == nil || !ctx.Spend("fusion-output") {
			continue
		}
		ctx.Count("fusion outputs", int64(e.View(id).MustAt(in).Shape().NumElems()-len(kept)))
		found = true
		if err := narrowFusion(e, e.Computation(id), in, kept); err != nil {
			return found, err
		}
	}
	return found, nil
}

// narrowable lists the fusions of several results whose computation has no other caller.
func narrowable(e *hlo.Editor, callers []int, c hlo.Computation) (ids []hlo.InstrID) {
	for in := range c.Calls() {
		if in.Opcode() != hlo.OpFusion || !in.Shape().IsTuple() || in.IsRoot() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 ||
			len(hlo.AttrsOf[hlo.FusionAttrs](in).OutputAliasing) > 0 || in.Common() != nil && (in.Common().Sharding != nil || in.Common().Origin != nil) {
			continue
		}
		if callers[in.Callee(0)] != 1 {
			continue
		}
		if fused := e.View(in.Callee(0)); fused.Root().Opcode() == hlo.OpTuple && fused.Root().Common() == nil &&
			fused.Root().UserCount() == 0 {
			ids = append(ids, in.ID())
		}
	}
	return ids
}

// keptParts lists the results of a fusion that are read, or come from what has effects; nil when all are, or none, or it is used in another way.
func keptParts(in, root hlo.Instruction, needed func(hlo.Instruction) bool) (kept []int) {
	for user := range in.Users() {
		if user.Opcode() != hlo.OpGetTupleElement || user.NumControlPredecessors()+user.NumControlSuccessors() > 0 {
			return nil
		}
		if i := int(hlo.AttrsOf[hlo.TupleElementAttrs](user).Index); !slices.Contains(kept, i) {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	for i := range root.NumOperands() {
		if needed(root.OperandInstr(i)) && !slices.Contains(kept, i) {
			kept = append(kept, i)
		}
	}
	if len(kept) == in.Shape().NumElems() {
		return nil
	}
	slices.Sort(kept)
	return kept
}

func narrowFusion(e *hlo.Editor, c hlo.CompEdit, id hlo.InstrID, kept []int) error {
	in := c.At(id)
	shapes, live := make([]hlo.Shape, len(kept)), make([]bool, in.Shape().NumElems())
	for k, i := range kept {
		live[i] = true
		shapes[k] = in.Shape().Elem(i)
	}
	shape, common := hlo.MakeTuple(shapes...), emit.KeptOrigin(in.Common(), live)
	if len(kept) == 1 {
		shape, common = shapes[0], emit.OnlyOrigin(common)
	}
	fused := e.Computation(in.Callee(0))
	root := fused.Root()
	old := slices.Collect(fused.At(root).OperandIDs())
	results := make([]hlo.InstrID, len(kept))
	for k, i := range kept {
		results[k] = old[i]
	}
	if len(kept) > 1 {
		emit.Narrow(fused.Instr(root).SetOperands(results...), shape, live)
	} else {
		fused.SetRoot(results[0])
		if err := fused.Remove(root); err != nil {
			return err
		}
	}
	for _, o := range old {
		pass.Release(fused, o, nil)
	}
	operands := slices.Collect(c.At(id).OperandIDs())
	for i, p := range slices.Backward(fused.View().Parameters()) {
		if fused.UserCount(p) > 0 || fused.Root() == p {
			continue
		}
		if err := fused.RemoveParameter(i); err != nil {
			return err
		}
		operands = slices.Delete(operands, i, i+1)
	}
	c.Instr(id).SetShape(shape).SetOperands(operands...).SetCommon(common)
	for _, user := range slices.Collect(c.Users(id)) {
		if len(kept) == 1 {
			if err := c.ReplaceInstruction(user, id); err != nil {
				return err
			}
			continue
		}
		k := slices.Index(kept, int(hlo.AttrsOf[hlo.TupleElementAttrs](c.At(user)).Index))
		c.Instr(user).SetAttrs(&hlo.TupleElementAttrs{Index: int64(k)})
	}
	return nil
}
