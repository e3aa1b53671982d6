package hlo

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

// changesApart reports whether the node is a view of what has been edited since: its instructions are found through the view alone.
func (c *compNode) changesApart() bool { return c.live != nil && !c.live.isCurrent() }
