package loops

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// UnreadState leaves out what a loop would write over.
var UnreadState = &pass.Pass{
	Name: "while-loop-unread-state",
	Doc: `begin arrays that a loop writes over before it reads them as storage without contents

A loop that keeps the result of each round, as a scan does, begins with an array of zeros and writes one block of it in each round. The zeros are not needed if the loop counts,
the blocks of its rounds cover the array, and nothing but the update reads the array in a round or the condition. The array is then AllocateBuffer at first.`,
	About: []hlo.Opcode{hlo.OpWhile},
	Lent:  true,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			ce := e.Computation(c.ID())
			for in := range pass.EachOf(ce, hlo.OpWhile) {
				if parts := unreadParts(ctx, m, in); len(parts) > 0 {
					beginAsStorage(ce, in.ID(), parts)
					ctx.Count("buffers", int64(len(parts)))
				}
			}
		}
		return e.Freeze(), nil
	},
}

// leastUnread is the size in bytes from which on it is worth not to fill an array.
const leastUnread = 4 << 10

// unreadParts lists the parts of a loop's state that are one value throughout at first, and of which the loop reads no element that it has not written.
func unreadParts(ctx *pass.Context, m hlo.Module, while hlo.Instruction) (parts []int) {
	l, ok := analysis.FindLoop(m, while)
	if !ok || l.Trip < 1 || analysis.IsSharded(while) {
		return nil
	}
	b, c, init := body(m, while), condition(m, while), while.OperandInstr(0)
	if b.Root().UserCount() > 0 || init.NumControlPredecessors() > 0 || !readsParts(b.Parameter(0)) || !readsParts(c.Parameter(0)) {
		return nil
	}
	for i := range init.NumOperands() {
		v := init.OperandInstr(i)
		if v.Opcode() == hlo.OpBroadcast && v.OperandInstr(0).Shape().IsScalar() && v.Shape().IsStatic() && v.Shape().ByteSize() >= leastUnread && !analysis.IsSharded(v) &&
			len(elementsOf(c, i)) == 0 && isWrittenOver(b, i, l) && ctx.Spend("storage") {
			ctx.Passed(v, "is not filled: the loop %%%s writes it over before it reads it", while.Name())
			parts = append(parts, i)
		}
	}
	return parts
}

// isWrittenOver reports whether the rounds of a loop do nothing with part i of the state but to update blocks that together are all of it.
func isWrittenOver(b hlo.Computation, i int, l analysis.Loop) bool {
	update, elements := b.Root().OperandInstr(i), elementsOf(b, i)
	if update.Opcode() != hlo.OpDynamicUpdateSlice || update.UserCount() != 1 || len(elements) != 1 || b.MustAt(elements[0]).UserCount() != 1 || !update.Shape().IsStatic() {
		return false
	}
	for k := range b.Root().NumOperands() {
		if k != i && b.Root().Operand(k) == update.ID() {
			return false
		}
	}
	for k, o := range slices.Collect(update.OperandIDs()) {
		if (k == 0) != (o == elements[0]) {
			return false
		}
	}
	whole, block := update.Shape(), update.OperandInstr(1).Shape()
	along := -1
	for axis := range whole.Rank() {
		if whole.Dim(axis) == block.Dim(axis) {
			continue // it begins at 0, whatever the index
		}
		if along >= 0 {
			return false
		}
		along = axis
	}
	return along < 0 || covers(update.OperandInstr(2+along), l, block.Dim(along), whole.Dim(along))
}

// covers reports whether blocks of a size that begin at the values of an index in the rounds of a loop are all of an axis, with none of them moved to fit in.
func covers(index hlo.Instruction, l analysis.Loop, block, axis int64) bool {
	sign, first, ok := fromCounter(index, l)
	if !ok || !index.Shape().Type().IsInteger() || index.Shape().Type().Bits() < 32 || axis > math.MaxInt32 || l.Step > block || l.Trip > axis || l.First < 0 || l.First > axis {
		return false
	}
	first += sign * l.First
	last := first + sign*(l.Trip-1)*l.Step
	return min(first, last) == 0 && max(first, last) == axis-block
}

// fromCounter is an index as a sum of a number and the loop's counter, or its opposite.
func fromCounter(index hlo.Instruction, l analysis.Loop) (sign, number int64, ok bool) {
	if isCounter(index, l) {
		return 1, 0, true
	}
	if index.Opcode() != hlo.OpSubtract || !isCounter(index.OperandInstr(1), l) || index.OperandInstr(0).Literal() == nil {
		return 0, 0, false
	}
	number, ok = index.OperandInstr(0).Literal().ScalarInt()
	return -1, number, ok && number >= 0 && number <= math.MaxInt32
}

// beginAsStorage makes parts of the state of a loop storage without contents at first. It returns the tuple of the first state.
func beginAsStorage(c hlo.CompEdit, while hlo.InstrID, parts []int) hlo.InstrID {
	init := c.At(c.At(while).Operand(0))
	out, was, common, state := emit.Before(c, init), init.ID(), init.Common(), init.Shape()
	operands := slices.Collect(init.OperandIDs())
	for _, i := range parts {
		operands[i] = out.OpOf(hlo.OpCustomCall, out.Shape(operands[i]), &hlo.CustomCallAttrs{Target: hlo.TargetAllocateBuffer, FeatureGroupCount: 1, BatchGroupCount: 1})
	}
	tuple := out.OpOf(hlo.OpTuple, state, nil, operands...)
	emit.Retuple(c.Instr(tuple).SetCommon(common), state)
	c.Instr(while).SetOperand(0, tuple)
	pass.Release(c, was, nil)
	return tuple
}
