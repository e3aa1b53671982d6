package legalize

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// ControlDepRewriter makes edges of calls that stand for them.
var ControlDepRewriter = &pass.Pass{
	Name:  "control-dep-rewriter",
	About: []hlo.Opcode{hlo.OpCustomCall},
	Doc: `replace custom calls to control_dep, which say that one value is to be computed before another, by control dependencies

() custom-call(a, b), custom_call_target="control_dep" becomes control-predecessors={a} of b. A call stays, with a remark, if its result is used, or if
a needs b: then the two cannot come in that order.`,
	Lent: true, Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		for in := range pass.EachOf(c, hlo.OpCustomCall) {
			if hlo.AttrsOf[hlo.CustomCallAttrs](in).Target != "control_dep" || in.NumOperands() != 2 {
				continue
			}
			if in.UserCount() > 0 || in.IsRoot() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
				ctx.Missed(in, "not rewritten: something depends on the call itself")
				continue
			}
			before, after := in.Operand(0), in.Operand(1)
			if c.At(after).Opcode() == hlo.OpParameter || needs(c, before, after) {
				ctx.Missed(in, "not rewritten: %%%s cannot be computed before %%%s", c.At(before).Name(), c.At(after).Name())
				continue
			}
			if !ctx.Spend("edge") {
				return nil
			}
			c.Instr(after).AddControlPredecessor(before)
			if err := c.Remove(in.ID()); err != nil {
				return err
			}
			ctx.Count("edges", 1)
		}
		return nil
	},
}

// needs reports whether user depends on id, by operands or by control.
func needs(c hlo.CompEdit, user, id hlo.InstrID) bool {
	seen := map[hlo.InstrID]bool{}
	for work := []hlo.InstrID{user}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if at == id {
			return true
		}
		if !seen[at] {
			seen[at] = true
			in := c.At(at)
			work = slices.AppendSeq(work, in.OperandIDs())
			work = slices.AppendSeq(work, in.ControlPredecessors())
		}
	}
	return false
}
