package emit

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Reorder brings the program order of c, and its schedule if it has one, back to operands before users, and moves as little as it can.
// Passes call it when they have made a value an operand of an instruction that stands before it.
func Reorder(c hlo.CompEdit) {
	v := c.View()
	scheduled := v.IsScheduled()
	order := slices.Collect(v.Instructions())
	ids := make([]hlo.InstrID, 0, len(order))
	state := make([]uint8, v.IDLimit()) // 1: on the way, 2: placed
	var stack []hlo.Instruction
	for _, in := range order {
		stack = append(stack[:0], in)
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			if state[top.ID()] != 0 {
				stack = stack[:len(stack)-1]
				if state[top.ID()] == 1 {
					state[top.ID()] = 2
					ids = append(ids, top.ID())
				}
				continue
			}
			state[top.ID()] = 1
			for i := top.NumOperands() - 1; i >= 0; i-- {
				if state[top.Operand(i)] == 0 {
					stack = append(stack, top.OperandInstr(i))
				}
			}
			for id := range top.ControlPredecessors() {
				if state[id] == 0 {
					stack = append(stack, v.MustAt(id))
				}
			}
		}
	}
	if slices.EqualFunc(ids, order, func(id hlo.InstrID, in hlo.Instruction) bool { return id == in.ID() }) {
		return
	}
	if err := c.SetSchedule(ids); err != nil {
		panic(err) // every instruction was named once
	}
	if !scheduled {
		c.ClearSchedule()
	}
}
