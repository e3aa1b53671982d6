package collectives

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// ScheduleLinearizer gives collectives one order.
var ScheduleLinearizer = &pass.Pass{
	Name: "collectives-schedule-linearizer",
	Doc: `give the collectives of each computation one order

Every collective gets a control dependency on the one before it in post order, unless it comes after that already. All devices then meet in the
same order, whatever the scheduler does.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			var before hlo.Instruction
			var ways *analysis.Ways
			for in := range c.PostOrder() {
				if !isCollective(in) {
					continue
				}
				if ways == nil {
					ways = analysis.FindWays(c)
				}
				last := before
				before = in
				if last.IsZero() || ways.Precedes(last.ID(), in.ID()) || !ctx.Spend("order") {
					continue
				}
				ctx.Passed(in, "runs after %%%s, from which it is independent", last.Name())
				e.Computation(c.ID()).Instr(in.ID()).AddControlPredecessor(last.ID())
				ctx.Count("edges", 1)
			}
		}
		return e.Freeze(), nil
	},
}
