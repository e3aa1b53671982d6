package hlo

import "slices"

// Forward is ReplaceAllUses for passes that replace again what they put in before: it takes note, and the users are written when
// a caller reads operands, users, the root or a view, or when the session publishes. By then a chain of replacements is known, and
// every user is copied and written once however often its operand was redirected. What anybody sees is what ReplaceAllUses would have
// made at this moment.
func (c CompEdit) Forward(old, new InstrID) {
	st := c.live()
	st.instr(old)
	st.instr(new)
	if old == new {
		return
	}
	if st.forwards(old) || st.forwards(new) { // a second replacement of old concerns other users, and new is meant as it is
		st.settle()
	}
	forward := &st.more().forward
	if forward.Len() == 0 {
		t := st.e.tables()
		t.unsettled = append(t.unsettled, st)
	}
	forward.Set(old, new)
}

// forwards reports whether users of one of the ids still have to be redirected.
func (st *compState) forwards(ids ...InstrID) bool {
	if st.forward.Len() == 0 {
		return false
	}
	return slices.ContainsFunc(ids, func(id InstrID) bool { return st.forward.Has(id) })
}

// settle redirects the users of everything that was forwarded.
func (st *compState) settle() {
	if st.forward.Len() == 0 {
		return
	}
	u := st.userOverlay()
	var users []InstrID
	for old := range st.forward.All() {
		users = append(users, u.of(old)...)
	}
	for _, user := range sortedSet(users) {
		before := slices.Clone(st.instr(user).operands())
		ops := st.ownInstr(user).ownOperands(&st.e.stats)
		for i, old := range ops {
			ops[i] = st.resolve(old, user)
		}
		u.change(user, before, ops, false)
	}
	if root := st.node.root; root != NoInstr {
		if to := st.resolve(root, NoInstr); to != root {
			st.own().root = to
		}
	}
	st.more().forward.Clear()
}

// resolve follows the forwarding of id. No instruction comes to use itself: one that stands in for its own operand keeps it.
func (st *compState) resolve(id, user InstrID) InstrID {
	for {
		to, ok := st.forward.Lookup(id)
		if !ok || to == user {
			return id
		}
		id = to
	}
}

// settle brings all computations up to date, before the module is read.
func (e *Editor) settle() {
	if e.side == nil {
		return
	}
	for _, st := range e.side.unsettled {
		if !st.removed {
			st.settle()
		}
	}
	e.side.unsettled = nil
	e.settleOrder()
}
