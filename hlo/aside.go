package hlo

import (
	"sync/atomic"
	"unsafe"
)

// A session that [Owned.Rewrite] lends may be read as it was while it is edited, and yet its nodes are written in place. Views of a computation that
// were taken before its first edit last:
//
//   - The structure (headers and tree nodes) is that of an epoch of its own, so the first write to a part copies it, and a view keeps the one before.
//   - An instruction that the session owns is overwritten where it is. What it was goes aside, and the tree of the view gets that in its place. A handle that was taken before
//     sees the stamp of the overwritten node, and asks the tree of its view.
//
// When the edit ends, the trees get their nodes back, views of what was edited die, and the room is used again by the next edit: so a chain of edits copies an
// instruction at most once, if those before the first are not its own, whoever reads what.

// asideState is what such a session keeps.
type asideState struct {
	since uint64 // the epoch from which on nodes are the session's; 0: only those of the current epoch
	on    bool   // the session is lent so
	room  [][]keptNode
	used  int // of room, in nodes
}

// keptNode is an instruction as it was before it was overwritten.
type keptNode struct {
	instrNode // first: a pointer to it is one to the whole
	now       *instrNode
	slot      **instrNode // in the tree of the views
}

const (
	keptStamp = 1 << 62 // of a keptNode: no epoch comes near it
	keptSlab  = 64
)

// priorState is a computation before its first edit of an epoch.
type priorState struct {
	node    *compNode
	viewGen uint32 // of the views that show it
	epoch   uint64
}

// firstEpoch is that of the oldest nodes that belong to the session.
func (e *Editor) firstEpoch() uint64 {
	if e.aside.since != 0 {
		return e.aside.since
	}
	return e.epoch
}

// owns reports whether the session may write the node.
func (e *Editor) owns(n *instrNode) bool {
	s := atomic.LoadUint64(&n.stamp)
	return s == e.epoch || e.aside.since != 0 && s >= e.aside.since && s < keptStamp
}

// publishAll makes everything that the session has made so far the property of others, too.
func (e *Editor) publishAll() {
	e.endApart()
	e.aside.since = 0
}

// setApart begins to keep aside what edits overwrite. Views of what has not been edited since it was called last live on.
func (e *Editor) setApart() {
	e.settle()
	e.restore()
	if e.aside.since == 0 {
		e.aside.since = e.epoch
	}
	if e.root.epoch == e.epoch {
		e.epoch = epochs.Add(1)
	}
	e.aside.on = true
}

// endApart ends that.
func (e *Editor) endApart() {
	e.restore()
	e.aside.on = false
}

// restore gives the trees of views their nodes back.
func (e *Editor) restore() {
	a := &e.aside
	for i := range a.used {
		k := &a.room[i/keptSlab][i%keptSlab]
		*k.slot = k.now
	}
	a.used = 0
}

// keptBefore notes what a computation is before its first edit of the epoch, which has been counted already.
func (st *compState) keptBefore() {
	if st.e.aside.on {
		st.more().prior = priorState{st.node, st.viewGen - 1, st.e.epoch}
	}
}

// overwrite makes n, which the session owns, writable in place; its path is.
func (st *compState) overwrite(n *instrNode) *instrNode {
	e := st.e
	if e.aside.on {
		var slot **instrNode
		if st.prior.epoch == e.epoch {
			slot = st.prior.node.instrs.find(e.aside.since, uint32(n.id))
		}
		if slot == nil || *slot != n {
			return e.copyInstr(n)
		}
		k := e.takeKept()
		n.copyTo(&k.instrNode, keptStamp)
		k.now, k.slot = n, slot
		*slot = &k.instrNode
		n.flags &^= ownsExtra | ownsAttrStruct | ownsCommon // k has them, too
	}
	n.stamp = e.epoch
	return n
}

func (e *Editor) takeKept() *keptNode {
	a := &e.aside
	if a.used == len(a.room)*keptSlab {
		a.room = append(a.room, make([]keptNode, keptSlab))
	}
	k := &a.room[a.used/keptSlab][a.used%keptSlab]
	a.used++
	k.exact, k.flags = 0, 0
	return k
}

// find is the address of slot i, if its leaf carries an epoch from since on.
func (t *tree[T]) find(since uint64, i uint32) **T {
	if i >= t.n || t.root == nil {
		return nil
	}
	n := t.root
	for shift := t.shift; shift > 0; shift -= treeBits {
		k := i >> shift & treeMask
		if k >= uint32(n.size) {
			return nil
		}
		if n = *n.kid(k); n == nil {
			return nil
		}
	}
	if k := i & treeMask; k < uint32(n.size) && n.epoch >= since {
		return n.slot(k)
	}
	return nil
}

// isCurrent reports whether a view shows a computation as it is.
func (v *liveView) isCurrent() bool { return v.st.viewGen == v.viewGen }

// lasts reports whether a view shows a computation as it was before the first edit of this epoch.
func (v *liveView) lasts() bool {
	p := &v.st.prior
	return v.e.aside.on && p.epoch == v.e.epoch && p.viewGen == v.viewGen
}

// node is an instruction as the view, which is outdated, shows it.
func (v *liveView) node(n *instrNode) *instrNode {
	v.check()
	if v.isCurrent() || atomic.LoadUint64(&n.stamp) < v.e.epoch {
		return n
	}
	return v.c.instrs.get(uint32(n.id))
}

// handle is the instruction of a node of c. One that was overwritten is known by the node that it was, and is: handles are compared.
func (c *compNode) handle(n *instrNode) Instruction {
	if c.outdated && atomic.LoadUint64(&n.stamp) == keptStamp {
		n = (*keptNode)(unsafe.Pointer(n)).now
	}
	return Instruction{n, c}
}
