package control

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// PropagateCallMetadata names ops after the calls around them.
var PropagateCallMetadata = &pass.Pass{
	Name: "propagate-call-metadata",
	Doc: `prefix the op_names of called instructions with the op_name of the call

Loops and branches in the callee are named with it. A callee that several calls run keeps its names: it has no one caller to be named after.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpCall || !calledOnce(m, in.Callee(0)) {
					continue
				}
				common := in.Common()
				if common == nil || common.Metadata == nil || common.Metadata.OpName == "" || !ctx.Spend("call") {
					continue
				}
				(&prefixing{prefix: common.Metadata.OpName}).putInside(e, in.Callee(0))
				ctx.Count("calls", 1)
			}
		}
		return e.Freeze(), nil
	},
}
