package hlo

import (
	"slices"

	"github.com/gohalo/halo/internal/idmap"
)

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
	x := buildUserIndex(c)
	c.cache().users.Store(x)
	return x
}

// usersOf returns the users of a value. A view of a running session asks the session, which keeps them up to date from edit to edit: an
// index made for each view would make every question after an edit cost as much as the computation is long. The session's lists
// change in place, so they are copied.
func (c *compNode) usersOf(id InstrID) []InstrID {
	if c.live != nil && c.live.isCurrent() {
		return slices.Clone(c.live.st.userOverlay().of(id))
	}
	return c.userIndex().of(id)
}

func (c *compNode) userCount(id InstrID) int {
	if c.live != nil && c.live.isCurrent() {
		return c.live.st.userOverlay().count(id)
	}
	return len(c.userIndex().of(id))
}

func (c *compNode) successorsOf(id InstrID) []InstrID {
	if c.live != nil && c.live.isCurrent() {
		return slices.Clone(c.live.st.userOverlay().successors(id))
	}
	if c.facts.Load()&noControl != 0 {
		return nil
	}
	return c.userIndex().successors(id)
}

func buildUserIndex(c *compNode) *userIndex {
	x := new(userIndex)
	edges := edgesOf(c, operandEdges)
	x.off, x.ids = edges.inverted()
	controlled := edges.controlled
	edges.done()
	if controlled {
		edges = edgesOf(c, controlEdges)
		x.controlOff, x.controlIDs = edges.inverted()
		edges.done()
	}
	return x
}

// userOverlay is a session's view of the users: an immutable index of some earlier state, and what has changed since. It also knows the places
// of the operands of wide users, once they are worth knowing.
type userOverlay struct {
	base          *userIndex
	over, control changedLists
	wide          map[InstrID]*operandPlaces
}

func (o *userOverlay) of(id InstrID) []InstrID { return o.over.of(id, o.base.of) }

func (o *userOverlay) count(id InstrID) int {
	if l := o.over.long.Get(id); l != nil {
		return l.len()
	}
	return len(o.of(id))
}

func (o *userOverlay) successors(id InstrID) []InstrID { return o.control.of(id, o.base.successors) }

// change records that user's operands (or control predecessors) went from before to after.
func (o *userOverlay) change(user InstrID, before, after []InstrID, control bool) {
	if !control {
		o.forget(user)
	}
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

// redirect makes user, whose operands may be written, use new wherever it uses old.
func (o *userOverlay) redirect(user InstrID, operands []InstrID, old, new InstrID) {
	if p := o.places(user, operands); p != nil {
		p.redirect(operands, old, new)
	} else {
		for i, id := range operands {
			if id == old {
				operands[i] = new
			}
		}
	}
	o.update(old, user, false, false)
	o.update(new, user, false, true)
}

// set makes value to operand i of user, whose operands may be written.
func (o *userOverlay) set(user InstrID, operands []InstrID, i int, to InstrID) {
	old, p := operands[i], o.places(user, operands)
	operands[i] = to
	left := false
	if p != nil {
		left = p.move(i, old, to)
	} else {
		left = slices.Contains(operands, old)
	}
	if !left {
		o.update(old, user, false, false)
	}
	o.update(to, user, false, true)
}

func (o *userOverlay) update(v, user InstrID, control, insert bool) {
	if control {
		o.control.update(v, user, insert, o.base.successors)
		return
	}
	o.over.update(v, user, insert, o.base.of)
}

// changedLists are full lists of users for the values whose users have changed. They belong to the overlay and ascend.
type changedLists struct {
	lists idmap.Map[InstrID, []InstrID]
	long  idmap.Map[InstrID, *longList]
}

func (c *changedLists) of(id InstrID, base func(InstrID) []InstrID) []InstrID {
	if l := c.long.Get(id); l != nil {
		return l.all()
	}
	if l, ok := c.lists.Lookup(id); ok {
		return l
	}
	return base(id)
}

func (c *changedLists) update(v, user InstrID, insert bool, base func(InstrID) []InstrID) {
	if l := c.long.Get(v); l != nil {
		l.update(user, insert)
		return
	}
	l, ok := c.lists.Lookup(v)
	if !ok {
		b := base(v)
		l = append(make([]InstrID, 0, len(b)+2), b...)
	}
	if len(l) >= longFrom {
		long := &longList{ids: l, late: make(map[InstrID]bool)}
		long.update(user, insert)
		c.long.Set(v, long)
		c.lists.Delete(v)
		return
	}
	i, found := slices.BinarySearch(l, user)
	switch {
	case insert && !found:
		l = slices.Insert(l, i, user)
	case !insert && found:
		l = slices.Delete(l, i, i+1)
	}
	c.lists.Set(v, l)
}

// longFrom is the length from which a list is a longList.
const longFrom = 256

// longList is a list in which changes wait until somebody reads it: each would move all that is behind it, and a value that everything reads may
// lose its users one after the other. One that comes behind all others, as new users do, waits for nothing.
type longList struct {
	ids  []InstrID
	gone []uint64         // bit set of the places in ids of those who go
	late map[InstrID]bool // who comes
	left int              // of ids, how many go
}

func (l *longList) len() int { return len(l.ids) - l.left + len(l.late) }

func (l *longList) update(user InstrID, insert bool) {
	if n := len(l.ids); insert && len(l.late) == 0 && (n == 0 || user > l.ids[n-1]) {
		l.ids = append(l.ids, user)
		return
	}
	i, found := slices.BinarySearch(l.ids, user)
	switch {
	case found:
		if w := i >> 6; w >= len(l.gone) {
			if insert {
				return
			}
			l.gone = append(l.gone, make([]uint64, w+1-len(l.gone))...)
		}
		if goes := l.gone[i>>6]>>(i&63)&1 != 0; goes == insert {
			l.gone[i>>6] ^= 1 << (i & 63)
			if insert {
				l.left--
			} else {
				l.left++
			}
		}
	case insert:
		l.late[user] = true
	default:
		delete(l.late, user)
	}
}

// all is the list, brought up to date.
func (l *longList) all() []InstrID {
	if l.left > 0 {
		kept := 0
		for i, id := range l.ids {
			if w := i >> 6; w >= len(l.gone) || l.gone[w]>>(i&63)&1 == 0 {
				l.ids[kept] = id
				kept++
			}
		}
		l.ids, l.gone, l.left = l.ids[:kept], l.gone[:0], 0
	}
	if len(l.late) > 0 {
		for id := range l.late {
			l.ids = append(l.ids, id)
		}
		slices.Sort(l.ids)
		clear(l.late)
	}
	return l.ids
}

func sortedSet(l []InstrID) []InstrID {
	l = slices.Clone(l)
	slices.Sort(l)
	return slices.Compact(l)
}
