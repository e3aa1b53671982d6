package hlo

import (
	"cmp"
	"iter"
	"slices"
)

// OpcodeSet is a set of opcodes.
type OpcodeSet [(NumOpcodes + 63) / 64]uint64

// OpcodesOf makes a set.
func OpcodesOf(ops ...Opcode) (s OpcodeSet) {
	for _, op := range ops {
		s.add(op)
	}
	return s
}

// OpcodesWith is the set of those that have any of some traits.
func OpcodesWith(t Trait) (s OpcodeSet) {
	for op := range Opcode(NumOpcodes) {
		if Info(op).Traits&t != 0 {
			s.add(op)
		}
	}
	return s
}

func (s *OpcodeSet) add(op Opcode) { s[op/64] |= 1 << (op % 64) }

// Has reports whether an opcode is in the set.
func (s OpcodeSet) Has(op Opcode) bool { return s[op/64]>>(op%64)&1 != 0 }

// With is the set of what is in either.
func (s OpcodeSet) With(t OpcodeSet) OpcodeSet {
	for i, word := range t {
		s[i] |= word
	}
	return s
}

// Meets reports whether an opcode is in both sets.
func (s OpcodeSet) Meets(t OpcodeSet) bool {
	for i, word := range t {
		if s[i]&word != 0 {
			return true
		}
	}
	return false
}

// Opcodes is the set of opcodes that the computation has. It is remembered: whoever looks for instructions of few opcodes asks first whether there are
// any.
func (c Computation) Opcodes() OpcodeSet {
	n := c.node()
	if x := n.cached.Load(); x != nil {
		if ops := x.opcodes.Load(); ops != nil {
			return *ops
		}
	}
	if n.changesApart() {
		ops := new(OpcodeSet)
		n.inProgramOrder(func(in Instruction) bool { ops.add(in.Opcode()); return true })
		return *ops
	}
	ops, _ := n.survey()
	return *ops
}

// InstructionsOf yields the instructions of some opcodes, in program order. Of a large computation it is remembered where they are, so that nobody looks at the others.
func (c Computation) InstructionsOf(ops OpcodeSet) iter.Seq[Instruction] {
	n := c.checked()
	return func(yield func(Instruction) bool) {
		ids, ok := n.idsOf(ops)
		if !ok {
			n.inProgramOrder(func(in Instruction) bool { return !ops.Has(in.Opcode()) || yield(in) })
			return
		}
		for next := range slices.Chunk(ids, NodesAhead) {
			n.ahead(next)
			for _, id := range next {
				if !yield(n.mustAt(id)) {
					return
				}
			}
		}
	}
}

// idsOf lists the instructions of some opcodes in program order. It reports false if a walk over all is as good: they are not few, or it is not known where they are.
func (c *compNode) idsOf(ops OpcodeSet) (ids []InstrID, ok bool) {
	const few = 8 // of so many one
	x := c.cached.Load()
	if x == nil || c.changesApart() {
		return nil, false
	}
	byID := x.byID.Load()
	if byID == nil {
		return nil, false
	}
	for id, op := range *byID {
		if ops.Has(op) {
			if len(ids) == int(c.count)/few {
				return nil, false
			}
			ids = pushed(ids, InstrID(id))
		}
	}
	if !c.idOrder {
		slices.SortFunc(ids, func(a, b InstrID) int {
			return cmp.Compare(c.instrs.get(uint32(a)).rank, c.instrs.get(uint32(b)).rank)
		})
	}
	return ids, true
}

// HasEmpty reports whether a result is an array with a dimension of size 0, or may be one. It is remembered, as the opcodes are.
func (c Computation) HasEmpty() bool {
	n := c.node()
	if n.changesApart() {
		return true
	}
	c.Opcodes()
	return n.facts.Load()&noEmpty == 0
}

// changesApart reports whether the node is a view of what has been edited since: its instructions are found through the view alone.
func (c *compNode) changesApart() bool { return c.live != nil && !c.live.isCurrent() }
