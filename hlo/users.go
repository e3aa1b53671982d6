package hlo

import "slices"

// userIndex lists, for every value, its users and its control successors: offsets into one array each. Lists ascend by id and name
// each user once. It is immutable.
type userIndex struct {
	off, controlOff []uint32 // len: id limit + 1; controlOff is nil when there are no control edges
	ids, controlIDs []InstrID
}

func (x *userIndex) of(id InstrID) []InstrID {
	if int(id)+1 >= len(x.off) {
		return nil
	}
	a, b := x.off[id], x.off[id+1]
	return x.ids[a:b:b]
}

func (x *userIndex) successors(id InstrID) []InstrID {
	if int(id)+1 >= len(x.controlOff) {
		return nil
	}
	a, b := x.controlOff[id], x.controlOff[id+1]
	return x.controlIDs[a:b:b]
}

// userIndex returns the cached index. On a node owned by a session it must be called through a view only, whose cache dies with it.
func (c *compNode) userIndex() *userIndex {
	if x := c.cache().users.Load(); x != nil {
		return x
	}
	x := buildUserIndex(&c.instrs)
	c.cache().users.Store(x)
	return x
}

// usersOf returns the users of a value. A view of a running session asks the session, which keeps them up to date from edit to edit: an
// index made for each view would make every question after an edit cost as much as the computation is long. The session's lists
// change in place, so they are copied.
func (c *compNode) usersOf(id InstrID) []InstrID {
	if c.live != nil {
		return slices.Clone(c.live.st.userOverlay().of(id))
	}
	return c.userIndex().of(id)
}

func (c *compNode) userCount(id InstrID) int {
	if c.live != nil {
		return len(c.live.st.userOverlay().of(id))
	}
	return len(c.userIndex().of(id))
}

func (c *compNode) successorsOf(id InstrID) []InstrID {
	if c.live != nil {
		return slices.Clone(c.live.st.userOverlay().successors(id))
	}
	return c.userIndex().successors(id)
}

func buildUserIndex(t *tree[instrNode]) *userIndex {
	x := new(userIndex)
	x.off, x.ids = invert(t, (*instrNode).operands)
	hasControl := !t.each(func(n *instrNode) bool { return len(n.control()) == 0 })
	if hasControl {
		x.controlOff, x.controlIDs = invert(t, (*instrNode).control)
	}
	return x
}

// invert turns the edges out of each instruction into lists of sources per target: count, prefix sums, fill. seen[v] is the last
// source counted for v, plus one, which drops repeated edges.
func invert(t *tree[instrNode], edges func(*instrNode) []InstrID) (off []uint32, ids []InstrID) {
	off = make([]uint32, t.n+1)
	seen := make([]uint32, t.n)
	total := uint32(0)
	t.each(func(n *instrNode) bool {
		for _, v := range edges(n) {
			if uint32(v) < t.n && seen[v] != uint32(n.id)+1 {
				seen[v] = uint32(n.id) + 1
				off[v+1]++
				total++
			}
		}
		return true
	})
	for i := 1; i < len(off); i++ {
		off[i] += off[i-1]
	}
	ids = make([]InstrID, total)
	clear(seen)
	next := slices.Clone(off[:t.n])
	t.each(func(n *instrNode) bool {
		for _, v := range edges(n) {
			if uint32(v) < t.n && seen[v] != uint32(n.id)+1 {
				seen[v] = uint32(n.id) + 1
				ids[next[v]] = n.id
				next[v]++
			}
		}
		return true
	})
	return off, ids
}

// userOverlay is a session's view of the users: an immutable index of some earlier state, and full lists for the values whose users
// have changed since. A list belongs to the overlay and is sorted.
type userOverlay struct {
	base          *userIndex
	over, control map[InstrID][]InstrID
}

func (o *userOverlay) of(id InstrID) []InstrID {
	if l, ok := o.over[id]; ok {
		return l
	}
	return o.base.of(id)
}

func (o *userOverlay) successors(id InstrID) []InstrID {
	if l, ok := o.control[id]; ok {
		return l
	}
	return o.base.successors(id)
}

// change records that user's operands (or control predecessors) went from before to after.
func (o *userOverlay) change(user InstrID, before, after []InstrID, control bool) {
	has := slices.Contains[[]InstrID]
	if len(before)+len(after) > 32 { // tuples of thousands of operands: search instead of scanning
		before, after = sortedSet(before), sortedSet(after)
		has = func(l []InstrID, v InstrID) bool { _, ok := slices.BinarySearch(l, v); return ok }
	}
	for _, v := range before {
		if !has(after, v) {
			o.update(v, user, control, false)
		}
	}
	for _, v := range after {
		if !has(before, v) {
			o.update(v, user, control, true)
		}
	}
}

// swap records that one operand of user changed from old to new; operands are those after the change.
func (o *userOverlay) swap(user InstrID, operands []InstrID, old, new InstrID) {
	if !slices.Contains(operands, old) {
		o.update(old, user, false, false)
	}
	o.update(new, user, false, true)
}

func (o *userOverlay) update(v, user InstrID, control, insert bool) {
	over, base := &o.over, o.base.of
	if control {
		over, base = &o.control, o.base.successors
	}
	if *over == nil {
		*over = make(map[InstrID][]InstrID)
	}
	l, ok := (*over)[v]
	if !ok {
		b := base(v)
		l = append(make([]InstrID, 0, len(b)+2), b...)
	}
	i, found := slices.BinarySearch(l, user)
	switch {
	case insert && !found:
		l = slices.Insert(l, i, user)
	case !insert && found:
		l = slices.Delete(l, i, i+1)
	}
	(*over)[v] = l
}

func sortedSet(l []InstrID) []InstrID {
	l = slices.Clone(l)
	slices.Sort(l)
	return slices.Compact(l)
}
