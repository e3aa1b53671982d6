package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// propagateScalars puts scalar constants of a loop's first state, which no round changes, where its body and its condition read them, and where the body hands
// them on: the part is a constant then, and goes the next time. Constants that are arrays stay, as they would be copied. The loop owns its callees.
func propagateScalars(ctx *pass.Context, e *hlo.Editor, while hlo.Instruction) {
	init := while.OperandInstr(0)
	bv, cv := e.View(while.Callee(calleeNamed("body"))), e.View(while.Callee(calleeNamed("condition")))
	if init.Opcode() != hlo.OpTuple || bv.Root().Opcode() != hlo.OpTuple || bv.NumParameters() != 1 || cv.NumParameters() != 1 || bv.Parameter(0).IsRoot() || cv.Parameter(0).IsRoot() {
		return
	}
	scalars := &sinker{scalars: true}
	for i := range init.NumOperands() {
		v := init.OperandInstr(i)
		if !scalars.sinks(v) || !handsOn(bv, i, v.Shape()) || !ctx.Spend("propagate") {
			continue
		}
		for _, c := range []hlo.Computation{bv, cv} {
			elements, edit := elementsOf(c, i), e.Computation(c.ID())
			if len(elements) == 0 {
				continue
			}
			useInstead(edit, elements, plainCopy(v), hlo.InstrSpec{}, -1)
			for _, id := range slices.Backward(elements) {
				pass.Release(edit, id, nil)
			}
		}
		ctx.Count("propagated", 1)
	}
}
