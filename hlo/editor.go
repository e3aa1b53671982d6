package hlo

import "github.com/gohalo/halo/internal/idmap"

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

	edited []CompID          // see Owned.Edited
	known  CompID            // one past the computations that it has listed
	called idmap.Set[CompID] // see CallsMore

	holder holder

	owned bool // lent by Owned.Edit: Freeze goes on
	aside asideState
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

	calls     *idmap.Map[CompID, int] // number of calling instructions per computation, once asked for
	unsettled []*compState            // those that forward
	gone      int                     // computations that were removed and are still in the module order
	lists     []leafList[instrNode]   // of finished builders, to be used again
	hashes    hashList                // of the names of a computation while it is finished
	touched   uint64                  // the sum of what nameTable.touch has read, so that no compiler leaves it out
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
	view    *compNode // of what node is now, if one was asked for
	*compTables
}

// compTables is what a session knows about a computation beyond simple edits. It is read through compState, and written through
// [compState.more].
type compTables struct {
	users   *userOverlay                // nil until asked for
	order   *orderOverlay               // nil until the first insertion
	forward idmap.Map[InstrID, InstrID] // uses to redirect: old to new
	prior   priorState
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
	e.eachState(func(st *compState) { st.endView() })
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

// eachState calls f for each computation of which the session knows something.
func (e *Editor) eachState(f func(*compState)) {
	known := func(st *compState) bool {
		if st.node != nil {
			f(st)
		}
		return true
	}
	known(&e.first)
	if e.side != nil {
		e.side.states.each(known)
	}
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
