package hlo

import (
	"fmt"
	"slices"
)

// forkIDs is how many computation ids a fork may hand out.
const forkIDs = 1 << 12

// forkState is what a session knows of its open forks, or a fork of the session it came from.
type forkState struct {
	children []*Editor // in a parent: open forks

	parent     *Editor
	base       *moduleNode // where the fork started
	lent       CompID
	firstID    CompID // of the computations it makes
	nextID     CompID
	rolledBack bool
	named      map[CompID][]InstrID // instructions that were given a name here, whether or not they still exist
}

func (e *Editor) isFork() bool { return e.fork != nil && e.fork.parent != nil }

func (e *Editor) isSplit() bool { return e.fork != nil && e.fork.parent == nil }

// Fork splits the session: child i may edit computation ids[i] and computations that it adds itself, in a goroutine of its own. A child
// is an Editor that refuses what concerns the whole module (entry, header, name, notes, removing computations of others) and ends with
// [Editor.Join] instead of Freeze; it may take snapshots and roll back. Until Join the session itself refuses everything else, and its
// handles are stale.
//
// The children start from a published version, as after Snapshot, so a child that fails can be left out of Join.
func (e *Editor) Fork(ids ...CompID) []*Editor {
	e.check()
	if e.isFork() {
		panic("hlo: Fork of a fork")
	}
	for i, id := range ids {
		e.root.mustComp(id)
		if slices.Contains(ids[:i], id) {
			panic(fmt.Sprintf("hlo: Fork lends computation %q twice", e.root.mustComp(id).name))
		}
	}
	e.Snapshot()
	e.noteEdited()
	e.retire(byFork)
	e.dropStates()
	first := CompID(e.root.comps.n)
	children := make([]*Editor, len(ids))
	for i, id := range ids {
		children[i] = &Editor{epoch: epochs.Add(1), gen: 1, root: e.root, fork: &forkState{
			parent: e, base: e.root, lent: id, firstID: first, nextID: first, named: make(map[CompID][]InstrID),
		}}
		if first+forkIDs < first {
			panic("hlo: Fork has run out of computation ids")
		}
		first += forkIDs
	}
	e.fork = &forkState{children: children}
	return slices.Clone(children)
}

// Base is the version that a fork started from.
func (e *Editor) Base() Module {
	if !e.isFork() {
		panic("hlo: Base of a session that is no fork")
	}
	return Module{e.fork.base}
}

// Join takes over what the given children did, in the order given, and ends all children: the work of those not given is dropped. Names
// that two children took are made unique in that order, so the result does not depend on timing. On an error nothing has changed.
func (e *Editor) Join(children ...*Editor) error {
	if e.root == nil {
		panic("hlo: Join after " + e.ended.String())
	}
	var open []*Editor
	if e.isSplit() {
		open = e.fork.children
	}
	for i, c := range children {
		switch {
		case !slices.Contains(open, c):
			return fmt.Errorf("hlo: Join of a session that is not an open fork of this one")
		case slices.Contains(children[:i], c):
			return fmt.Errorf("hlo: Join of one fork twice")
		}
		c.settle()
		if err := c.checkFork(); err != nil {
			return err
		}
	}
	e.fork = nil
	e.forgetCalls()
	for _, c := range children {
		e.join(c)
	}
	for _, c := range open {
		c.end(byJoin)
	}
	return nil
}

// checkFork finds what only a rollback to a foreign module can do: changes outside the fork's own computations.
func (e *Editor) checkFork() error {
	f := e.fork
	if !f.rolledBack {
		return nil
	}
	if e.root.lineage != f.base.lineage || e.root.entry != f.base.entry || e.root.config != f.base.config || e.root.name != f.base.name {
		return fmt.Errorf("hlo: Join of a fork that was rolled back to another module")
	}
	for _, id := range e.root.order {
		if !e.mayEdit(id) && e.root.comps.get(uint32(id)) != f.base.comps.get(uint32(id)) {
			return fmt.Errorf("hlo: Join of a fork that changed computation %q, which it was not lent", e.root.comps.get(uint32(id)).name)
		}
	}
	for _, id := range f.base.order {
		if e.root.comps.get(uint32(id)) == nil {
			return fmt.Errorf("hlo: Join of a fork that removed computation %q", f.base.comps.get(uint32(id)).name)
		}
	}
	return nil
}

func (e *Editor) join(c *Editor) {
	f := c.fork
	e.stats.add(c.stats)
	c.stats = CopyStats{}
	if c.root == f.base {
		return
	}
	changed := []CompID{f.lent}
	for _, id := range c.root.order {
		if id >= f.firstID && id < f.firstID+forkIDs {
			changed = append(changed, id)
		}
	}
	for _, id := range changed {
		e.renameJoined(c, id)
	}
	e.stats.add(c.stats)
	m := e.own()
	for i, id := range changed {
		n := c.root.comps.get(uint32(id))
		if n == f.base.comps.get(uint32(id)) {
			continue
		}
		e.setComp(m, id, n)
		e.edited = append(e.edited, id)
		e.called.Add(id)
		if i > 0 {
			e.ownInfo().appendOrder(id)
		}
	}
}

// renameJoined makes the names that the child gave in computation id unique among those of its siblings. It writes through the child's
// session, whose nodes they are.
func (e *Editor) renameJoined(c *Editor, id CompID) {
	st := c.state(id)
	if id != c.fork.lent {
		if name := e.compNames().unique(st.node.name); name != st.node.name {
			st.ownInfo().name = name
		}
	}
	base := c.fork.base.comps.get(uint32(id))
	named := c.fork.named[id]
	if !slices.IsSorted(named) { // new instructions come in the order of their ids
		slices.Sort(named)
	}
	for _, in := range slices.Compact(named) {
		n := st.node.instrs.get(uint32(in))
		if n == nil {
			continue
		}
		if base != nil {
			if old := base.instrs.get(uint32(in)); old != nil && old.name == n.name {
				continue // renamed and rolled back
			}
		}
		if name := e.instrNames().unique(n.name); name != n.name {
			st.ownInstr(in).name = name
		}
	}
}

// noteNamed remembers that a fork named an instruction.
func (st *compState) noteNamed(id InstrID) {
	if f := st.e.fork; f != nil {
		f.named[st.node.id] = append(f.named[st.node.id], id)
	}
}

// mayEdit reports whether the session may edit computation id.
func (e *Editor) mayEdit(id CompID) bool {
	f := e.fork
	return f == nil || id == f.lent || id >= f.firstID && id < f.firstID+forkIDs
}

func (e *Editor) checkLent(id CompID) {
	if !e.mayEdit(id) {
		panic(fmt.Sprintf("hlo: computation %q was not lent to this fork", e.root.mustComp(id).name))
	}
}

// checkWhole refuses in a fork what concerns the whole module.
func (e *Editor) checkWhole(what string) {
	e.check()
	if e.isFork() {
		panic(fmt.Sprintf("hlo: %s in a fork, which may edit its own computations only", what))
	}
}

// newCompID hands out the next computation id. A removed computation keeps its id: the table does not shrink.
func (e *Editor) newCompID() CompID {
	f := e.fork
	if f == nil {
		return CompID(e.root.comps.n)
	}
	if f.nextID == f.firstID+forkIDs {
		panic(fmt.Sprintf("hlo: a fork made more than %d computations", forkIDs))
	}
	f.nextID++
	return f.nextID - 1
}
