package hlo

import (
	"fmt"
	"iter"
	"slices"

	"github.com/gohalo/halo/internal/idmap"
)

// Computation is a handle to edit computation id; it panics when there is none.
func (e *Editor) Computation(id CompID) CompEdit {
	e.check()
	st := e.state(id)
	if st == nil || st.removed {
		panic(noComputation(e.root, id))
	}
	e.checkLent(id)
	return CompEdit{st, e.gen}
}

// View is computation id as it is now, to read, on the terms of [CompEdit.View]. A fork may look at all computations.
func (e *Editor) View(id CompID) Computation {
	e.check()
	if !e.mayEdit(id) {
		return Computation{e.root.mustComp(id)}
	}
	return e.Computation(id).View()
}

// Has reports whether the module has a computation id at this moment.
func (e *Editor) Has(id CompID) bool {
	e.check()
	return e.root.comps.get(uint32(id)) != nil
}

func noComputation(m *moduleNode, id CompID) string {
	return fmt.Sprintf("hlo: no computation %d in module %q", id, m.name)
}

// Computations yields the ids of the computations in module order, as of the call.
func (e *Editor) Computations() iter.Seq[CompID] {
	e.check()
	e.settleOrder()
	return slices.Values(e.root.order)
}

// Entry is the id of the entry computation, NoComp while there is none.
func (e *Editor) Entry() CompID {
	e.check()
	return e.root.entry
}

// Config is the attributes of the header, shared and not to be written.
func (e *Editor) Config() *ModuleConfig {
	e.check()
	return e.root.config
}

// SetConfig replaces the attributes of the header. The module keeps c, which must not be written afterwards; nil means all defaults.
func (e *Editor) SetConfig(c *ModuleConfig) {
	e.checkWhole("SetConfig")
	if c == nil {
		c = defaultConfig
	}
	if c != e.root.config && !EqualAttr(c, e.root.config) {
		e.ownInfo().config = c
	}
}

// SetName renames the module.
func (e *Editor) SetName(name string) {
	e.checkWhole("SetName")
	if name != e.root.name {
		e.ownInfo().name = name
	}
}

// SetNote attaches a value to the module for later passes, nil to remove it. The text form has no notes. Values are strings, numbers,
// booleans, shapes, literals, and pointers, slices and structs with exported fields of these; they must not be written afterwards.
func (e *Editor) SetNote(key AttrKey, value Attr) {
	e.checkWhole("SetNote")
	if e.root.notes.same(key, value) {
		return
	}
	m := e.ownInfo()
	m.notes = m.notes.with(e.epoch, &e.stats, key, value)
}

// SetEntry makes id the entry computation.
func (e *Editor) SetEntry(id CompID) {
	e.checkWhole("SetEntry")
	if e.root.entry == id {
		return
	}
	e.root.mustComp(id)
	e.own().entry = id
}

// AddComputation adds an empty computation at the end of the module order. The name is made unique. For long computations see
// [Editor.NewComputation].
func (e *Editor) AddComputation(name string) CompEdit {
	e.check()
	c := &compNode{epoch: e.epoch, compInfo: &compInfo{epoch: e.epoch, name: name}, root: NoInstr, idOrder: true}
	e.install(c)
	return CompEdit{e.addState(c), e.gen}
}

// install gives a new computation an id and a name and puts it into the module.
func (e *Editor) install(c *compNode) {
	m := e.own()
	c.id = e.newCompID()
	c.name = e.compNames().unique(c.name)
	e.setComp(m, c.id, c)
	e.ownInfo().appendOrder(c.id)
}

// appendOrder adds id at the end of the module order.
func (m *moduleInfo) appendOrder(id CompID) {
	if !m.ownsOrder {
		m.order = append(make([]CompID, 0, len(m.order)+len(m.order)/4+4), m.order...)
		m.ownsOrder = true
	}
	m.order = append(m.order, id)
}

// RemoveComputation removes a computation that is not the entry and is not called; remove callers before callees.
func (e *Editor) RemoveComputation(id CompID) {
	st := e.Computation(id).state()
	if e.isFork() && id == e.fork.lent {
		panic(fmt.Sprintf("hlo: RemoveComputation of %q in a fork that did not add it", st.node.name))
	}
	if id == e.root.entry {
		panic(fmt.Sprintf("hlo: RemoveComputation of the entry %q", st.node.name))
	}
	if n := e.callCounts().Get(id); n > 0 {
		panic(fmt.Sprintf("hlo: RemoveComputation of %q, which %d instructions call", st.node.name, n))
	}
	e.countCallsOf(st.node, -1)
	e.setComp(e.own(), id, nil)
	e.tables().gone++
	st.viewGen++
	st.endView()
	if st.node.epoch != e.epoch {
		st.keptBefore()
	}
	st.removed = true
}

// settleOrder takes removed computations out of the module order, all at once.
func (e *Editor) settleOrder() {
	if e.side == nil || e.side.gone == 0 {
		return
	}
	e.side.gone = 0
	m := e.ownInfo()
	m.order, m.ownsOrder = slices.DeleteFunc(slices.Clone(m.order), func(id CompID) bool { return e.root.comps.get(uint32(id)) == nil }), true
}

// NumCallers is the number of instructions that call computation id. They are counted once, and kept up to date from then on.
func (e *Editor) NumCallers(id CompID) int {
	e.check()
	return e.callCounts().Get(id)
}

// callCounts counts callers, once; edits keep the counts up to date from then on.
func (e *Editor) callCounts() *idmap.Map[CompID, int] {
	t := e.tables()
	if t.calls == nil {
		e.settleOrder()
		t.calls = new(idmap.Map[CompID, int])
		for _, id := range e.root.order {
			e.countCallsOf(e.root.comps.get(uint32(id)), 1)
		}
	}
	return t.calls
}

// countCallsOf counts all calls of a computation. What it remembers of them it forgets with the first edit.
func (e *Editor) countCallsOf(c *compNode, by int) {
	c.eachCallees(func(to []CompID) bool { e.countCalls(to, by); return true })
}

// Callees yields what the instructions of computation id call now, in any order, and again where it is called again. No view is made for that.
func (e *Editor) Callees(id CompID) iter.Seq[CompID] {
	e.check()
	c := e.root.mustComp(id)
	return func(yield func(CompID) bool) {
		c.eachCallees(func(to []CompID) bool {
			for _, id := range to {
				if !yield(id) {
					return false
				}
			}
			return true
		})
	}
}

// eachCallees yields the callees of each instruction that has any, from what is known of the computation, if it is.
func (c *compNode) eachCallees(yield func([]CompID) bool) {
	if c.facts.Load()&callsNobody != 0 {
		return
	}
	if x := c.cached.Load(); x != nil {
		if calls := x.calls.Load(); calls != nil {
			for k := range calls.instrs {
				if !yield(calls.callees(k)) {
					return
				}
			}
			return
		}
	}
	c.instrs.each(func(n *instrNode) bool { return len(n.called()) == 0 || yield(n.called()) })
}

func (e *Editor) countCalls(to []CompID, by int) {
	if e.side == nil || e.side.calls == nil {
		return
	}
	for i, id := range to {
		if !slices.Contains(to[:i], id) {
			*e.side.calls.At(id) += by
		}
	}
}

// countMore counts calls that an instruction of computation id gets.
func (e *Editor) countMore(id CompID, to []CompID) {
	if len(to) > 0 {
		e.called.Add(id)
		e.countCalls(to, 1)
	}
}

// CallsMore reports whether instructions of computation id may call others than when this was last asked of it, or when the session began. Who remembers the callees of what
// it has seen need not look at them again otherwise.
func (e *Editor) CallsMore(id CompID) bool {
	e.check()
	return e.called.Remove(id)
}

// forgetCalls drops the counts, where edits have passed them by.
func (e *Editor) forgetCalls() {
	if e.side != nil {
		e.side.calls = nil
	}
}

// compNames and instrNames return the name tables, writable.
func (e *Editor) compNames() *nameTable {
	m := e.ownInfo()
	if m.compNames == nil || m.compNames.epoch != e.epoch {
		m.compNames = m.compNames.layer(e.epoch)
	}
	return m.compNames
}

func (e *Editor) instrNames() *nameTable {
	m := e.own()
	if m.instrNames == nil || m.instrNames.epoch != e.epoch {
		m.instrNames = m.instrNames.layer(e.epoch)
	}
	return m.instrNames
}

// NamesAhead says the hashes of the names of instructions that are made next: whoever makes many says so of a few at a time. Of a large table of names no cache has anything, and memory
// gives several places at once as fast as one.
func (e *Editor) NamesAhead(hashes []uint64) {
	e.check()
	names, t := e.root.instrNames, e.tables()
	if names == nil {
		return
	}
	for _, h := range hashes {
		t.touched += names.touch(h)
		for layer := names; layer != nil; layer = layer.under {
			t.touched += layer.roots.touch(h)
		}
	}
}

// ReserveNames says how many instructions the session, which has none yet, will about make.
func (e *Editor) ReserveNames(n int) {
	e.checkWhole("ReserveNames")
	if names := e.instrNames(); names.addsWhole() {
		names.whole.reserve(n)
	}
}
