package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maker builds a function that asks the processor who made it.
func (g generator) maker(name string) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func() uint32")
	g.Doc(name + " returns the first four of the twelve letters by which the processor names its maker.")
	g.MOVL(operand.U32(0), reg.EAX)
	g.CPUID()
	g.Store(reg.EBX, g.ReturnIndex(0))
	g.RET()
}
