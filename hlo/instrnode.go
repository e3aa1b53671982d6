package hlo

import (
	"slices"
	"sync/atomic"
)

// instrNode is an instruction of one version of a computation, written only by the session whose epoch it carries. Its fields are in
// this order, and what few instructions have is elsewhere, to make it 112 bytes, a size class of the allocator: modules have many.
type instrNode struct {
	// stamp is the epoch of the session that made the node, below hashed. In a frozen node the local hash takes its place, hashed set,
	// once asked for: a node is written or it is cached, never both. Atomic.
	stamp  uint64
	exact  uint64 // atomic; hash of everything, on frozen nodes; 0: not computed
	rank   uint64 // orders the instructions of a computation
	name   string
	shape  Shape
	attrs  OpAttrs // nil: none
	common *Common // nil: none
	extra  *extraNode
	pos    Position
	id     InstrID
	few    [fewOperands]InstrID // the operands, unless there are more
	count  uint8                // of operands in few; moreOperands: they are in extra
	op     Opcode
	flags  nodeFlags
}

const (
	instrNodeBytes = 112
	fewOperands    = 4
	moreOperands   = fewOperands + 1
	hashed         = 1 << 63
)

// extraNode holds what few instructions have; nil has none of it.
type extraNode struct {
	operands []InstrID // all of them, if they are more than fewOperands
	control  []InstrID // control predecessors
	called   []CompID
}

const extraNodeBytes = 80

// nodeFlags say which parts of a node its session may write in place; they mean nothing in nodes of other epochs.
type nodeFlags uint8

const (
	ownsAttrs      nodeFlags = 1 << iota // the set of attributes is new, or counted as a copy
	ownsAttrStruct                       // what attrs points to is seen only by this session
	ownsCommon                           // what common points to is seen only by this session
	ownsExtra                            // extra and its arrays belong to this node alone
)

// ownedBy reports whether the node was made or last written in that epoch.
func (n *instrNode) ownedBy(epoch uint64) bool { return atomic.LoadUint64(&n.stamp) == epoch }

// frozenFor reports whether the node can keep derived facts, seen from a view into a session whose first epoch is live; 0 is no session.
func (n *instrNode) frozenFor(live uint64) bool {
	s := atomic.LoadUint64(&n.stamp)
	return live == 0 || s < live || s&hashed != 0
}

// copyTo makes c a copy of n for the session of the given epoch; parts stay shared until they are written.
func (n *instrNode) copyTo(c *instrNode, epoch uint64) {
	c.stamp, c.rank, c.name, c.shape, c.attrs, c.common = epoch, n.rank, n.name, n.shape, n.attrs, n.common
	c.extra, c.pos, c.id, c.few, c.count, c.op = n.extra, n.pos, n.id, n.few, n.count, n.op
}

// operands is shared with the node, and clipped.
func (n *instrNode) operands() []InstrID {
	if n.count <= fewOperands {
		return n.few[:n.count:n.count]
	}
	return n.extra.operands
}

func (n *instrNode) control() []InstrID {
	if n.extra == nil {
		return nil
	}
	return n.extra.control
}

func (n *instrNode) called() []CompID {
	if n.extra == nil {
		return nil
	}
	return n.extra.called
}

func (n *instrNode) parameterNumber() int64 {
	if a, ok := n.attrs.(*ParameterAttrs); ok {
		return a.Number
	}
	return 0
}

// ownExtra returns the extra part of an owned node, writable.
func (n *instrNode) ownExtra(st *CopyStats) *extraNode {
	if n.flags&ownsExtra == 0 {
		n.flags |= ownsExtra
		x := new(extraNode)
		if o := n.extra; o != nil {
			x.operands, x.control, x.called = slices.Clone(o.operands), slices.Clone(o.control), slices.Clone(o.called)
			st.Bytes += extraNodeBytes + 4*(len(x.operands)+len(x.control)+len(x.called))
		}
		n.extra = x
	}
	return n.extra
}

// setOperands gives an owned node other operands; ids is copied.
func (n *instrNode) setOperands(st *CopyStats, ids []InstrID) {
	if len(ids) > fewOperands {
		n.ownExtra(st).operands = slices.Clone(ids)
		n.count = moreOperands
		return
	}
	if n.count > fewOperands {
		n.ownExtra(st).operands = nil
	}
	n.count = uint8(len(ids))
	copy(n.few[:], ids)
}

// appendOperand adds an operand to an owned node.
func (n *instrNode) appendOperand(st *CopyStats, id InstrID) {
	switch {
	case n.count < fewOperands:
		n.few[n.count] = id
		n.count++
	case n.count == fewOperands:
		n.ownExtra(st).operands = append(append(make([]InstrID, 0, 2*fewOperands), n.few[:]...), id)
		n.count = moreOperands
	default:
		x := n.ownExtra(st)
		x.operands = append(x.operands, id)
	}
}

// ownOperands returns the operands of an owned node, writable in place.
func (n *instrNode) ownOperands(st *CopyStats) []InstrID {
	if n.count > fewOperands {
		n.ownExtra(st)
	}
	return n.operands()
}

// fill makes a zeroed node what spec says, but for its epoch, rank, id and final name.
func (n *instrNode) fill(st *CopyStats, spec *InstrSpec) {
	n.describe(spec)
	n.setOperands(st, spec.Operands)
	if len(spec.Callees) > 0 || len(spec.Control) > 0 {
		x := n.ownExtra(st)
		x.control, x.called = slices.Clone(spec.Control), slices.Clone(spec.Callees)
	}
}

// describe fills in what needs no memory of its own.
func (n *instrNode) describe(spec *InstrSpec) {
	n.op, n.name, n.shape, n.attrs, n.common, n.pos = spec.Opcode, spec.Name, spec.Shape, spec.Attrs, spec.Common, spec.Position
	n.flags = ownsAttrs
}
