package hlo

import (
	"errors"
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

// InstrSpec says what instruction to make. Slices are copied.
type InstrSpec struct {
	Opcode   Opcode
	Name     string // made unique in the module; "": the mnemonic
	NameHash uint64 // [HashName] of Name, where it is known already; 0: it is not
	Shape    Shape
	Operands []InstrID
	Attrs    OpAttrs // nil: none; kept, and must not be written afterwards
	Common   *Common // nil: none; likewise
	Callees  []CompID
	Control  []InstrID // control predecessors
	Position Position
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
	if st.view == nil || st.view.live.viewGen != st.viewGen || st.view.live.looks != st.e.looks {
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

// Add appends an instruction to the program order, and so to the schedule, if any. Its name is the mnemonic made unique, and its
// attributes the defaults of the op; [CompEdit.AddSpec] says all at once.
func (c CompEdit) Add(op Opcode, s Shape, operands ...InstrID) InstrEdit {
	return c.AddSpec(InstrSpec{Opcode: op, Shape: s, Operands: operands, Attrs: defaultAttrs(op)})
}

// AddSpec appends an instruction to the program order, and so to the schedule, if any.
func (c CompEdit) AddSpec(spec InstrSpec) InstrEdit {
	st := c.live()
	st.check(&spec)
	n := st.newInstr(&spec)
	if o := st.order; o != nil {
		o.pred.Set(n.id, o.last)
		o.last = n.id
	}
	cn := st.node
	cn.maxRank += rankGap
	n.rank = cn.maxRank
	return InstrEdit{st, n.id, c.gen}
}

// InsertBefore is Add with a place in the program order: just before at.
func (c CompEdit) InsertBefore(at InstrID, op Opcode, s Shape, operands ...InstrID) InstrEdit {
	return c.InsertSpecBefore(at, InstrSpec{Opcode: op, Shape: s, Operands: operands, Attrs: defaultAttrs(op)})
}

// InsertSpecBefore is AddSpec with a place in the program order: just before at.
func (c CompEdit) InsertSpecBefore(at InstrID, spec InstrSpec) InstrEdit {
	st := c.live()
	st.instr(at)
	st.check(&spec)
	rank := st.rankBefore(at)
	n := st.newInstr(&spec)
	n.rank = rank
	st.order.placed(n.id, at)
	if cn := st.node; cn.idOrder {
		cn.idOrder = false
		st.ownInfo().base = &orderBase{limit: n.id}
	}
	return InstrEdit{st, n.id, c.gen}
}

func defaultAttrs(op Opcode) OpAttrs {
	if f := Info(op).NewAttrs; f != nil {
		return f()
	}
	return nil
}

// check refuses a spec that names what does not exist.
func (st *compState) check(spec *InstrSpec) {
	if !spec.Opcode.IsValid() {
		panic(fmt.Sprintf("hlo: adding an instruction of %v", spec.Opcode))
	}
	st.checkIDs("operand", spec.Opcode, spec.Operands)
	if st.forwards(spec.Operands...) {
		st.settle() // its use of what was replaced before is meant
	}
	st.checkIDs("control predecessor", spec.Opcode, spec.Control)
	st.e.checkCallees(spec.Callees)
}

func (st *compState) checkIDs(what string, op Opcode, ids []InstrID) {
	for i, id := range ids {
		if st.node.instrs.get(uint32(id)) == nil {
			panic(fmt.Sprintf("hlo: %s %d of %v is %d, which does not exist in computation %q", what, i, op, id, st.node.name))
		}
	}
}

func (e *Editor) checkCallees(ids []CompID) {
	for _, id := range ids {
		e.root.mustComp(id)
	}
}

// newInstr makes an instruction of a checked spec, without a rank.
func (st *compState) newInstr(spec *InstrSpec) *instrNode {
	e := st.e
	id := InstrID(st.node.instrs.n)
	slot := st.ownSlot(id)
	c := st.node
	name := spec.Name
	if name == "" {
		name = spec.Opcode.String()
		spec.NameHash = 0
	}
	n := e.takeNode(maxEditSlab)
	n.fill(&e.stats, spec)
	n.stamp, n.name, n.id = e.epoch, e.instrNames().uniqueHashed(name, freshHash(name, spec.NameHash)), id
	e.countMore(st.node.id, spec.Callees)
	*slot = n
	c.count++
	st.noteNamed(n.id)
	if st.users != nil {
		st.users.change(n.id, nil, n.operands(), false)
		st.users.change(n.id, nil, n.control(), true)
	}
	if n.op == OpParameter {
		st.placeParameter(n)
	}
	return n
}

// placeParameter puts n where its number says, after having been anywhere or nowhere in the list of parameters.
func (st *compState) placeParameter(n *instrNode) {
	c := st.node
	params := slices.DeleteFunc(slices.Clone(c.params), func(id InstrID) bool { return id == n.id })
	if n.op == OpParameter {
		num := n.parameterNumber()
		i := slices.IndexFunc(params, func(id InstrID) bool {
			k := c.instrs.get(uint32(id)).parameterNumber()
			return k > num || k == num && id > n.id
		})
		if i < 0 {
			i = len(params)
		}
		params = slices.Insert(params, i, n.id)
	}
	st.ownInfo().params = params
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

// Reasons why Remove refuses; errors.Is finds them.
var (
	ErrHasUsers             = errors.New("it has users")
	ErrHasControlSuccessors = errors.New("it has control successors")
	ErrIsRoot               = errors.New("it is the root")
	ErrIsParameter          = errors.New("it is a parameter; RemoveParameter renumbers the others")
)

// Remove removes an unneeded instruction: no users, no control successors, neither root nor parameter. Otherwise it changes
// nothing and returns an error wrapping the reason.
func (c CompEdit) Remove(id InstrID) error {
	st := c.state()
	n := st.instr(id)
	if n.op == OpParameter {
		return fmt.Errorf("hlo: cannot remove %s: %w", n.name, ErrIsParameter)
	}
	return st.remove(n)
}

func (st *compState) remove(n *instrNode) error {
	var reason error
	u := st.userOverlay()
	switch {
	case u.count(n.id) > 0:
		reason = ErrHasUsers
	case len(u.successors(n.id)) > 0:
		reason = ErrHasControlSuccessors
	case st.node.root == n.id:
		reason = ErrIsRoot
	default:
		*st.ownSlot(n.id) = nil
		st.node.count--
		u.change(n.id, n.operands(), nil, false)
		u.change(n.id, n.control(), nil, true)
		st.e.countCalls(n.called(), -1)
		return nil
	}
	return fmt.Errorf("hlo: cannot remove %s: %w", n.name, reason)
}

// RemoveParameter removes parameter number i, which must have no users, and renumbers those after it. Callers keep their operands:
// changing them is up to the pass.
func (c CompEdit) RemoveParameter(i int) error {
	st := c.state()
	if i < 0 || i >= len(st.node.params) {
		panic(fmt.Sprintf("hlo: no parameter %d in computation %q", i, st.node.name))
	}
	if err := st.remove(st.instr(st.node.params[i])); err != nil {
		return err
	}
	left := slices.Delete(slices.Clone(st.node.params), i, i+1)
	st.ownInfo().params = left
	for k, id := range left { // SetAttrs replaces the list as it goes
		if k >= i {
			c.Instr(id).SetAttrs(&ParameterAttrs{Number: int64(k)})
		}
	}
	return nil
}

// ReplaceAllUses makes every user of old use new instead, and new the root if old was. If new itself uses old, that use stays. It
// returns the number of instructions changed. Control edges stay.
func (c CompEdit) ReplaceAllUses(old, new InstrID) int {
	st := c.state()
	st.instr(old)
	st.instr(new)
	if old == new {
		return 0
	}
	count := 0
	u := st.userOverlay()
	for _, user := range slices.Clone(u.of(old)) {
		if user == new {
			continue
		}
		u.redirect(user, st.ownInstr(user).ownOperands(&st.e.stats), old, new)
		count++
	}
	if st.node.root == old {
		st.own().root = new
	}
	return count
}

// ReplaceInstruction makes new stand for old everywhere: users, root and control edges, and removes old. It refuses, and changes
// nothing, when new uses old or old is a parameter.
func (c CompEdit) ReplaceInstruction(old, new InstrID) error {
	st := c.state()
	switch o, n := st.instr(old), st.instr(new); {
	case old == new:
		return nil
	case o.op == OpParameter:
		return fmt.Errorf("hlo: cannot replace %s by %s: %w", o.name, n.name, ErrIsParameter)
	case slices.Contains(n.operands(), old):
		return fmt.Errorf("hlo: cannot replace %s by %s, which uses it: %w", o.name, n.name, ErrHasUsers)
	}
	c.ReplaceAllUses(old, new)
	for _, s := range slices.Clone(st.userOverlay().successors(old)) {
		in := InstrEdit{st, s, c.gen}
		in.RemoveControlPredecessor(old)
		if s != new {
			in.AddControlPredecessor(new)
		}
	}
	for _, p := range slices.Clone(st.instr(old).control()) {
		if p != new {
			c.Instr(new).AddControlPredecessor(p)
		}
	}
	return c.Remove(old)
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
