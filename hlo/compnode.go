package hlo

import (
	"fmt"
	"sync/atomic"
)

// compNode is written only by the session whose epoch it carries. Program order is ascending rank; in a scheduled computation that is
// the schedule, so no edit can make the two disagree.
type compNode struct {
	epoch uint64
	*compInfo
	instrs  tree[instrNode]
	live    *liveView // of a view into a running session; nil when frozen
	cached  atomic.Pointer[compCache]
	maxRank uint64
	root    InstrID
	count   int32         // live instructions
	facts   atomic.Uint32 // derived facts that need no memory: most computations have no others
	// idOrder says that ranks ascend with ids, so that program order is tree order. Otherwise base is the order of the ids
	// below base.limit, to merge later ones into.
	idOrder   bool
	scheduled bool
	outdated  bool // of a view: the session has edited the computation since, or is over
}

// compInfo is what most edits of a computation leave alone, kept apart so that they need not copy it. It is written through
// [compState.ownInfo] only, by the session whose epoch it carries.
type compInfo struct {
	epoch  uint64
	name   string
	thread string    // "": MainThread
	params []InstrID // by number, then id; never written in place
	notes  *noteNode
	base   *orderBase
	id     CompID
	lender uint64 // the first epoch of the session whose view another session has edited, to make this; 0: it has edited no view
}

const (
	compNodeBytes = 72
	compInfoBytes = 96
)

// Bits of compNode.facts.
const (
	callsNobody = 1 << iota // no instruction calls anything
	postIsByID              // the post-order is that of the ids, without gaps
	noControl               // no instruction has a control predecessor
	isBuilt                 // there are facts from when it was built
	noEmpty                 // no result is an array without elements
)

// compCache holds derived facts; each is computed at most a few times and all results are equal. Owned nodes have none, but for what is known of a computation
// when it is built: that is forgotten with the first edit.
type compCache struct {
	order  atomic.Pointer[[]*instrNode]
	post   atomic.Pointer[[]InstrID]
	users  atomic.Pointer[userIndex]
	calls  atomic.Pointer[callList]
	byName atomic.Pointer[map[string]InstrID]
	shape  atomic.Pointer[structure]
	digest atomic.Pointer[Digest]

	opcodes atomic.Pointer[OpcodeSet]
	byID    atomic.Pointer[[]Opcode] // of a large computation; OpInvalid where there is no instruction
}

// cache returns the place for derived facts. On a node owned by a session it must be called through a view, which has its own.
func (c *compNode) cache() *compCache {
	if x := c.cached.Load(); x != nil {
		return x
	}
	c.cached.CompareAndSwap(nil, new(compCache))
	return c.cached.Load()
}

// forget drops what was known when the computation was built, which the session is about to edit in place.
func (c *compNode) forget() {
	if c.facts.Load() != 0 {
		c.facts.Store(0)
		c.cached.Store(nil)
	}
}

// A header and its only leaf in one allocation.
type (
	comp4 struct {
		compNode
		leaf node4[instrNode]
	}
	comp8 struct {
		compNode
		leaf node8[instrNode]
	}
	comp16 struct {
		compNode
		leaf node16[instrNode]
	}
	comp32 struct {
		compNode
		leaf node32[instrNode]
	}
)

// cloneWithLeaf is clone for a write to slot id: if there is one leaf only and it has that slot, its copy is made with the header's.
func (c *compNode) cloneWithLeaf(epoch uint64, st *CopyStats, id InstrID) *compNode {
	from := c.instrs.root
	if from == nil || from.inner || uint32(id) >= uint32(from.size) {
		return c.clone(epoch)
	}
	var d *compNode
	var leaf *treeNode[instrNode]
	switch from.size {
	case 4:
		x := new(comp4)
		d, leaf = &x.compNode, x.leaf.init(epoch)
	case 8:
		x := new(comp8)
		d, leaf = &x.compNode, x.leaf.init(epoch)
	case 16:
		x := new(comp16)
		d, leaf = &x.compNode, x.leaf.init(epoch)
	default:
		x := new(comp32)
		d, leaf = &x.compNode, x.leaf.init(epoch)
	}
	c.copyTo(d, epoch)
	d.instrs.root = leaf
	leaf.copyLeaf(from, st)
	return d
}

func (c *compNode) clone(epoch uint64) *compNode {
	d := new(compNode)
	c.copyTo(d, epoch)
	return d
}

// copyTo makes d, a zeroed node, a copy of c for the session of the given epoch, but for what is cached.
func (c *compNode) copyTo(d *compNode, epoch uint64) {
	d.epoch, d.compInfo, d.instrs, d.root = epoch, c.compInfo, c.instrs, c.root
	d.maxRank, d.count, d.idOrder, d.scheduled = c.maxRank, c.count, c.idOrder, c.scheduled
	if x := c.cached.Load(); x != nil && !c.idOrder {
		// Merging costs more the more ids are above the limit, so it is raised now and then.
		if o := x.order.Load(); o != nil && c.instrs.n-uint32(c.base.limit) > uint32(c.count)/8 {
			d.compInfo = c.compInfo.clone(epoch)
			d.base = newOrderBase(*o, InstrID(c.instrs.n))
		}
	}
}

// lentTo makes d, the copy for another session of a view, and what is made of it remember whose nodes they share: that session still writes to them.
func (c *compNode) lentTo(d *compNode) {
	if c.live != nil {
		lender := c.liveEpoch()
		d.compInfo = d.compInfo.clone(d.epoch)
		d.lender = lender
	}
}

func (i *compInfo) clone(epoch uint64) *compInfo {
	c := *i
	c.epoch = epoch
	return &c
}

// liveView marks the header of a view into a running session: it dies with the next edit of the computation, and with the session.
type liveView struct {
	st             *compState
	e              *Editor
	c              *compNode
	viewGen, looks uint32
	name           string
}

// endView outdates the last view of the computation.
func (st *compState) endView() {
	if st.view != nil {
		st.view.outdated, st.view = true, nil
	}
}

// viewNode is a view and its mark in one allocation: a session makes many.
type viewNode struct {
	compNode
	mark liveView
}

// check panics if an outdated view must not be used.
func (v *liveView) check() {
	if v.e.looks != v.looks {
		panic(fmt.Sprintf("hlo: use of a view of computation %q after %s", v.name, v.e.ended))
	}
	if !v.isCurrent() && !v.lasts() {
		panic(fmt.Sprintf("hlo: use of a view of computation %q after the session edited it; take a new View", v.name))
	}
}
