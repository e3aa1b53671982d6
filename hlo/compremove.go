package hlo

import (
	"errors"
	"fmt"
	"slices"
)

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
