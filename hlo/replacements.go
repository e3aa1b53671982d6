package hlo

import (
	"slices"
	"sync"
)

// Replacement is an instruction and what stands for it.
type Replacement struct{ Old, New InstrID }

// ReplaceInstructions is [CompEdit.ReplaceInstruction] of one pair after the other, up to the first that it refuses. Many are made in one walk over the
// computation, which writes every user once, and lists of users are not kept up to date from one to the next.
func (c CompEdit) ReplaceInstructions(list []Replacement) error {
	if len(list) == 0 {
		return nil
	}
	st := c.state()
	if !st.isWorthWalk(len(list)) || !st.replaceAll(list) {
		for _, r := range list {
			if err := c.ReplaceInstruction(r.Old, r.New); err != nil {
				return err
			}
		}
	}
	return nil
}

// isWorthWalk reports whether so many edits are better made in a walk over the computation than one after the other, each with lists of users.
func (st *compState) isWorthWalk(edits int) bool {
	const each = 16
	return edits >= int(st.node.count)/each
}

// walkRoom is what such a walk notes, used again by the next one.
type walkRoom struct {
	of      []uint32  // by id
	ids     []InstrID // those to write
	callers []InstrID // those that go and call somebody
}

var walkRooms = sync.Pool{New: func() any { return new(walkRoom) }}

// isNew marks what stands for another.
const isNew = ^uint32(0)

// replaceAll makes the replacements, unless it matters that they are made one after the other: it reports false then, and has changed nothing.
func (st *compState) replaceAll(list []Replacement) bool {
	room := walkRooms.Get().(*walkRoom)
	defer walkRooms.Put(room)
	if !st.planReplacements(room, list) || !st.findReplaced(room) {
		return false
	}
	to := room.of
	stats := &st.e.stats
	for ids := range slices.Chunk(room.ids, NodesAhead) {
		st.node.ahead(ids)
		for _, id := range ids {
			operands := st.ownInstr(id).ownOperands(stats)
			for i, o := range operands {
				if t := to[o]; t != 0 && t != isNew {
					operands[i] = InstrID(t - 1)
				}
			}
		}
	}
	if root := st.node.root; root != NoInstr {
		if t := to[root]; t != 0 && t != isNew {
			st.own().root = InstrID(t - 1)
		}
	}
	for _, id := range room.callers {
		st.e.countCalls(st.instr(id).called(), -1)
	}
	for _, r := range list {
		*st.ownSlot(r.Old) = nil // nobody looks at the instruction, which no cache has any more
	}
	st.node.count -= int32(len(list))
	st.forgetUsers()
	return true
}

// planReplacements notes for every id what stands for it, and one; isNew for what stands for others. It reports false if one replacement has to do with
// what another has made of the computation, or is none. It looks at no instruction: findReplaced meets them all.
func (st *compState) planReplacements(room *walkRoom, list []Replacement) bool {
	n := int(st.node.instrs.n)
	room.of = cleared(room.of, n)
	to := room.of
	for _, r := range list {
		if int(r.Old) >= n || int(r.New) >= n || to[r.Old] != 0 || r.Old == r.New || to[r.New] != 0 && to[r.New] != isNew {
			return false
		}
		if st.node.instrs.get(uint32(r.Old)) == nil || st.node.instrs.get(uint32(r.New)) == nil {
			return false
		}
		to[r.Old], to[r.New] = uint32(r.New)+1, isNew
	}
	return true
}

// findReplaced notes the instructions that stay and use what is replaced, and those that go and call somebody. It reports false if one would use itself or has to wait for what
// is replaced, or if one that goes is a parameter or has to wait for something.
func (st *compState) findReplaced(room *walkRoom) bool {
	to := room.of
	room.ids, room.callers = room.ids[:0], room.callers[:0]
	return st.node.instrs.eachLeaf(func(slots []*instrNode) bool {
		for _, n := range slots {
			if n == nil {
				continue
			}
			if x := n.extra; x != nil {
				for _, p := range x.control {
					if t := to[p]; t != 0 && t != isNew {
						return false
					}
				}
			}
			if t := to[n.id]; t != 0 && t != isNew {
				if n.op == OpParameter || len(n.control()) > 0 {
					return false
				}
				if len(n.called()) > 0 {
					room.callers = append(room.callers, n.id)
				}
				continue
			}
			uses := false
			for _, o := range n.operands() {
				if t := to[o]; t != 0 && t != isNew {
					if t-1 == uint32(n.id) {
						return false
					}
					uses = true
				}
			}
			if uses {
				room.ids = append(room.ids, n.id)
			}
		}
		return true
	})
}

// asked is added to the number of uses of what is to go if it has none.
const asked = 1 << 31

// RemoveUnused removes those of ids that nobody uses and for which may is true, and then what they alone used, as far as may is true for it. Parameters stay, and so does what
// has control dependencies. It reports false, and does nothing, if ids are so few that this is better done one by one: it walks over the computation, and the session forgets what it
// knows of users.
func (c CompEdit) RemoveUnused(ids []InstrID, may func(InstrEdit) bool) bool {
	st := c.state()
	if !st.isWorthWalk(len(ids)) {
		return false
	}
	room := walkRooms.Get().(*walkRoom)
	defer walkRooms.Put(room)
	uses := st.countUses(room)
	const goes = ^uint32(0)
	for _, id := range ids {
		if int(id) < len(uses) {
			uses[id] |= asked
		}
	}
	// Users have greater ids than operands but for a few, so the ids go down: most instructions are met in the order in which they lie in memory.
	gone, late := false, room.ids[:0]
	for next := InstrID(len(uses)); next > 0 || len(late) > 0; {
		var id InstrID
		if n := len(late); n > 0 {
			id, late = late[n-1], late[:n-1]
		} else {
			if next%NodesAhead == 0 {
				st.aheadOf(uses, next)
			}
			next--
			id = next
		}
		if uses[id] != asked {
			continue
		}
		n := st.node.instrs.get(uint32(id))
		if n == nil || n.op == OpParameter || len(n.control()) > 0 || !may(InstrEdit{st, id, c.gen}) {
			continue
		}
		for _, o := range n.operands() {
			if uses[o] == goes {
				continue
			}
			uses[o] = uses[o]&^asked - 1 | asked
			if o >= next && uses[o] == asked {
				late = append(late, o)
			}
		}
		uses[id], gone = goes, true
		st.takeOut(n)
	}
	if gone {
		st.forgetUsers()
	}
	room.ids = late
	return true
}

// aheadOf reads ahead what is asked for of the ids right below next.
func (st *compState) aheadOf(uses []uint32, next InstrID) {
	if !st.node.isLarge() {
		return
	}
	var wanted [NodesAhead]InstrID
	n := 0
	for id := next - min(next, NodesAhead); id < next; id++ {
		if uses[id] >= asked {
			wanted[n] = id
			n++
		}
	}
	st.node.ahead(wanted[:n])
}

// countUses counts for every id how often it is an operand, or has to be waited for, or is the root.
func (st *compState) countUses(room *walkRoom) []uint32 {
	room.of = cleared(room.of, int(st.node.instrs.n))
	uses := room.of
	st.node.instrs.eachLeaf(func(slots []*instrNode) bool {
		for _, n := range slots {
			if n == nil {
				continue
			}
			for _, o := range n.operands() {
				uses[o]++
			}
			if x := n.extra; x != nil {
				for _, p := range x.control {
					uses[p]++
				}
			}
		}
		return true
	})
	if root := st.node.root; root != NoInstr {
		uses[root]++
	}
	return uses
}

// takeOut removes an instruction that nobody uses.
func (st *compState) takeOut(n *instrNode) {
	*st.ownSlot(n.id) = nil
	st.node.count--
	st.e.countCalls(n.called(), -1)
}

// forgetUsers drops what the session knows of users: it is found anew when it is asked for.
func (st *compState) forgetUsers() {
	if st.users != nil {
		st.more().users = nil
	}
}
