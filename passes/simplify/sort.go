package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
)

// SortSimplifier narrows sorts.
var SortSimplifier = &pass.Pass{
	Name:  "sort-simplifier",
	About: []hlo.Opcode{hlo.OpSort},
	Doc: `sort only operands that are used or decide the order

Of several arrays that are sorted together, one goes if it is not taken out of the result and the comparator does not look at it. The comparator
loses its parameters. A sort of one array that remains gives the array, not a tuple.`,
	Lent: true, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		if pass.Fact(ctx, m, analysis.FindClosed).Has(c.ID()) {
			return nil
		}
		for in := range pass.EachOf(c, hlo.OpSort) {
			kept, n := neededOperands(c.Editor(), in), in.NumOperands()
			if kept == nil || len(kept) == n || !ctx.Spend("narrow") {
				continue
			}
			if err := narrowSort(c, in, kept); err != nil {
				return err
			}
			ctx.Count("operands", int64(n-len(kept)))
		}
		return nil
	},
}

// neededOperands lists the operands of a sort that must stay; nil for what is no sort, or one to leave alone.
func neededOperands(e *hlo.Editor, in hlo.Instruction) (kept []int) {
	if in.Opcode() != hlo.OpSort || in.NumOperands() < 2 || in.IsRoot() || in.UserCount() == 0 || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 ||
		in.Common() != nil && in.Common().Sharding != nil {
		return nil
	}
	read := make([]bool, in.NumOperands())
	for user := range in.Users() {
		if user.Opcode() != hlo.OpGetTupleElement || user.NumControlPredecessors()+user.NumControlSuccessors() > 0 {
			return nil
		}
		read[hlo.AttrsOf[hlo.TupleElementAttrs](user).Index] = true
	}
	comparator := e.View(in.Callee(0))
	for i := range read {
		compared := false
		for _, p := range []hlo.Instruction{comparator.Parameter(2 * i), comparator.Parameter(2*i + 1)} {
			compared = compared || p.IsRoot() || p.UserCount() > 0
		}
		if read[i] || compared {
			kept = append(kept, i)
		}
	}
	return kept
}

func narrowSort(c hlo.CompEdit, in hlo.Instruction, kept []int) error {
	spec := hlo.InstrSpec{Opcode: hlo.OpSort, Name: in.Name(), Shape: in.Shape().Elem(kept[0]), Attrs: in.Attrs(), Position: in.Position(),
		Callees: []hlo.CompID{narrowComparator(c.Editor(), c.Editor().View(in.Callee(0)), kept)}}
	if common := in.Common(); common != nil {
		narrower := *common
		narrower.Origin = nil // it describes the parts of the tuple
		spec.Common = &narrower
	}
	var shapes []hlo.Shape
	for _, i := range kept {
		spec.Operands = append(spec.Operands, in.Operand(i))
		shapes = append(shapes, in.Shape().Elem(i))
	}
	if len(kept) > 1 {
		spec.Shape = hlo.MakeTuple(shapes...)
	}
	sorted := c.InsertSpecBefore(in.ID(), spec).ID()
	for _, user := range slices.Collect(c.Users(in.ID())) {
		if len(kept) == 1 {
			if err := c.ReplaceInstruction(user, sorted); err != nil {
				return err
			}
			continue
		}
		i := slices.Index(kept, int(hlo.AttrsOf[hlo.TupleElementAttrs](c.At(user)).Index))
		c.Instr(user).SetOperands(sorted).SetAttrs(&hlo.TupleElementAttrs{Index: int64(i)})
	}
	pass.Release(c, in.ID(), nil)
	if c.Has(in.ID()) {
		return c.Remove(in.ID())
	}
	return nil
}

// narrowComparator copies a comparator without the parameters of the operands that go.
func narrowComparator(e *hlo.Editor, old hlo.Computation, kept []int) hlo.CompID {
	b := e.NewComputation(old.Name())
	b.SetExecutionThread(old.ExecutionThread())
	b.SetScheduled(old.IsScheduled())
	copied := map[hlo.InstrID]hlo.InstrID{}
	for in := range old.OperandsFirst() {
		number, isParameter := in.ParameterNumber()
		if !isParameter {
			copied[in.ID()] = b.Append(control.Copy(e, in, copied))
			continue
		}
		at := slices.Index(kept, int(number/2))
		if at < 0 {
			continue
		}
		spec := control.Copy(e, in, copied)
		spec.Attrs = &hlo.ParameterAttrs{Number: int64(2*at) + number%2}
		copied[in.ID()] = b.Append(spec)
	}
	return b.Finish(copied[old.Root().ID()])
}
