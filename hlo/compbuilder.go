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
	nodes  leafList[instrNode]
	params []InstrID

	// hashes are those of the names, taken while the names are in the cache, as long as the session's table of names asks for them. When the
	// computation is finished, no text of any name is looked at.
	hashes    hashList
	slabs     builderSlabs
	hashed    bool
	scheduled bool
}

// builderSlabs is what is left of slabs for the lists of instructions. Slabs begin small and double.
type builderSlabs struct {
	extras []extraNode
	ids    []InstrID
	comps  []CompID
	made   int // slabs so far
}

const (
	maxExtraSlab = 4096 / extraNodeBytes
	maxIDSlab    = 512
)

// size is that of the next slab, which is at most limit.
func (s *builderSlabs) size(limit int) int {
	s.made = min(s.made+1, 16)
	return min(2<<s.made, limit)
}

// cut copies a list to the beginning of a slab, or by itself when it is long. The copy is clipped, so that nothing is ever added in place.
func cut[T any](s *builderSlabs, slab *[]T, list []T) []T {
	n := len(list)
	if n == 0 {
		return nil
	}
	if n > len(*slab) {
		size := s.size(maxIDSlab)
		if n > size/4 {
			return slices.Clip(slices.Clone(list))
		}
		*slab = make([]T, size)
	}
	copy(*slab, list)
	l := (*slab)[:n:n]
	*slab = (*slab)[n:]
	return l
}

// fill is [instrNode.fill] with memory from slabs.
func (s *builderSlabs) fill(n *instrNode, spec *InstrSpec) {
	n.describe(spec)
	few := len(spec.Operands) <= fewOperands
	if few {
		n.count = uint8(len(spec.Operands))
		copy(n.few[:], spec.Operands)
	}
	if few && len(spec.Callees) == 0 && len(spec.Control) == 0 {
		return
	}
	if len(s.extras) == 0 {
		s.extras = make([]extraNode, s.size(maxExtraSlab))
	}
	n.extra, s.extras = &s.extras[0], s.extras[1:]
	n.flags |= ownsExtra
	if !few {
		n.count = moreOperands
		n.extra.operands = cut(s, &s.ids, spec.Operands)
	}
	n.extra.control, n.extra.called = cut(s, &s.ids, spec.Control), cut(s, &s.comps, spec.Callees)
}

// builtComp is a computation, its info, and what is known of it when it is built, in one allocation.
type builtComp struct {
	compNode
	info    compInfo
	known   compCache
	opcodes OpcodeSet
	calls   *callList // nil: none
}

// hashList is a list of hashes in pieces, so that a long one does not move when it grows.
type hashList struct {
	pieces [][]uint64
	n      int
}

func (l *hashList) add(h uint64) {
	k, i := l.n/freshChunk, l.n%freshChunk
	if k == len(l.pieces) {
		n := freshChunk
		if k == 0 {
			n = 16 // most computations are small
		}
		l.pieces = append(l.pieces, make([]uint64, n))
	}
	if n := len(l.pieces[k]); i == n {
		l.pieces[k] = append(l.pieces[k], make([]uint64, n)...)
	}
	l.pieces[k][i] = h
	l.n++
}

func (l *hashList) at(i InstrID) *uint64 { return &l.pieces[i/freshChunk][i%freshChunk] }

// NewComputation starts a computation of the given name, which is made unique when the computation is finished.
func (e *Editor) NewComputation(name string) *ComputationBuilder {
	e.check()
	b := &ComputationBuilder{e: e}
	b.begin(name)
	return b
}

// Next starts another computation with a builder that has finished one.
func (b *ComputationBuilder) Next(name string) {
	b.e.check()
	if b.gen != 0 {
		panic(fmt.Sprintf("hlo: Next of a ComputationBuilder that has not finished %q", b.name))
	}
	b.begin(name)
}

func (b *ComputationBuilder) begin(name string) {
	e := b.e
	b.gen, b.name = e.gen, name
	names := e.root.instrNames
	b.hashed = names == nil || names.epoch == e.epoch && names.addsWhole()
	if t := e.side; t != nil && len(t.lists) > 0 {
		last := len(t.lists) - 1
		b.nodes, t.lists = t.lists[last], t.lists[:last]
	}
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
func (b *ComputationBuilder) NumInstructions() int { return b.nodes.n }

// Append adds an instruction at the end. Operands and control predecessors must have been appended before; slices in spec are copied,
// so the caller may reuse them. The name is not unique yet.
func (b *ComputationBuilder) Append(spec InstrSpec) InstrID { return b.AppendSpec(&spec) }

// AppendSpec is [ComputationBuilder.Append] of *spec, which the caller may reuse.
func (b *ComputationBuilder) AppendSpec(spec *InstrSpec) InstrID {
	b.e.holder.claim()
	b.checkIDs(spec.Opcode, spec.Operands)
	b.checkIDs(spec.Opcode, spec.Control)
	b.e.checkCallees(spec.Callees)
	n := b.e.takeNode(maxSlab)
	b.slabs.fill(n, spec)
	id := InstrID(b.nodes.n)
	n.id, n.rank = id, (uint64(id)+1)*rankGap
	if spec.Opcode == OpParameter {
		b.params = append(b.params, id)
	}
	b.nodes.add(n)
	if b.hashed {
		b.hashes.add(freshHash(spec.Name, spec.NameHash))
	}
	return id
}

func (b *ComputationBuilder) checkIDs(op Opcode, ids []InstrID) {
	for _, id := range ids {
		if int(id) >= b.nodes.n {
			panic(fmt.Sprintf("hlo: %v in computation %q names instruction %d, which has not been appended yet", op, b.name, id))
		}
	}
}

// Shape is the shape of an instruction appended before.
func (b *ComputationBuilder) Shape(id InstrID) Shape { return b.nodes.at(uint32(id)).shape }

// Opcode is the opcode of an instruction appended before.
func (b *ComputationBuilder) Opcode(id InstrID) Opcode { return b.nodes.at(uint32(id)).op }

// Name is the name of an instruction appended before, as given.
func (b *ComputationBuilder) Name(id InstrID) string { return b.nodes.at(uint32(id)).name }

// Position is where an instruction appended before comes from.
func (b *ComputationBuilder) Position(id InstrID) Position { return b.nodes.at(uint32(id)).pos }

// SetName renames an instruction appended before. The name is not unique yet.
func (b *ComputationBuilder) SetName(id InstrID, name string) {
	b.nodes.at(uint32(id)).name = name
	if b.hashed {
		*b.hashes.at(id) = freshHash(name, 0)
	}
}

// Attrs is the own attributes of an instruction appended before, shared and not to be written.
func (b *ComputationBuilder) Attrs(id InstrID) OpAttrs { return b.nodes.at(uint32(id)).attrs }

// Common is the attributes common to all opcodes of an instruction that was appended before, nil for none.
func (b *ComputationBuilder) Common(id InstrID) *Common { return b.nodes.at(uint32(id)).common }

// Operands yields the operands of an instruction appended before. The slice is shared and must not be written.
func (b *ComputationBuilder) Operands(id InstrID) []InstrID { return b.nodes.at(uint32(id)).operands() }

// Callees is the computations called by an instruction appended before. The slice is shared and must not be written.
func (b *ComputationBuilder) Callees(id InstrID) []CompID { return b.nodes.at(uint32(id)).called() }

// Finish names everything, with root as the root (NoInstr: the last instruction), and adds the computation to the module. The builder
// must not be used afterwards, but for [ComputationBuilder.Next].
func (b *ComputationBuilder) Finish(root InstrID) CompID {
	e := b.e
	e.check()
	if b.gen != e.gen || b.nodes.leaves == nil && b.name == "" {
		panic("hlo: use of a ComputationBuilder after Finish, or after " + e.ended.String())
	}
	if root == NoInstr {
		root = InstrID(b.nodes.n) - 1
	} else if int(root) >= b.nodes.n {
		panic(fmt.Sprintf("hlo: root %d of computation %q does not exist", root, b.name))
	}
	names := e.instrNames()
	t := e.tables()
	hashes := &b.hashes
	if !b.hashed {
		hashes = &t.hashes
		hashes.n = 0
		b.nodes.each(func(n *instrNode) {
			hash := freshHash(n.name, 0)
			hashes.add(hash)
			t.touched += names.touch(hash)
		})
		b.nodes.each(func(n *instrNode) { t.touched += names.touchNext(n.name, *hashes.at(n.id)) })
	}
	made := new(builtComp)
	controlled, empty := false, false
	b.nodes.each(func(n *instrNode) {
		n.stamp = e.epoch
		made.opcodes.add(n.op)
		empty = empty || n.shape.isEmpty()
		if x := n.extra; x != nil {
			controlled = controlled || len(x.control) > 0
			if len(x.called) > 0 {
				if made.calls == nil {
					made.calls = new(callList)
				}
				made.calls.add(n.id, x.called)
			}
		}
		if n.name == "" {
			n.name = names.unique(n.op.String())
		} else {
			n.name = names.uniqueHashed(n.name, *hashes.at(n.id))
		}
		e.countCalls(n.called(), 1)
	})
	count := b.nodes.n
	slices.SortStableFunc(b.params, func(x, y InstrID) int {
		return int(b.nodes.at(uint32(x)).parameterNumber() - b.nodes.at(uint32(y)).parameterNumber())
	})
	made.info = compInfo{epoch: e.epoch, name: b.name, thread: b.thread, params: cut(&b.slabs, &b.slabs.ids, b.params)}
	c := &made.compNode
	c.epoch, c.compInfo, c.root, c.idOrder, c.scheduled = e.epoch, &made.info, root, true, b.scheduled
	c.instrs = b.nodes.tree(e.epoch)
	made.know(controlled, empty)
	c.maxRank, c.count = uint64(count)*rankGap, int32(count)
	e.install(c)
	if f := e.fork; f != nil {
		for id := range count {
			f.named[c.id] = append(f.named[c.id], InstrID(id))
		}
	}
	t.lists = append(t.lists, b.nodes)
	b.hashes.n = 0
	*b = ComputationBuilder{e: e, hashes: b.hashes, slabs: b.slabs, params: b.params[:0]}
	return c.id
}

// know makes the computation remember what was seen of it: whoever asks need not look at its instructions again.
func (m *builtComp) know(controlled, empty bool) {
	facts := uint32(isBuilt)
	if !controlled {
		facts |= noControl
	}
	if !empty {
		facts |= noEmpty
	}
	m.known.opcodes.Store(&m.opcodes)
	if m.calls == nil {
		facts |= callsNobody
	} else {
		m.known.calls.Store(m.calls)
	}
	m.cached.Store(&m.known)
	m.facts.Store(facts)
}

// SetCallees replaces the called computations of an instruction appended before; ids is copied.
func (b *ComputationBuilder) SetCallees(id InstrID, ids ...CompID) {
	b.e.checkCallees(ids)
	n := b.nodes.at(uint32(id))
	n.ownExtra(&b.e.stats).called = slices.Clone(ids)
}
