package loops

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
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
	ordered := false // edges that have been added may close a way that there was not
	deps := analysis.FindDependencies(b)
	for i := range b.Root().NumOperands() {
		write := b.Root().OperandInstr(i)
		if write.Opcode() == hlo.OpGetTupleElement || write.Opcode() == hlo.OpParameter || !write.Shape().IsArray() {
			continue
		}
		for element := range b.Parameter(0).Users() {
			if element.Opcode() != hlo.OpGetTupleElement || hlo.AttrsOf[hlo.TupleElementAttrs](element).Index != int64(i) {
				continue
			}
			for read := range element.Users() {
				if ordered {
					deps, ordered = analysis.FindDependencies(e.View(b.ID())), false
				}
				if read.ID() == write.ID() || read.IsRoot() || deps.Related(write.ID())[deps.Position(read.ID())] || !ctx.Spend("order") {
					continue
				}
				ctx.Passed(write, "runs after %%%s, which reads part %d of the state before", read.Name(), i)
				e.Computation(b.ID()).Instr(write.ID()).AddControlPredecessor(read.ID())
				ctx.Count("edges", 1)
				ordered = true
			}
		}
	}
}
