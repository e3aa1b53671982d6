package hlo

import (
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
)

// CompID names a computation within its module. It is stable across versions and never reused in one lineage.
type CompID uint32

// NoComp is the CompID of no computation.
const NoComp = ^CompID(0)

// MainThread is the execution thread of a computation that names none.
const MainThread = "main"

// Computation is one version of a computation: instructions in program order, a root, parameters. It is a small value; == means
// the same version. The zero Computation is none. Frozen computations may be read by any number of goroutines; derived facts (users,
// orders, hashes) are computed on first demand and kept.
type Computation struct{ c *compNode }

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

// viewNode is a view and its mark in one allocation: a session makes many.
type viewNode struct {
	compNode
	mark liveView
}

// fresh reports whether a view may be used and shows a computation as it is, which nearly every one does: the answer to a look at an instruction.
func (v *liveView) fresh() bool { return v.e.looks == v.looks && v.st.viewGen == v.viewGen }

// check panics if a view must not be used.
func (v *liveView) check() {
	if v.fresh() {
		return
	}
	if v.e.looks != v.looks {
		panic(fmt.Sprintf("hlo: use of a view of computation %q after %s", v.name, v.e.ended))
	}
	if !v.isCurrent() && !v.lasts() {
		panic(fmt.Sprintf("hlo: use of a view of computation %q after the session edited it; take a new View", v.name))
	}
}

// node checks that a view is not stale.
func (c Computation) node() *compNode {
	if c.c.live != nil {
		c.c.live.check()
	}
	return c.c
}

// checked is node for iterators, which must be small enough to be inlined: a loop over one that is allocates nothing.
//
//go:noinline
func (c Computation) checked() *compNode { return c.node() }

func (c *compNode) mustAt(id InstrID) Instruction {
	n := c.instrs.get(uint32(id))
	if n == nil {
		panic(fmt.Sprintf("hlo: no instruction %d in computation %q", id, c.name))
	}
	return c.handle(n)
}

// IsZero reports whether c is no computation.
func (c Computation) IsZero() bool { return c.c == nil }

// ID is the computation's id in its module. A stale view still knows it.
func (c Computation) ID() CompID { return c.c.id }

// Name is the computation's name, unique in the module, without '%'.
func (c Computation) Name() string { return c.node().name }

// ExecutionThread is the thread that the computation runs on.
func (c Computation) ExecutionThread() string {
	if t := c.node().thread; t != "" {
		return t
	}
	return MainThread
}

// Root is the instruction whose value is the result; the zero Instruction while none is set.
func (c Computation) Root() Instruction {
	n := c.node()
	in, _ := Computation{n}.At(n.root)
	return in
}

// NumInstructions is the number of instructions.
func (c Computation) NumInstructions() int { return int(c.node().count) }

// IDLimit is one past the greatest id: the size of a table indexed by InstrID.
func (c Computation) IDLimit() InstrID { return InstrID(c.node().instrs.n) }

// At is the instruction of the given id.
func (c Computation) At(id InstrID) (Instruction, bool) {
	n := c.node()
	if in := n.instrs.get(uint32(id)); in != nil {
		return n.handle(in), true
	}
	return Instruction{}, false
}

// MustAt is the instruction of an id that is known to exist; it panics when there is none.
func (c Computation) MustAt(id InstrID) Instruction { return c.node().mustAt(id) }

// ByName is the instruction of the given name.
func (c Computation) ByName(name string) (Instruction, bool) {
	n := c.node()
	index := n.cache().byName.Load()
	if index == nil {
		m := make(map[string]InstrID, n.count)
		n.instrs.each(func(in *instrNode) bool { m[in.name] = in.id; return true })
		index = &m
		n.cache().byName.Store(index)
	}
	id, ok := (*index)[name]
	if !ok {
		return Instruction{}, false
	}
	return n.mustAt(id), true
}

// NumParameters is the number of parameter instructions.
func (c Computation) NumParameters() int { return len(c.node().params) }

// Parameters is a new slice with the ids of the parameters by number.
func (c Computation) Parameters() []InstrID { return slices.Clone(c.node().params) }

// Parameter is the parameter instruction with the i-th smallest number, which in a well-formed computation is parameter(i).
func (c Computation) Parameter(i int) Instruction {
	n := c.node()
	return n.mustAt(n.params[i])
}

// Signature is the shapes of parameters and result.
func (c Computation) Signature() ProgramShape {
	n := c.node()
	p := ProgramShape{Parameters: make([]Shape, len(n.params))}
	for i, id := range n.params {
		p.Parameters[i] = n.instrs.get(uint32(id)).shape
	}
	if r := n.instrs.get(uint32(n.root)); r != nil {
		p.Result = r.shape
	}
	return p
}

// Instructions yields the instructions in program order: the schedule if there is one, else the order of insertion.
func (c Computation) Instructions() iter.Seq[Instruction] {
	n := c.checked()
	return func(yield func(Instruction) bool) { n.inProgramOrder(yield) }
}

func (c *compNode) inProgramOrder(yield func(Instruction) bool) {
	if c.idOrder {
		c.byID(yield)
		return
	}
	large := c.isLarge()
	for order := c.order(); len(order) > 0; {
		next := order[:min(len(order), NodesAhead)]
		order = order[len(next):]
		if large {
			readAhead(next)
		}
		for _, in := range next {
			if !yield(c.handle(in)) {
				return
			}
		}
	}
}

// byID yields the instructions in the order of their ids.
func (c *compNode) byID(yield func(Instruction) bool) {
	large := c.isLarge()
	c.instrs.eachLeaf(func(slots []*instrNode) bool {
		if large {
			readAhead(slots)
		}
		for _, in := range slots {
			if in != nil && !yield(c.handle(in)) {
				return false
			}
		}
		return true
	})
}

// PostOrder yields every instruction after its control predecessors and operands, in the order XLA prints and traverses
// unscheduled computations in (hlo-text section 10.4).
func (c Computation) PostOrder() iter.Seq[Instruction] {
	n := c.checked()
	return func(yield func(Instruction) bool) { n.inPostOrder(yield) }
}

func (c *compNode) inPostOrder(yield func(Instruction) bool) {
	order := c.postOrder()
	if order == nil {
		c.byID(yield)
	}
	for ids := range slices.Chunk(order, NodesAhead) {
		c.ahead(ids)
		for _, id := range ids {
			if !yield(c.mustAt(id)) {
				return
			}
		}
	}
}

// OperandsFirst yields every instruction after its operands: by the schedule if there is one, else in post-order. Program order does not
// promise that before a schedule is made: a pass may have given an instruction an operand that was added later.
func (c Computation) OperandsFirst() iter.Seq[Instruction] {
	if c.IsScheduled() {
		return c.Instructions()
	}
	return c.PostOrder()
}

// IsScheduled reports whether program order is an execution order.
func (c Computation) IsScheduled() bool { return c.node().scheduled }

// Schedule is a new slice with the ids in execution order, nil when the computation is not scheduled.
func (c Computation) Schedule() []InstrID {
	n := c.node()
	if !n.scheduled {
		return nil
	}
	return n.orderIDs()
}

// Less reports whether a precedes b in program order. Both must be instructions of the computation.
func (c Computation) Less(a, b InstrID) bool {
	n := c.node()
	return n.mustAt(a).node().rank < n.mustAt(b).node().rank
}

// Users yields the ids of the instructions that use id as an operand, each once, ascending.
func (c Computation) Users(id InstrID) iter.Seq[InstrID] {
	return func(yield func(InstrID) bool) { c.eachUser(id, yield) }
}

func (c Computation) eachUser(id InstrID, yield func(InstrID) bool) {
	eachID(c.node().usersOf(id), yield)
}

// UserCount is the number of instructions that use id as an operand.
func (c Computation) UserCount(id InstrID) int { return c.node().userCount(id) }

// ControlSuccessors yields the ids of the instructions that have id as control predecessor, each once, ascending.
func (c Computation) ControlSuccessors(id InstrID) iter.Seq[InstrID] {
	return func(yield func(InstrID) bool) { eachID(c.node().successorsOf(id), yield) }
}

// Note is what a pass left under key with [CompEdit.SetNote].
func (c Computation) Note(key AttrKey) (Attr, bool) { return c.node().notes.get(key) }

// String is the name with '%'.
func (c Computation) String() string {
	if c.c == nil {
		return "%<no computation>"
	}
	return "%" + c.Name()
}
