package hlo

import (
	"fmt"
	"iter"
	"slices"
)

// Editor is a session: the only writer of modules. It starts from a frozen module or from nothing, records edits, and publishes new
// versions with Snapshot and Freeze. The module it starts from never changes.
//
// Every node of the IR carries the number of the session that made it, its epoch. The session writes nodes of its own epoch in place and
// copies any other on the first write, path from the root included; no other session knows the epoch, and it is retired before a version
// is published. What an edit copies therefore depends on what this session did before, and on nothing else.
//
// An Editor and the handles it gives out ([CompEdit], [InstrEdit]) belong to one goroutine. [Editor.Fork] makes sessions that may
// run in parallel. Broken promises (an ended session, an id that does not exist) panic and say which promise it was.
type Editor struct {
	epoch uint64
	root  *moduleNode // nil: the session is over
	gen   uint32      // handles of another generation are stale
	looks uint32      // and so are views of another generation
	ended ending      // why the session, or its last generation of handles, ended

	slabLeft, slabSize uint8      // see takeNode
	slab               *instrNode // the next one

	stats  CopyStats
	writes uint64 // grows with every edit
	grown  growth

	first compState   // of the computation touched first; many sessions touch no other
	side  *sideTables // nil until needed
	fork  *forkState  // nil: neither a fork nor split into forks

	edited []CompID // see Owned.Edited
	known  CompID   // one past the computations that it has listed

	holder holder

	owned bool        // lent by Owned.Edit: Freeze goes on
	shown *moduleNode // what ViewModule has given out, when writes and looks were these
	at    struct {
		writes uint64
		looks  uint32
	}

	// header is where the first header that the session makes lies: most sessions make one. A version that is kept keeps these bytes, but
	// nothing that the session knew, which ends with it.
	header smallModule
}

// sideTables is what a session keeps beyond one computation and simple edits.
type sideTables struct {
	states tree[compState] // of computations touched later
	spare  []compState     // what is left of a slab

	calls     map[CompID]int        // number of calling instructions per computation, once asked for
	unsettled []*compState          // those that forward
	gone      int                   // computations that were removed and are still in the module order
	lists     []leafList[instrNode] // of finished builders, to be used again
}

// ending is what ended a session or a generation of handles.
type ending uint8

const (
	byFreeze ending = iota + 1
	byRollback
	byFork
	byJoin
	byCompact
	byOwn
	byOwnedEdit
)

// String completes "use of … after".
func (x ending) String() string {
	return [...]string{"", "Freeze", "Rollback", "Fork", "Join", "Compact", "Own", "the end of Owned.Edit"}[x]
}

// compState is what a session knows about one computation. It outlives snapshots.
type compState struct {
	e       *Editor
	node    *compNode // the current one
	viewGen uint32    // counts edits; views of another count are stale
	noted   uint32    // the count of edits when Editor.noteEdited looked last
	removed bool
	began   *compNode // frozen version whose order still stands, but for instructions added at the end; nil: none
	*compTables
}

// compTables is what a session knows about a computation beyond simple edits. It is read through compState, and written through
// [compState.more].
type compTables struct {
	view    *compNode
	users   *userOverlay        // nil until asked for
	order   *orderOverlay       // nil until the first insertion
	forward map[InstrID]InstrID // uses to redirect: old to new
}

var noTables compTables

func (st *compState) more() *compTables {
	if st.compTables == &noTables {
		st.compTables = new(compTables)
	}
	return st.compTables
}

// Edit opens a session on m. Nothing is copied before the first edit.
func (m Module) Edit() *Editor {
	return &Editor{epoch: epochs.Add(1), gen: 1, root: m.m, grown: growth{next: growthStep}}
}

// NewModule opens a session on an empty module of the given name.
func NewModule(name string) *Editor {
	e := &Editor{epoch: epochs.Add(1), gen: 1}
	e.root = &e.header.moduleNode
	e.root.epoch, e.root.entry = e.epoch, NoComp
	e.root.moduleInfo = &moduleInfo{epoch: e.epoch, lineage: lineages.Add(1), name: name, config: defaultConfig}
	return e
}

func (e *Editor) check() {
	e.holder.claim()
	if e.root == nil {
		panic("hlo: use of an Editor after " + e.ended.String())
	}
	if e.isSplit() {
		panic("hlo: use of an Editor between Fork and Join")
	}
}

// retire ends a generation of handles, and of views.
func (e *Editor) retire(why ending) {
	e.endHandles(why)
	e.looks++
}

// endHandles ends a generation of handles. Views live on, until the next edit of what they show.
func (e *Editor) endHandles(why ending) {
	e.gen++
	e.ended = why
}

// own returns the module header, writable.
func (e *Editor) own() *moduleNode {
	e.writes++
	if e.root.epoch != e.epoch {
		room := &e.header
		if room.moduleInfo != nil { // in use
			room = new(smallModule)
		}
		e.root = e.root.cloneTo(room, e.epoch, &e.stats)
	}
	return e.root
}

// ownInfo returns the rarer part of the header, writable.
func (e *Editor) ownInfo() *moduleInfo {
	m := e.own()
	if m.moduleInfo.epoch != e.epoch {
		c := *m.moduleInfo
		c.epoch, c.ownsOrder = e.epoch, false
		m.moduleInfo = &c
		e.stats.Bytes += moduleInfoBytes
	}
	return m.moduleInfo
}

// setComp writes into the table of computations of an owned header. Of what that copies, only the bytes count.
func (e *Editor) setComp(m *moduleNode, id CompID, c *compNode) {
	var table CopyStats
	*m.comps.slot(e.epoch, &table, uint32(id)) = c
	e.stats.Bytes += table.Bytes
}

// state finds or makes the state of a computation; nil when there is no such computation.
func (e *Editor) state(id CompID) *compState {
	if e.first.node != nil && e.first.node.id == id {
		return &e.first
	}
	if e.side != nil {
		if st := e.side.states.get(uint32(id)); st != nil {
			return st
		}
	}
	c := e.root.comps.get(uint32(id))
	if c == nil {
		return nil
	}
	return e.addState(c)
}

func (e *Editor) addState(c *compNode) *compState {
	st := &e.first
	if st.node != nil {
		t := e.tables()
		if len(t.spare) == 0 {
			t.spare = make([]compState, min(4+int(t.states.n), 32))
		}
		st, t.spare = &t.spare[0], t.spare[1:]
		*t.states.slot(1, new(CopyStats), uint32(c.id)) = st // of the session alone: always the same epoch, so nothing is copied
	}
	st.e, st.node, st.compTables = e, c, &noTables
	return st
}

func (e *Editor) tables() *sideTables {
	if e.side == nil {
		e.side = new(sideTables)
	}
	return e.side
}

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

// Name is the module's name.
func (e *Editor) Name() string {
	e.check()
	return e.root.name
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
	if n := e.callCounts()[id]; n > 0 {
		panic(fmt.Sprintf("hlo: RemoveComputation of %q, which %d instructions call", st.node.name, n))
	}
	st.node.instrs.each(func(n *instrNode) bool { e.countCalls(n.called(), -1); return true })
	e.setComp(e.own(), id, nil)
	e.tables().gone++
	st.viewGen++
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

// callCounts counts callers, once; edits keep the counts up to date from then on.
func (e *Editor) callCounts() map[CompID]int {
	t := e.tables()
	if t.calls == nil {
		e.settleOrder()
		t.calls = make(map[CompID]int)
		for _, id := range e.root.order {
			e.root.comps.get(uint32(id)).instrs.each(func(n *instrNode) bool { e.countCalls(n.called(), 1); return true })
		}
	}
	return t.calls
}

func (e *Editor) countCalls(to []CompID, by int) {
	if e.side == nil || e.side.calls == nil {
		return
	}
	for i, id := range to {
		if !slices.Contains(to[:i], id) {
			e.side.calls[id] += by
		}
	}
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

// ReserveNames says how many instructions the session, which has none yet, will about make.
func (e *Editor) ReserveNames(n int) {
	e.checkWhole("ReserveNames")
	if names := e.instrNames(); names.fresh != nil {
		names.fresh.reserve(n)
	}
}

// Snapshot publishes the current state and goes on under a fresh epoch: later edits copy their path again. Handles stay valid. It
// costs the same whatever the size of the module.
func (e *Editor) Snapshot() Module {
	e.check()
	e.settle()
	if e.root.epoch == e.epoch {
		e.epoch = epochs.Add(1) // retired before anybody sees the module
	}
	return Module{e.root}
}

// Rollback returns to m, a snapshot or the module the session started from. All handles become stale.
func (e *Editor) Rollback(m Module) {
	e.check()
	e.retire(byRollback)
	e.epoch = epochs.Add(1)
	e.root = m.m
	e.dropStates()
	e.forgetCalls()
	if e.isFork() {
		e.fork.rolledBack = true
	}
}

// dropStates forgets what is known of computations; handles must be stale.
func (e *Editor) dropStates() {
	e.first = compState{e: e}
	if t := e.side; t != nil {
		*t = sideTables{calls: t.calls}
	}
}

// Freeze publishes the final state and ends the session: every later call on it or its handles panics. When nothing was edited, the
// result is the module that the session started from. Within [Owned.Edit] it ends the handles alone, and gives a view.
func (e *Editor) Freeze() Module {
	e.check()
	e.settle()
	if e.isFork() {
		panic("hlo: Freeze of a fork; Join it to the session it came from")
	}
	if e.owned {
		e.endHandles(byFreeze)
		return e.ViewModule()
	}
	m := Module{e.root}
	e.end(byFreeze)
	return m
}

// FreezeUnlessEqual is Freeze for sessions that may have undone what they did: when the content is exactly that of base, the result is
// base, so that m2 != m tells again whether anything changed. It digests what was edited.
func (e *Editor) FreezeUnlessEqual(base Module) Module {
	m := e.Freeze()
	if m != base && m.SameLineage(base) && m.Digest() == base.Digest() {
		return base
	}
	return m
}

// end retires the session for good and lets go of the module.
func (e *Editor) end(why ending) {
	e.retire(why)
	e.epoch, e.root, e.side, e.fork, e.shown = 0, nil, nil, nil, nil
	e.slab, e.slabLeft = nil, 0
	if e.first.node != nil {
		e.first = compState{e: e}
	}
}

// Changed reports whether the session holds another version than m.
func (e *Editor) Changed(m Module) bool {
	e.check()
	e.settle()
	return e.root != m.m
}

// ViewModule is the module as it is now, to read, on the terms of [CompEdit.View]: of computations that the session has written to, it
// has views. When nothing was edited, it is the version that the session started from, and when nothing was edited since it was last asked for,
// the same as then.
func (e *Editor) ViewModule() Module {
	e.check()
	e.settle()
	if e.root.epoch != e.epoch {
		return Module{e.root}
	}
	if e.shown != nil && e.at.writes == e.writes && e.at.looks == e.looks {
		return Module{e.shown}
	}
	v := e.root.cloneTo(new(smallModule), e.epoch, new(CopyStats))
	epoch := epochs.Add(1) // the table is the view's alone
	for _, id := range e.root.order {
		c := e.root.comps.get(uint32(id))
		to := v.comps.slot(epoch, new(CopyStats), uint32(id))
		if c.epoch == e.epoch { // then it may be edited
			*to = e.Computation(id).View().c
		}
	}
	info := *v.moduleInfo
	info.epoch, v.epoch, v.moduleInfo = epoch, epoch, &info
	e.shown, e.at.writes, e.at.looks = v, e.writes, e.looks
	return Module{v}
}

// Shows reports whether m is the module as it is now: what ViewModule would give out.
func (e *Editor) Shows(m Module) bool { return e.ViewModule() == m }

// Edits grows with every edit: it is the same as before exactly when nothing was edited since.
func (e *Editor) Edits() uint64 {
	e.check()
	e.settle()
	return e.writes
}

// Stats is what the session has copied so far. It may be called after the end.
func (e *Editor) Stats() CopyStats { return e.stats }
