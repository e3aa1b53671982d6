package hlo

import "sync"

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
	of  []uint32  // by id
	ids []InstrID // those to write
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
	for _, id := range room.ids {
		operands := st.ownInstr(id).ownOperands(stats)
		for i, o := range operands {
			if t := to[o]; t != 0 && t != isNew {
				operands[i] = InstrID(t - 1)
			}
		}
	}
	if root := st.node.root; root != NoInstr {
		if t := to[root]; t != 0 && t != isNew {
			st.own().root = InstrID(t - 1)
		}
	}
	for _, r := range list {
		st.takeOut(r.Old)
	}
	st.forgetUsers()
	return true
}

// planReplacements notes for every id what stands for it, and one; isNew for what stands for others. It reports false if one replacement has to do with
// what another has made of the computation, or is none.
func (st *compState) planReplacements(room *walkRoom, list []Replacement) bool {
	n := int(st.node.instrs.n)
	room.of = cleared(room.of, n)
	to := room.of
	for _, r := range list {
		if int(r.Old) >= n || int(r.New) >= n || to[r.Old] != 0 || r.Old == r.New || to[r.New] != 0 && to[r.New] != isNew {
			return false
		}
		old := st.node.instrs.get(uint32(r.Old))
		if old == nil || old.op == OpParameter || len(old.control()) > 0 || st.node.instrs.get(uint32(r.New)) == nil {
			return false
		}
		to[r.Old], to[r.New] = uint32(r.New)+1, isNew
	}
	return true
}

// findReplaced notes the instructions that stay and use what is replaced. It reports false if one of them would use itself, or has to wait for what is
// replaced.
func (st *compState) findReplaced(room *walkRoom) bool {
	to := room.of
	room.ids = room.ids[:0]
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
	todo, gone := append(room.ids[:0], ids...), 0
	// What is removed is at the beginning of todo, what is to be looked at behind: there is always room, as each step takes one from the end.
	for len(todo) > gone {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := st.node.instrs.get(uint32(id))
		if n == nil || uses[id] != 0 || n.op == OpParameter || len(n.control()) > 0 || !may(InstrEdit{st, id, c.gen}) {
			continue
		}
		uses[id] = goes
		todo = append(todo, id)
		todo[len(todo)-1], todo[gone] = todo[gone], id
		gone++
		for _, o := range n.operands() {
			if uses[o] != goes {
				uses[o]--
				todo = append(todo, o)
			}
		}
	}
	for _, id := range todo {
		st.takeOut(id)
	}
	if gone > 0 {
		st.forgetUsers()
	}
	room.ids = todo
	return true
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
func (st *compState) takeOut(id InstrID) {
	slot := st.ownSlot(id)
	called := (*slot).called()
	*slot = nil
	st.node.count--
	st.e.countCalls(called, -1)
}

// forgetUsers drops what the session knows of users: it is found anew when it is asked for.
func (st *compState) forgetUsers() {
	if st.users != nil {
		st.more().users = nil
	}
}
