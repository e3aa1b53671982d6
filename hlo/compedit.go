package hlo

import (
	"fmt"
	"iter"
	"slices"
)

// CompEdit is a handle to edit one computation in a session. It stays valid across snapshots and panics after Freeze, Rollback or
// Join. Methods that write return quickly when they would change nothing, and copy nothing then.
type CompEdit struct {
	st  *compState
	gen uint32
}

// state is the computation to read and write, with all uses where they belong.
func (c CompEdit) state() *compState {
	st := c.live()
	st.settle()
	return st
}

// live is the computation, for what has nothing to do with operands.
func (c CompEdit) live() *compState {
	st := c.st
	st.e.holder.claim()
	if c.gen != st.e.gen {
		panic("hlo: use of a computation edit after " + st.e.ended.String())
	}
	if st.removed {
		panic(fmt.Sprintf("hlo: use of a computation edit after %q was removed", st.node.name))
	}
	return st
}

// own returns the computation header, writable. It ends the life of views.
func (st *compState) own() *compNode {
	st.viewGen++
	st.endView()
	st.e.writes++
	if st.node.epoch == st.e.epoch {
		st.node.forget()
		return st.node
	}
	return st.replace(st.node.clone(st.e.epoch))
}

// ownSlot returns the slot of instruction id, writable, header and all.
func (st *compState) ownSlot(id InstrID) **instrNode {
	st.viewGen++
	st.endView()
	st.e.writes++
	e := st.e
	c := st.node
	if c.epoch != e.epoch {
		c = st.replace(c.cloneWithLeaf(e.epoch, &e.stats, id))
	} else {
		c.forget()
	}
	return c.instrs.slot(e.epoch, &e.stats, uint32(id))
}

// ownInfo returns the rarer part of the header, writable.
func (st *compState) ownInfo() *compInfo {
	c, e := st.own(), st.e
	if c.compInfo.epoch != e.epoch {
		c.compInfo = c.compInfo.clone(e.epoch)
		e.stats.Bytes += compInfoBytes
	}
	return c.compInfo
}

// replace puts n, a copy of the current header, into the module.
func (st *compState) replace(n *compNode) *compNode {
	e := st.e
	m := e.own()
	st.node.lentTo(n)
	if e.owned && st.node.epoch >= e.firstEpoch() {
		st.keptBefore()
	} else {
		st.began = st.node
	}
	e.stats.Computations++
	e.stats.Bytes += compNodeBytes
	e.setComp(m, n.id, n)
	st.node = n
	return n
}

// instr is the current node of id, to read.
func (st *compState) instr(id InstrID) *instrNode {
	n := st.node.instrs.get(uint32(id))
	if n == nil {
		panic(fmt.Sprintf("hlo: no instruction %d in computation %q", id, st.node.name))
	}
	return n
}

// ownInstr is the current node of id, writable.
func (st *compState) ownInstr(id InstrID) *instrNode {
	e := st.e
	p := st.ownSlot(id)
	switch n := *p; {
	case n.ownedBy(e.epoch):
	case e.owns(n):
		*p = st.overwrite(n)
	default:
		*p = e.copyInstr(n)
	}
	return *p
}

// copyInstr returns a copy of n that belongs to the session.
func (e *Editor) copyInstr(n *instrNode) *instrNode {
	c := e.takeNode(maxEditSlab)
	n.copyTo(c, e.epoch)
	e.stats.Instructions++
	e.stats.Bytes += instrNodeBytes
	return c
}

// ID is the computation's id.
func (c CompEdit) ID() CompID { return c.live().node.id }

// Editor is the session.
func (c CompEdit) Editor() *Editor { return c.live().e }

// Name is the current name.
func (c CompEdit) Name() string { return c.live().node.name }

// Root is the id of the current root, NoInstr while there is none.
func (c CompEdit) Root() InstrID { return c.state().node.root }

// NumInstructions is the current number of instructions.
func (c CompEdit) NumInstructions() int { return int(c.live().node.count) }

// View is the computation as it is now. When the session has already written to the computation, the view reads the session's own
// nodes: it and all that was obtained from it panic after the next edit of the computation, and after the end of the session.
func (c CompEdit) View() Computation {
	st := c.state()
	if st.node.epoch < st.e.firstEpoch() {
		return Computation{st.node}
	}
	if st.view == nil {
		v := new(viewNode)
		st.node.copyTo(&v.compNode, st.e.epoch)
		v.mark = liveView{st, st.e, &v.compNode, st.viewGen, st.e.looks, st.node.name}
		v.live = &v.mark
		st.view = &v.compNode
	}
	return Computation{st.view}
}

// At is instruction id as it is now, on the terms of [CompEdit.View].
func (c CompEdit) At(id InstrID) Instruction { return c.View().node().mustAt(id) }

// Has reports whether there is an instruction id now.
func (c CompEdit) Has(id InstrID) bool { return c.live().node.instrs.get(uint32(id)) != nil }

// Instr is a handle to edit instruction id; it panics when there is none.
func (c CompEdit) Instr(id InstrID) InstrEdit {
	st := c.live()
	st.instr(id)
	return InstrEdit{st, id, c.gen}
}

// Edit is a handle to edit in, as it is now, which some version of this computation or a view gave out. An id says nothing about its
// computation; a handle does, so Edit panics for an instruction of another computation, and for one that is gone.
func (c CompEdit) Edit(in Instruction) InstrEdit {
	if st := c.live(); in.c.id != st.node.id {
		panic(fmt.Sprintf("hlo: edit of %s, an instruction of computation %q, in computation %q", in.Name(), in.c.name, st.node.name))
	}
	return c.Instr(in.ID())
}

// userOverlay returns the session's view of the users, made from the index of the current state on first demand.
func (st *compState) userOverlay() *userOverlay {
	if st.users == nil {
		if st.node.epoch == st.e.epoch {
			st.more().users = &userOverlay{base: buildUserIndex(st.node)}
		} else {
			st.more().users = &userOverlay{base: st.node.userIndex()}
		}
	}
	return st.users
}

// Users yields the ids of the current users of id, ascending; edits during the iteration do not disturb it.
func (c CompEdit) Users(id InstrID) iter.Seq[InstrID] {
	return func(yield func(InstrID) bool) { c.eachUser(id, yield) }
}

func (c CompEdit) eachUser(id InstrID, yield func(InstrID) bool) {
	eachID(slices.Clone(c.state().userOverlay().of(id)), yield)
}

// UserCount is the current number of users of id.
func (c CompEdit) UserCount(id InstrID) int { return c.state().userOverlay().count(id) }

// ControlSuccessors yields the ids of the instructions that have id as control predecessor now, ascending.
func (c CompEdit) ControlSuccessors(id InstrID) iter.Seq[InstrID] {
	return func(yield func(InstrID) bool) { eachID(slices.Clone(c.state().userOverlay().successors(id)), yield) }
}

// SetRoot makes id the root.
func (c CompEdit) SetRoot(id InstrID) {
	st := c.state()
	if st.node.root == id {
		return
	}
	st.instr(id)
	st.own().root = id
}

// SetScheduled says whether the order of the instructions is their schedule.
func (c CompEdit) SetScheduled(scheduled bool) {
	if st := c.state(); st.node.scheduled != scheduled {
		st.own().scheduled = scheduled
	}
}

// SetName renames the computation; the name is made unique.
func (c CompEdit) SetName(name string) {
	st := c.state()
	if st.node.name != name {
		st.ownInfo().name = st.e.compNames().unique(name)
	}
}

// SetExecutionThread sets the thread that the computation runs on; "" means [MainThread].
func (c CompEdit) SetExecutionThread(thread string) {
	if thread == MainThread {
		thread = ""
	}
	if st := c.state(); st.node.thread != thread {
		st.ownInfo().thread = thread
	}
}

// SetNote attaches a value to the computation for later passes, nil to remove it; see [Editor.SetNote].
func (c CompEdit) SetNote(key AttrKey, value Attr) {
	st := c.state()
	if st.node.notes.same(key, value) {
		return
	}
	info := st.ownInfo()
	info.notes = info.notes.with(st.e.epoch, &st.e.stats, key, value)
}
