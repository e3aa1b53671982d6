package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// OptimizationBarrierSimplifier takes out of barriers what they need not hold.
var OptimizationBarrierSimplifier = &pass.Pass{
	Name:  "optimization-barrier-simplifier",
	About: []hlo.Opcode{hlo.OpOptBarrier},
	Doc: `remove operands of barriers that are unused or repeated

	element i of opt-barrier(tuple(...)) that is never read     → the tuple without it
	a value that the tuple has twice                            → the tuple with it once
	a scalar constant, or a broadcast of one, beside others     → goes past the barrier
	get-tuple-element(opt-barrier(tuple(x)), index=0)           → opt-barrier(x)

A barrier is there to keep the computations behind it from being merged with those in front of it, or begun before its operands are there. A repeated
number has no part in that as long as another operand remains; a barrier around constants alone keeps them from being folded, and stays as it is.`,
	Lent: true, Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		for in := range pass.EachOf(c, hlo.OpOptBarrier) {
			if err := narrowBarrier(ctx, c, in.ID()); err != nil {
				return err
			}
		}
		return nil
	},
}

// narrowBarrier replaces a barrier over a tuple by one over fewer values, if all of its readers take the tuple apart.
func narrowBarrier(ctx *pass.Context, c hlo.CompEdit, id hlo.InstrID) error {
	in := c.At(id)
	t := in.OperandInstr(0)
	if t.Opcode() != hlo.OpTuple || in.IsRoot() || in.NumControlPredecessors()+in.NumControlSuccessors()+t.NumControlPredecessors() > 0 || analysis.IsSharded(in) {
		return nil
	}
	// By element: the operand, and whether it is read.
	operands := slices.Collect(t.OperandIDs())
	read := make([]bool, len(operands))
	var readers []hlo.InstrID
	for user := range in.Users() {
		if user.Opcode() != hlo.OpGetTupleElement || user.NumControlPredecessors()+user.NumControlSuccessors() > 0 || analysis.IsSharded(user) {
			return nil
		}
		read[hlo.AttrsOf[hlo.TupleElementAttrs](user).Index] = true
		readers = append(readers, user.ID())
	}
	var held []hlo.InstrID
	for i, o := range operands {
		if read[i] && !isNumber(c.At(o)) && !slices.Contains(held, o) {
			held = append(held, o)
		}
	}
	if len(held) == 0 || len(held) == len(operands) && len(held) > 1 || !ctx.Spend("barrier") {
		return nil
	}
	barrier := hlo.InstrSpec{Opcode: hlo.OpOptBarrier, Name: in.Name(), Shape: c.At(held[0]).Shape(), Operands: held, Common: in.Common(), Position: in.Position()}
	if len(held) > 1 {
		shapes := make([]hlo.Shape, len(held))
		for i, o := range held {
			shapes[i] = c.At(o).Shape()
		}
		barrier.Shape = hlo.MakeTuple(shapes...)
		parts := c.InsertSpecBefore(id, hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: barrier.Shape, Operands: held, Common: t.Common(), Position: t.Position()})
		barrier.Operands = []hlo.InstrID{parts.ID()}
	}
	behind := c.InsertSpecBefore(id, barrier).ID()
	for _, reader := range readers {
		from := c.At(reader)
		o := operands[hlo.AttrsOf[hlo.TupleElementAttrs](from).Index]
		to := o
		switch at := slices.Index(held, o); {
		case at >= 0 && len(held) == 1:
			to = behind
		case at >= 0:
			to = c.InsertSpecBefore(reader, hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Name: from.Name(), Shape: from.Shape(), Operands: []hlo.InstrID{behind},
				Attrs: &hlo.TupleElementAttrs{Index: int64(at)}, Common: from.Common(), Position: from.Position()}).ID()
		}
		if err := c.ReplaceInstruction(reader, to); err != nil {
			return err
		}
	}
	pass.Release(c, id, nil)
	ctx.Count("barriers", 1)
	return nil
}

// isNumber reports a scalar constant or a broadcast of one.
func isNumber(in hlo.Instruction) bool {
	if in.Opcode() == hlo.OpBroadcast {
		in = in.OperandInstr(0)
	}
	return in.Opcode() == hlo.OpConstant && in.Shape().IsScalar()
}
