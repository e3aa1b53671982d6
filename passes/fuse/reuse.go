package fuse

import "github.com/gohalo/halo/hlo"

// expensive reports whether computing an instruction again costs more than reading its result.
func expensive(in hlo.Instruction) bool {
	switch in.Opcode() {
	case hlo.OpDivide, hlo.OpRemainder: // by a constant integer they are multiplications
		return !in.Shape().Type().IsInteger() || in.OperandInstr(1).Opcode() != hlo.OpConstant
	case hlo.OpConvert: // narrow formats are rounded by software
		return in.Shape().Type().IsFloat() && in.Shape().Type().Bits() < 16
	}
	switch hlo.Info(in.Opcode()).Work {
	case hlo.WorkNone, hlo.WorkTraffic, hlo.WorkPart, hlo.WorkUpdate, hlo.WorkElements:
		return false
	}
	return true
}

// use is how often elements of an operand are read.
type use int

const (
	unused   use = iota
	inPlace      // at the index of the result
	permuted     // once, at another index
	reused
)

// reuses reports whether a consumer reads elements of operand i more than once.
func (f *engine) reuses(consumer hlo.Instruction, i int) bool {
	if consumer.Opcode() != hlo.OpFusion {
		return useOf(consumer, i) == reused
	}
	body := f.c.Editor().View(consumer.Callee(0))
	of := map[hlo.InstrID]use{} // how the root reads an instruction
	of[body.Root().ID()] = inPlace
	order := make([]hlo.Instruction, 0, body.NumInstructions())
	for in := range body.PostOrder() {
		order = append(order, in)
	}
	for k := len(order) - 1; k >= 0; k-- {
		in := order[k]
		for n := range in.NumOperands() {
			through := max(of[in.ID()], useOf(in, n))
			switch was := of[in.Operand(n)]; {
			case was == unused:
				of[in.Operand(n)] = through
			case was == reused || through == reused || was == permuted || through == permuted:
				of[in.Operand(n)] = reused
			}
		}
	}
	return of[body.Parameters()[i]] == reused
}

// useOf is how an instruction reads the elements of operand i.
func useOf(in hlo.Instruction, i int) use {
	traits := hlo.Info(in.Opcode()).Traits
	switch {
	case elementwise(in):
		if in.OperandInstr(i).Shape().Rank() < in.Shape().Rank() {
			return reused // a scalar beside arrays
		}
		return inPlace
	case in.Opcode() == hlo.OpBroadcast && in.Shape().NumElements() == in.OperandInstr(0).Shape().NumElements():
		return permuted
	case in.Opcode() == hlo.OpBroadcast || in.Opcode() == hlo.OpGather:
		return reused
	case in.Opcode() == hlo.OpReduce || in.Opcode() == hlo.OpConcatenate:
		return permuted
	case in.Opcode() == hlo.OpPad || in.Opcode() == hlo.OpDynamicSlice:
		if i > 0 {
			return reused
		}
		return permuted
	case in.Opcode() == hlo.OpDynamicUpdateSlice:
		if i > 1 {
			return reused
		}
		return permuted
	case in.Opcode() == hlo.OpDot && in.Shape().Rank() <= 1 && in.OperandInstr(i).Shape().Rank() == 2:
		return permuted
	case traits.Has(hlo.TraitMovesData):
		return permuted
	}
	return reused
}

// indices is for how many indices, each by a way of its own through the fusion, operand i would be computed.
func (f *engine) indices(fusion hlo.Instruction, i int) int {
	body := f.c.Editor().View(fusion.Callee(0))
	counts := map[hlo.InstrID]int{}
	ways := map[hlo.InstrID]map[hlo.InstrID]bool{} // the instructions that index each by an index of their own
	index := func(id, by hlo.InstrID) {
		if ways[id] == nil {
			ways[id] = map[hlo.InstrID]bool{}
		}
		ways[id][by] = true
	}
	var order []hlo.Instruction
	for in := range body.PostOrder() {
		order = append(order, in)
	}
	const itself = hlo.NoInstr
	counts[itself] = 1
	index(body.Root().ID(), itself)
	for k := len(order) - 1; k >= 0; k-- {
		in := order[k]
		for by := range ways[in.ID()] {
			counts[in.ID()] += counts[by]
		}
		for o := range in.OperandIDs() {
			if !elementwise(in) && in.Opcode() != hlo.OpTranspose {
				index(o, in.ID())
				continue
			}
			for by := range ways[in.ID()] {
				index(o, by)
			}
		}
	}
	return counts[body.Parameters()[i]]
}
