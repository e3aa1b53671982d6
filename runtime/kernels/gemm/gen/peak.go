package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// peak builds a loop of nothing but multiplications and additions in registers, 14 at once.
func (g generator) peak(name string, vector int) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(rounds int)")
	g.Doc(fmt.Sprintf("%s multiplies and adds %d vectors in every round.", name, peakVectors))
	rounds := g.Load(g.Param("rounds"), g.GP64())
	v := vectors{g, element{name: "float32", size: 4}, vector}
	x, y := v.register(), v.register()
	v.zero(x)
	v.zero(y)
	sums := make([]reg.VecVirtual, peakVectors)
	for i := range sums {
		sums[i] = v.register()
		v.zero(sums[i])
	}
	g.Label("round")
	for _, s := range sums {
		v.VFMADD231PS(x, y, s)
	}
	g.DECQ(rounds)
	g.JNZ(operand.LabelRef("round"))
	g.VZEROUPPER()
	g.RET()
}

// peakVectors is more than a processor has multiplications and additions under way.
const peakVectors = 14
