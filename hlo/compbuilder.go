package hlo

import (
	"fmt"
	"slices"
)

// ComputationBuilder makes one computation from beginning to end: the fast way in, for readers of text and protos. Instructions come out
// of slabs and are named when the computation is finished. Several builders of one session may be open at once; the order of Finish is
// the order of the computations in the module.
type ComputationBuilder struct {
	e      *Editor
	gen    uint32
	name   string
	thread string
	nodes  []*instrNode
	params []InstrID

	scheduled bool

	instrs []instrNode // slabs: what is left of them
	attrs  []attrNode
	extras []extraNode
	ids    []InstrID
}

// Slab sizes. A kept instruction keeps its slab alive, so slabs stay small; instructions fill an 8 KB class of the allocator.
const (
	instrSlab = 8192 / instrNodeBytes
	attrSlab  = 64
	extraSlab = 16
	idSlab    = 256
)

// NewComputation starts a computation of the given name, which is made unique when the computation is finished.
func (e *Editor) NewComputation(name string) *ComputationBuilder {
	e.check()
	return &ComputationBuilder{e: e, gen: e.gen, name: name}
}

// SetExecutionThread sets the thread that the computation runs on.
func (b *ComputationBuilder) SetExecutionThread(thread string) {
	if thread == MainThread {
		thread = ""
	}
	b.thread = thread
}

// SetScheduled says whether the order of the instructions is their schedule.
func (b *ComputationBuilder) SetScheduled(scheduled bool) { b.scheduled = scheduled }

// NumInstructions is the number of instructions so far, and the id that the next one gets.
func (b *ComputationBuilder) NumInstructions() int { return len(b.nodes) }

// Append adds an instruction at the end. Operands and control predecessors must have been appended before; slices in spec are copied,
// so the caller may reuse them. The name is not unique yet.
func (b *ComputationBuilder) Append(spec InstrSpec) InstrID {
	if len(b.instrs) == 0 {
		b.instrs = make([]instrNode, min(max(8, len(b.nodes)), instrSlab))
	}
	n := &b.instrs[0]
	b.instrs = b.instrs[1:]
	id := InstrID(len(b.nodes))
	n.id, n.op, n.name, n.shape, n.pos = id, spec.Opcode, spec.Name, spec.Shape, spec.Position
	n.rank = (uint64(id) + 1) * rankGap
	n.operands, n.ownsOps = b.copyIDs(spec.Opcode, spec.Operands), true
	if spec.Attrs != nil || spec.Common != nil {
		if len(b.attrs) == 0 {
			b.attrs = make([]attrNode, min(max(8, len(b.nodes)), attrSlab))
		}
		n.attrs, b.attrs = &b.attrs[0], b.attrs[1:]
		n.attrs.own, n.attrs.common = spec.Attrs, spec.Common
	}
	if len(spec.Callees) > 0 || len(spec.Control) > 0 {
		b.e.checkCallees(spec.Callees)
		if len(b.extras) == 0 {
			b.extras = make([]extraNode, min(max(2, len(b.nodes)), extraSlab))
		}
		n.extra, b.extras = &b.extras[0], b.extras[1:]
		n.extra.called = slices.Clone(spec.Callees)
		n.extra.control = b.copyIDs(spec.Opcode, spec.Control)
	}
	if spec.Opcode == OpParameter {
		b.params = append(b.params, id)
	}
	b.nodes = append(b.nodes, n)
	return id
}

// copyIDs carves a copy of ids out of the slab, clipped, so that nobody appends into a neighbour.
func (b *ComputationBuilder) copyIDs(op Opcode, ids []InstrID) []InstrID {
	if len(ids) == 0 {
		return nil
	}
	if len(b.ids) < len(ids) {
		b.ids = make([]InstrID, max(len(ids), min(max(16, 2*len(b.nodes)), idSlab)))
	}
	c := b.ids[:len(ids):len(ids)]
	b.ids = b.ids[len(ids):]
	for i, id := range ids {
		if int(id) >= len(b.nodes) {
			panic(fmt.Sprintf("hlo: %v in computation %q names instruction %d, which has not been appended yet", op, b.name, id))
		}
		c[i] = id
	}
	return c
}

// Shape is the shape of an instruction appended before.
func (b *ComputationBuilder) Shape(id InstrID) Shape { return b.nodes[id].shape }

// Opcode is the opcode of an instruction appended before.
func (b *ComputationBuilder) Opcode(id InstrID) Opcode { return b.nodes[id].op }

// Name is the name of an instruction appended before, as given.
func (b *ComputationBuilder) Name(id InstrID) string { return b.nodes[id].name }

// Attrs is the own attributes of an instruction appended before, shared and not to be written.
func (b *ComputationBuilder) Attrs(id InstrID) OpAttrs { return b.nodes[id].own() }

// Operands yields the operands of an instruction appended before. The slice is shared and must not be written.
func (b *ComputationBuilder) Operands(id InstrID) []InstrID { return b.nodes[id].operands }

// Callees is the computations called by an instruction appended before. The slice is shared and must not be written.
func (b *ComputationBuilder) Callees(id InstrID) []CompID { return b.nodes[id].called() }

// Finish names everything, with root as the root (NoInstr: the last instruction), and adds the computation to the module. The builder
// must not be used afterwards.
func (b *ComputationBuilder) Finish(root InstrID) CompID {
	e := b.e
	e.check()
	if b.gen != e.gen || b.nodes == nil && b.name == "" {
		panic("hlo: use of a ComputationBuilder after Finish, or after " + e.ended)
	}
	if root == NoInstr {
		root = InstrID(len(b.nodes)) - 1
	} else if int(root) >= len(b.nodes) {
		panic(fmt.Sprintf("hlo: root %d of computation %q does not exist", root, b.name))
	}
	names := e.instrNames()
	for _, n := range b.nodes {
		n.epoch = e.epoch
		if n.name == "" {
			n.name = n.op.String()
		}
		n.name = names.unique(n.name)
		if n.attrs != nil {
			n.attrs.epoch = e.epoch
		}
		if n.extra != nil {
			n.extra.epoch = e.epoch
			e.countCalls(n.extra.called, 1)
		}
	}
	slices.SortStableFunc(b.params, func(x, y InstrID) int {
		return int(b.nodes[x].parameterNumber() - b.nodes[y].parameterNumber())
	})
	st := e.install(&compNode{
		epoch: e.epoch, name: b.name, thread: b.thread, instrs: buildTree(e.epoch, b.nodes), root: root, params: b.params,
		maxRank: uint64(len(b.nodes)) * rankGap, count: int32(len(b.nodes)), idOrder: true, scheduled: b.scheduled,
	})
	for _, n := range b.nodes {
		st.noteNamed(n.id)
	}
	*b = ComputationBuilder{e: e}
	return st.id
}

// SetCallees replaces the called computations of an instruction appended before; ids is copied.
func (b *ComputationBuilder) SetCallees(id InstrID, ids ...CompID) {
	b.e.checkCallees(ids)
	n := b.nodes[id]
	if n.extra == nil {
		n.extra = new(extraNode)
	}
	n.extra.called = slices.Clone(ids)
}
