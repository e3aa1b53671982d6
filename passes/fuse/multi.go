package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/internal/idmap"
)

// Limits of merging. A loop with more results than this has more arrays under way than the nearest cache holds; arrays below the least size are
// a few calls, or part of a program over scalars; a loop is held against the last readers of its arrays alone, since what was read long before has left
// the cache; a search for a way around two fusions ends after so many instructions.
const (
	maxResults  = 8
	leastMerged = 17
	maxReaders  = 8
	maxSearch   = 512
)

// merge makes one loop with several results of fusions over the same dimensions where one reads the result of the other, or both read the same array: then
// the array in between is read while it is in the cache, or the shared one is read once.
func (f *fuser) merge() {
	if f.c.IsScheduled() {
		return // the merged loop might have to stand both before a user of one result and after an operand of the other
	}
	var readers lastReaders
	for i := 0; i < len(f.roots); i++ {
		root := f.roots[i]
		if !f.mergeable(root) {
			continue
		}
		for _, array := range f.reads(root) {
			f.mergeWith(array, root)
			first, n := readers.of(array)
			for reader := first; n > 0; n-- {
				r := readers.all.at(reader)
				f.mergeWith(r.root, root)
				reader = r.next
			}
			readers.add(array, root)
		}
	}
}

// mergeWith makes one group of those of two instructions, if they have any, and if that is well.
func (f *fuser) mergeWith(other, root hlo.InstrID) {
	a, b := f.leader(other), f.leader(root)
	if a == b || !f.mergeable(other) || !f.mayMerge(a, b) {
		return
	}
	all := f.both(a, b)
	if at, ok := f.placeFor(all); ok {
		f.join(all, at)
	}
}

// both is the results of two groups. The list holds until the next one is asked for.
func (f *fuser) both(a, b hlo.InstrID) []hlo.InstrID {
	f.room.all = append(append(f.room.all[:0], f.results(a)...), f.results(b)...)
	return f.room.all
}

// lastReaders is the last groups that have read each array.
type lastReaders struct {
	lists idmap.Map[hlo.InstrID, uint32] // array → place of the first in all, and one
	all   pile[reader]
}

// reader is one in a list.
type reader struct {
	root hlo.InstrID
	next uint32 // place in all; of the last: 0
}

// of is the place of the first reader of an array, and how many there are.
func (l *lastReaders) of(array hlo.InstrID) (first uint32, n int) {
	at := l.lists.Get(array)
	if at == 0 {
		return 0, 0
	}
	first, n = at-1, 1
	for i := l.all.at(first).next; i > 0; n++ {
		i = l.all.at(i).next
	}
	return first, n
}

// add puts a reader behind the others.
func (l *lastReaders) add(array, root hlo.InstrID) {
	last := l.all.add(reader{root: root})
	at := l.lists.At(array)
	if *at == 0 {
		*at = last + 1
		return
	}
	end, n := l.all.at(*at-1), 1
	for ; end.next > 0; n++ {
		end = l.all.at(end.next)
	}
	end.next = last
	if n == maxReaders {
		*at = l.all.at(*at-1).next + 1
	}
}

// mergeable reports whether id is the root of a group that may get further results.
func (f *fuser) mergeable(id hlo.InstrID) bool {
	in, ok := f.c.At(id)
	g := f.begun.of(id)
	return ok && g.members > 0 && g.pieces == 0 && !f.reduces(in) && in.Shape().NumElements() >= leastMerged && analysis.SameDimensions(in.Shape(), g.dims)
}

// leader is the group that id has been merged into, named by one of its roots.
func (f *fuser) leader(id hlo.InstrID) hlo.InstrID {
	if p := f.partners.of(id); len(p) > 0 {
		return p[0]
	}
	return id
}

// results are the roots of a group, which may be merged.
func (f *fuser) results(leader hlo.InstrID) []hlo.InstrID {
	if p := f.partners.of(leader); len(p) > 0 {
		return p
	}
	return f.groups.of(leader) // a root is in its own group
}

// reads lists the arrays of the group's size that it reads from outside. The list holds until the next one is asked for.
func (f *fuser) reads(root hlo.InstrID) []hlo.InstrID {
	size := f.c.MustAt(root).Shape().NumElements()
	f.room.reads = f.room.reads[:0]
	for _, id := range f.operands(f.groups.of(root)) {
		in := f.c.MustAt(id)
		if in.Shape().IsArray() && (in.Shape().NumElements() == size || f.readsColumns(in)) {
			f.room.reads = append(f.room.reads, id)
		}
	}
	return f.room.reads
}

// operands lists what a group with these roots reads from outside. The list holds until the next one is asked for.
func (f *fuser) operands(roots []hlo.InstrID) []hlo.InstrID {
	r := &f.room
	r.seen.begin(f.c)
	for _, root := range roots {
		r.seen.add(root)
	}
	todo, outside := append(r.todo[:0], roots...), r.outside[:0]
	for len(todo) > 0 {
		in := f.c.MustAt(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		for o := range in.Operands() {
			if !r.seen.add(o.ID()) {
				continue
			}
			switch {
			case isMember(f.groups.of(o.ID()), roots) || cheap(o) || o.Opcode() == hlo.OpSlice && rolls(in):
				todo = append(todo, o.ID())
			default:
				outside = append(outside, o.ID())
			}
		}
	}
	r.todo, r.outside = todo, outside
	return outside
}

// mayMerge reports whether groups a and b may become one loop: over the same dimensions, not too large, no chain narrowed, and no way from a result of
// one through other instructions to the other.
func (f *fuser) mayMerge(a, b hlo.InstrID) bool {
	all := f.both(a, b)
	for _, root := range all {
		if f.windows.Narrows(root, all[0]) {
			return false
		}
		for user := range f.c.MustAt(root).Users() {
			if isTable(user, root) && isMember(f.groups.of(user.ID()), all) {
				return false
			}
		}
	}
	return f.size(all) <= maxMembers && len(all) <= maxResults && analysis.SameDimensions(f.begun.of(a).dims, f.begun.of(b).dims) && !f.wayAround(all)
}

// wayAround reports whether something that depends on the groups of these roots, and is in none of them, is needed by one of them. It looks no
// further than the last of them: in the order of places, all that depends on an instruction comes after it. A search that takes too long ends with yes.
func (f *fuser) wayAround(roots []hlo.InstrID) bool {
	inside := func(id hlo.InstrID) bool { return isMember(f.groups.of(id), roots) }
	last := f.place(roots[0])
	for _, root := range roots[1:] {
		if at := f.place(root); f.precedes(last, at) {
			last = at
		}
	}
	beyond := func(id hlo.InstrID) bool {
		if f.copied(f.c.MustAt(id)) {
			return false
		}
		groups := f.groups.of(id)
		for _, g := range groups {
			if !f.precedes(last, f.place(g)) {
				return false
			}
		}
		return len(groups) > 0 || f.precedes(last, id)
	}
	r := &f.room
	r.todo = r.todo[:0]
	r.seen.begin(f.c)
	visit := func(id hlo.InstrID) {
		if !r.seen.has(id) && !beyond(id) {
			r.seen.add(id)
			r.todo = append(r.todo, id)
		}
	}
	// The members of a merged group come with all its results.
	visitGroups := func(id hlo.InstrID) {
		for _, g := range f.groups.of(id) {
			if !slices.Contains(roots, g) {
				for _, result := range f.results(f.leader(g)) {
					visit(result)
				}
			}
		}
	}
	follow := func(id hlo.InstrID, fromInside bool) (found bool) {
		in := f.c.MustAt(id)
		for user := range in.Users() {
			switch {
			case !inside(user.ID()):
				visit(user.ID())
			case !fromInside:
				return true
			default:
				visitGroups(user.ID()) // it is copied into other groups, too
			}
		}
		for next := range in.ControlSuccessors() {
			visit(next)
		}
		return false
	}
	for _, root := range roots {
		follow(root, true)
	}
	for len(r.todo) > 0 {
		if r.seen.n > maxSearch {
			return true
		}
		id := r.todo[len(r.todo)-1]
		r.todo = r.todo[:len(r.todo)-1]
		if inside(id) || follow(id, false) {
			return true
		}
		visitGroups(id)
	}
	return false
}

// place is the instruction in whose stead the fusion that id ends up in will stand: id itself if it is in none.
func (f *fuser) place(id hlo.InstrID) hlo.InstrID {
	if at, ok := f.places.Lookup(f.leader(id)); ok {
		return at
	}
	return id
}

// copied reports whether an instruction may be computed where its users are, not where it stands: a cheap one, a view, and a slice that may serve a rotation.
func (f *fuser) copied(in hlo.Instruction) bool {
	return cheap(in) || in.Opcode() == hlo.OpSlice || f.isView(in)
}

// placeFor finds the root in whose stead the loop of all of them can stand: after its operands and before its users.
func (f *fuser) placeFor(roots []hlo.InstrID) (hlo.InstrID, bool) {
	fits := func(at hlo.InstrID) bool {
		for _, id := range f.operands(roots) {
			if !f.precedes(f.place(id), at) {
				return false
			}
		}
		todo := append(f.room.todo[:0], roots...)
		defer func() { f.room.todo = todo }()
		for len(todo) > 0 {
			in := f.c.MustAt(todo[len(todo)-1])
			todo = todo[:len(todo)-1]
			for user := range in.Users() {
				if len(f.groups.of(user.ID())) == 0 && !f.precedes(at, user.ID()) {
					return false
				}
				for _, g := range f.groups.of(user.ID()) {
					if !slices.Contains(roots, g) && !f.precedes(at, f.place(g)) {
						return false
					}
				}
				if f.copied(user) {
					todo = append(todo, user.ID())
				}
			}
		}
		return true
	}
	first, last := f.place(roots[0]), f.place(roots[0])
	for _, root := range roots {
		if at := f.place(root); f.precedes(at, first) {
			first = at
		} else if f.precedes(last, at) {
			last = at
		}
	}
	if fits(last) {
		return last, true
	}
	return first, fits(first)
}

// join makes one group of those with these roots.
func (f *fuser) join(roots []hlo.InstrID, at hlo.InstrID) {
	list := f.partners.keep(roots)
	for _, root := range roots {
		f.partners.set(root, list)
	}
	f.places.Set(roots[0], at)
}

// size is the number of instructions in a group with these results; those that are copied into several of its parts count once each.
func (f *fuser) size(results []hlo.InstrID) (n int) {
	for _, root := range results {
		n += f.begun.of(root).members
	}
	return n
}

// isMember reports whether a group with these results is among the groups of an instruction.
func isMember(groups, results []hlo.InstrID) bool {
	return slices.ContainsFunc(groups, func(g hlo.InstrID) bool { return slices.Contains(results, g) })
}

// neededOutside are those of a merged group's roots that somebody outside of it uses, or nobody at all.
func (f *fuser) neededOutside(roots []hlo.InstrID) []hlo.InstrID {
	if len(roots) == 1 {
		return roots
	}
	needed := f.room.roots[:0]
	for _, root := range roots {
		in := f.c.MustAt(root)
		outside := in.IsRoot() || in.UserCount() == 0
		for user := range in.Users() {
			outside = outside || !isMember(f.groups.of(user.ID()), roots) || len(f.groups.of(user.ID())) > 1
		}
		if outside {
			needed = append(needed, root)
		}
	}
	f.room.roots = needed
	return needed
}
