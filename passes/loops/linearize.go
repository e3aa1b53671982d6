package loops

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ScheduleLinearizer lets rounds update their state in place.
var ScheduleLinearizer = &pass.Pass{
	Name: "loop-schedule-linearizer",
	Doc: `read each part of a loop's state before the round writes the next one

What makes the next value of a part of the state gets control dependencies on the other readers of the value before it, unless one of these needs
the new value. copy-insertion then finds that the new value may take the place of the old one. Bodies that have a schedule stay.`,
	About: []hlo.Opcode{hlo.OpWhile},
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		done := map[hlo.CompID]bool{}
		for c := range m.PostOrder() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpWhile || !in.Shape().IsTuple() || done[body(m, in).ID()] {
					continue
				}
				b := body(m, in)
				done[b.ID()] = true
				if b.Root().Opcode() == hlo.OpTuple && !b.IsScheduled() {
					readFirst(ctx, e, b)
				}
			}
		}
		return e.Freeze(), nil
	},
}

// readFirst orders the readers of each part before its writer.
func readFirst(ctx *pass.Context, e *hlo.Editor, b hlo.Computation) {
	ways, changed := analysis.FindWays(b), false
	readers := make([][]hlo.InstrID, b.Root().NumOperands()) // by part of the state
	for element := range b.Parameter(0).Users() {
		if element.Opcode() == hlo.OpGetTupleElement {
			i := hlo.AttrsOf[hlo.TupleElementAttrs](element).Index
			for read := range element.Users() {
				readers[i] = append(readers[i], read.ID())
			}
		}
	}
	for i := range b.Root().NumOperands() {
		write := b.Root().OperandInstr(i)
		if write.Opcode() == hlo.OpGetTupleElement || write.Opcode() == hlo.OpParameter || !write.Shape().IsArray() {
			continue
		}
		for _, id := range readers[i] {
			read := b.MustAt(id)
			if id == write.ID() || read.IsRoot() || ways.Precedes(id, write.ID()) || ways.Precedes(write.ID(), id) || !ctx.Spend("order") {
				continue
			}
			ctx.Passed(write, "runs after %%%s, which reads part %d of the state before", read.Name(), i)
			e.Computation(b.ID()).Instr(write.ID()).AddControlPredecessor(id)
			ways.Add(id, write.ID())
			ctx.Count("edges", 1)
			changed = true
		}
	}
	if changed {
		emit.Reorder(e.Computation(b.ID()))
	}
}
