package hlo

import (
	"iter"
	"sync/atomic"
)

// Module is one version of a module: computations, the entry, the attributes of the header. It is a small value. m1 == m2 means the
// same version, which is how to ask whether a pass changed anything; for equal content see [Module.Equal]. The zero Module is none.
// Modules may be read by any number of goroutines, and keeping one costs only what later versions replace.
type Module struct{ m *moduleNode }

// moduleNode is written only by the session whose epoch it carries.
type moduleNode struct {
	epoch uint64
	*moduleInfo
	comps      tree[compNode]
	instrNames *nameTable
	cached     atomic.Pointer[moduleCache]
	entry      CompID
}

// moduleInfo is what most edits leave alone, kept apart so that they need not copy it. It is written through [Editor.ownInfo] only, by
// the session whose epoch it carries.
type moduleInfo struct {
	epoch     uint64
	lineage   uint64 // ids mean the same in all modules of one lineage
	name      string
	order     []CompID
	config    *ModuleConfig // never nil
	notes     *noteNode
	compNames *nameTable
	ownsOrder bool // the array behind order belongs to this one alone
}

const (
	moduleNodeBytes = 56
	moduleInfoBytes = 96
)

type moduleCache struct {
	callers   atomic.Pointer[callIndex]
	postOrder atomic.Pointer[[]CompID]
	hashes    atomic.Pointer[moduleHashes]
	digest    atomic.Pointer[Digest]
}

func (m *moduleNode) cache() *moduleCache {
	if x := m.cached.Load(); x != nil {
		return x
	}
	m.cached.CompareAndSwap(nil, new(moduleCache))
	return m.cached.Load()
}

// smallModule is a header and its table of computations in one allocation.
type smallModule struct {
	moduleNode
	table node4[compNode]
}

const smallTable = len(node4[compNode]{}.a)

// cloneTo makes c, which is zeroed, a copy of m for the session of the given epoch, with its table if it has room for it.
func (m *moduleNode) cloneTo(c *smallModule, epoch uint64, st *CopyStats) *moduleNode {
	st.Modules++
	st.Bytes += moduleNodeBytes
	comps := m.comps
	if t := comps.root; t != nil && !t.inner && int(t.size) == smallTable {
		comps.root = c.table.init(epoch)
		copy(comps.root.slots(), t.slots())
		st.Bytes += treeNodeBytes(smallTable)
	}
	c.epoch, c.moduleInfo, c.comps, c.instrNames, c.entry = epoch, m.moduleInfo, comps, m.instrNames, m.entry
	return &c.moduleNode
}

// epochs numbers sessions; lineages numbers modules made from nothing. Zero is never handed out.
var epochs, lineages atomic.Uint64

var defaultConfig = new(ModuleConfig)

// IsZero reports whether m is no module.
func (m Module) IsZero() bool { return m.m == nil }

// Name is the module's name.
func (m Module) Name() string { return m.m.name }

// Config is the attributes of the header, shared and not to be written; never nil.
func (m Module) Config() *ModuleConfig { return m.m.config }

// Entry is the entry computation, the zero Computation while there is none.
func (m Module) Entry() Computation {
	c, _ := m.Computation(m.m.entry)
	return c
}

// Computation is the computation of the given id.
func (m Module) Computation(id CompID) (Computation, bool) {
	if c := m.m.comps.get(uint32(id)); c != nil {
		return Computation{c}, true
	}
	return Computation{}, false
}

// MustComputation is the computation of an id that is known to exist; it panics when there is none.
func (m Module) MustComputation(id CompID) Computation { return Computation{m.m.mustComp(id)} }

// ComputationByName is the computation of the given name, found by scanning all.
func (m Module) ComputationByName(name string) (Computation, bool) {
	for c := range m.Computations() {
		if c.c.name == name {
			return c, true
		}
	}
	return Computation{}, false
}

// NumComputations is the number of computations.
func (m Module) NumComputations() int { return len(m.m.order) }

// Computations yields the computations in module order, which is that of completion in a text.
func (m Module) Computations() iter.Seq[Computation] {
	return func(yield func(Computation) bool) {
		for _, id := range m.m.order {
			if !yield(Computation{m.m.comps.get(uint32(id))}) {
				return
			}
		}
	}
}

// CompIDLimit is one past the greatest computation id: the size of a table indexed by CompID.
func (m Module) CompIDLimit() CompID { return CompID(m.m.comps.n) }

// NumInstructions is the number of instructions in all computations.
func (m Module) NumInstructions() int {
	n := 0
	for c := range m.Computations() {
		n += c.NumInstructions()
	}
	return n
}

// Note is what a pass left under key with [Editor.SetNote].
func (m Module) Note(key AttrKey) (Attr, bool) { return m.m.notes.get(key) }

// SameLineage reports whether ids mean the same in both modules: one was edited into the other, or both come from one ancestor.
func (m Module) SameLineage(o Module) bool { return m.m.lineage == o.m.lineage }

// Callers yields the instructions that call computation id, by module order of their computation and then program order. An
// instruction that names it twice comes once.
func (m Module) Callers(id CompID) iter.Seq2[CompID, InstrID] {
	return func(yield func(CompID, InstrID) bool) {
		for _, c := range m.m.callIndex().of(id) {
			if !yield(c.comp, c.instr) {
				return
			}
		}
	}
}

// PostOrder yields the computations so that each follows all it calls (hlo-text section 10.4): for each computation without
// callers in module order, those it calls, depth first in the order its instructions name them, then itself. Computations that call
// each other in a circle, which no valid module has, come last.
func (m Module) PostOrder() iter.Seq[Computation] {
	return func(yield func(Computation) bool) {
		for _, id := range m.m.postOrder() {
			if !yield(Computation{m.m.comps.get(uint32(id))}) {
				return
			}
		}
	}
}

// String is the module's name.
func (m Module) String() string {
	if m.m == nil {
		return "<no module>"
	}
	return m.m.name
}
