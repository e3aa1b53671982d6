package hlo

import (
	"iter"
	"slices"
)

// InstrID names an instruction within its computation. It is stable across versions and never reused in one lineage, so tables
// keyed by it stay true. Ids grow in the order of creation.
type InstrID uint32

// NoInstr is the InstrID of no instruction.
const NoInstr = ^InstrID(0)

// Position is a place in the text that a module came from; line and column count from 1, the zero Position is unknown.
type Position struct{ Line, Col uint32 }

// IsKnown reports whether the position says anything.
func (p Position) IsKnown() bool { return p.Line != 0 }

// Instruction is one instruction of one version of a computation. It is a small value, comparable: == means the same instruction
// in the same version. The zero Instruction is none. It never changes and may be read by any number of goroutines, but for one that
// comes from a view of a live session ([CompEdit.View]), which panics once the session edits the computation again or ends.
type Instruction struct {
	n *instrNode
	c *compNode
}

// node checks that a view is not stale.
func (in Instruction) node() *instrNode {
	if in.c.outdated {
		return in.c.live.node(in.n)
	}
	return in.n
}

// IsZero reports whether in is no instruction.
func (in Instruction) IsZero() bool { return in.n == nil }

// ID is the instruction's id in its computation. A stale view still knows it.
func (in Instruction) ID() InstrID { return in.n.id }

// Name is the instruction's name, unique in the module, without '%'.
func (in Instruction) Name() string { return in.node().name }

// Opcode says what the instruction does.
func (in Instruction) Opcode() Opcode { return in.node().op }

// Shape is the shape of the result.
func (in Instruction) Shape() Shape { return in.node().shape }

// Position is where the instruction stands in the text it was read from.
func (in Instruction) Position() Position { return in.node().pos }

// Computation is the computation that the instruction belongs to.
func (in Instruction) Computation() Computation { return Computation{in.c} }

// IsElementwise reports whether element i of the result depends on element i of each operand, scalar operands of select and clamp apart. A
// bitcast-convert does so only between types of the same width.
func (in Instruction) IsElementwise() bool {
	traits := Info(in.Opcode()).Traits
	return traits.Has(TraitElementwise) ||
		traits.Has(TraitElementwiseSameWidth) && in.Shape().Type().Bits() == in.OperandInstr(0).Shape().Type().Bits()
}

// IsRoot reports whether the instruction is the root of its computation.
func (in Instruction) IsRoot() bool { return in.node().id == in.c.root }

// NumOperands is the number of operands.
func (in Instruction) NumOperands() int { return len(in.node().operands()) }

// Operand is the id of operand i. It panics when i is out of range.
func (in Instruction) Operand(i int) InstrID { return in.node().operands()[i] }

// OperandInstr is operand i. It panics when i is out of range.
func (in Instruction) OperandInstr(i int) Instruction {
	return in.c.mustAt(in.node().operands()[i])
}

// Operands yields the operands in order; an operand used twice comes twice.
func (in Instruction) Operands() iter.Seq[Instruction] {
	n := in.checked()
	return func(yield func(Instruction) bool) { in.c.each(n.operands(), yield) }
}

// OperandIDs yields the ids of the operands in order.
func (in Instruction) OperandIDs() iter.Seq[InstrID] {
	ids := in.operandIDs()
	return func(yield func(InstrID) bool) { eachID(ids, yield) }
}

// Iterators must be small enough to be inlined, as a loop over one that is allocates nothing: so these find what is iterated over, out of
// line.

//go:noinline
func (in Instruction) checked() *instrNode { return in.node() }

//go:noinline
func (in Instruction) operandIDs() []InstrID { return stable(in, in.node().operands()) }

//go:noinline
func (in Instruction) controlIDs() []InstrID { return stable(in, in.node().control()) }

//go:noinline
func (in Instruction) calleeIDs() []CompID { return stable(in, in.node().called()) }

//go:noinline
func (in Instruction) userIDs() []InstrID { return in.c.usersOf(in.node().id) }

//go:noinline
func (in Instruction) successorIDs() []InstrID { return in.c.successorsOf(in.node().id) }

// stable is ids that belong to a node, as they are at the call: in a view the session may write to them.
func stable[T any](in Instruction, ids []T) []T {
	if live := in.c.live; live != nil && live.e.owns(in.n) {
		return slices.Clone(ids)
	}
	return ids
}

func eachID[ID InstrID | CompID](ids []ID, yield func(ID) bool) {
	for _, id := range ids {
		if !yield(id) {
			return
		}
	}
}

// each yields the instructions of the given ids.
func (c *compNode) each(ids []InstrID, yield func(Instruction) bool) {
	for _, id := range ids {
		if !yield(c.mustAt(id)) {
			return
		}
	}
}

// Attrs is the op's own attributes, nil for an op without any. What it points to is shared and must not be written; see [AttrsOf].
func (in Instruction) Attrs() OpAttrs {
	n := in.node()
	in.seen(n, ownsAttrStruct)
	return n.attrs
}

// Common is the attributes that any instruction may have; nil when it has none of them.
func (in Instruction) Common() *Common {
	n := in.node()
	in.seen(n, ownsCommon)
	return n.common
}

// seen notes that a reader holds a part of a node now, so that the session must not write to it.
func (in Instruction) seen(n *instrNode, part nodeFlags) {
	if live := in.c.live; live != nil && live.e.owns(n) {
		n.flags &^= part
	}
}

// Attr is the attribute of the given key, own or common. An own attribute is always there, with its default value if nothing else; a
// common one is there when it is set.
func (in Instruction) Attr(key AttrKey) (Attr, bool) {
	n := in.node()
	in.seen(n, ownsAttrStruct|ownsCommon)
	if v, ok := attrByKey(n.attrs, key); ok {
		return v, true
	}
	return commonByKey(n.common, key)
}

// NumControlPredecessors is the number of control predecessors.
func (in Instruction) NumControlPredecessors() int { return len(in.node().control()) }

// ControlPredecessors yields the ids of the instructions that must run before this one although it does not use their results.
func (in Instruction) ControlPredecessors() iter.Seq[InstrID] {
	ids := in.controlIDs()
	return func(yield func(InstrID) bool) { eachID(ids, yield) }
}

// ControlSuccessors yields the ids of the instructions that name this one as control predecessor.
func (in Instruction) ControlSuccessors() iter.Seq[InstrID] {
	ids := in.successorIDs()
	return func(yield func(InstrID) bool) { eachID(ids, yield) }
}

// NumControlSuccessors is the number of instructions that name this one as control predecessor.
func (in Instruction) NumControlSuccessors() int { return len(in.c.successorsOf(in.node().id)) }

// NumCallees is the number of called computations.
func (in Instruction) NumCallees() int { return len(in.node().called()) }

// Callee is called computation i, in the order of the roles of the op table. It panics when i is out of range.
func (in Instruction) Callee(i int) CompID { return in.node().called()[i] }

// Callees yields the called computations in order.
func (in Instruction) Callees() iter.Seq[CompID] {
	ids := in.calleeIDs()
	return func(yield func(CompID) bool) { eachID(ids, yield) }
}

// Users yields the instructions that use the result as an operand, each once, by ascending id.
func (in Instruction) Users() iter.Seq[Instruction] {
	ids := in.userIDs()
	return func(yield func(Instruction) bool) { in.c.each(ids, yield) }
}

// UserCount is the number of instructions that use the result.
func (in Instruction) UserCount() int { return in.c.userCount(in.node().id) }

// ParameterNumber is the number of a parameter instruction; false for other ops.
func (in Instruction) ParameterNumber() (int64, bool) {
	n := in.node()
	if n.op != OpParameter {
		return 0, false
	}
	return n.parameterNumber(), true
}

// Literal is the value of a constant instruction, nil for other ops.
func (in Instruction) Literal() *Literal {
	if a, ok := in.Attrs().(*ConstantAttrs); ok {
		return a.Literal
	}
	return nil
}
