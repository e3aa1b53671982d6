package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
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
	var readers idmap.Map[hlo.InstrID, uint32] // array from outside → of lists, the one of the last groups that read it, and one
	var lists [][]hlo.InstrID
	for i := 0; i < len(f.roots); i++ {
		root := f.roots[i]
		if !f.mergeable(root) {
			continue
		}
		for _, array := range f.reads(root) {
			of := readers.At(array)
			if *of == 0 {
				lists = append(lists, nil)
				*of = uint32(len(lists))
			}
			last := &lists[*of-1]
			for i := range len(*last) + 1 {
				other := array
				if i > 0 {
					other = (*last)[i-1]
				}
				a, b := f.leader(other), f.leader(root)
				if a == b || !f.mergeable(other) || !f.mayMerge(a, b) {
					continue
				}
				all := slices.Concat(f.results(a), f.results(b))
				if at, ok := f.placeFor(all); ok {
					f.join(all, at)
				}
			}
			if len(*last) == maxReaders {
				*last = slices.Delete(*last, 0, 1)
			}
			*last = append(*last, root)
		}
	}
}

// mergeable reports whether id is the root of a group that may get further results.
func (f *fuser) mergeable(id hlo.InstrID) bool {
	in, ok := f.c.At(id)
	return ok && f.members.Get(id) > 0 && !f.reduces(in) && in.Shape().NumElements() >= leastMerged && analysis.SameDimensions(in.Shape(), f.dims.Get(id))
}

// leader is the group that id has been merged into, named by one of its roots.
func (f *fuser) leader(id hlo.InstrID) hlo.InstrID {
	if p := f.partners.of(id); len(p) > 0 {
		return p[0]
	}
	return id
}

// results are the roots of a merged group.
func (f *fuser) results(leader hlo.InstrID) []hlo.InstrID {
	if p := f.partners.of(leader); len(p) > 0 {
		return p
	}
	return []hlo.InstrID{leader}
}

// reads lists the arrays of the group's size that it reads from outside.
func (f *fuser) reads(root hlo.InstrID) []hlo.InstrID {
	size := f.c.MustAt(root).Shape().NumElements()
	return slices.DeleteFunc(f.operands([]hlo.InstrID{root}), func(id hlo.InstrID) bool {
		in := f.c.MustAt(id)
		return !in.Shape().IsArray() || in.Shape().NumElements() != size && !f.readsColumns(in)
	})
}

// operands lists what a group with these roots reads from outside.
func (f *fuser) operands(roots []hlo.InstrID) (outside []hlo.InstrID) {
	f.seen.begin(f.c)
	for _, root := range roots {
		f.seen.add(root)
	}
	for todo := slices.Clone(roots); len(todo) > 0; {
		in := f.c.MustAt(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		for o := range in.Operands() {
			if !f.seen.add(o.ID()) {
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
	return outside
}

// mayMerge reports whether groups a and b may become one loop: over the same dimensions, not too large, no chain narrowed, and no way from a result of
// one through other instructions to the other.
func (f *fuser) mayMerge(a, b hlo.InstrID) bool {
	all := slices.Concat(f.results(a), f.results(b))
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
	return f.size(all) <= maxMembers && len(all) <= maxResults && analysis.SameDimensions(f.dims.Get(a), f.dims.Get(b)) && !f.wayAround(all)
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
	var todo []hlo.InstrID
	f.seen.begin(f.c)
	visit := func(id hlo.InstrID) {
		if !f.seen.has(id) && !beyond(id) {
			f.seen.add(id)
			todo = append(todo, id)
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
	for len(todo) > 0 {
		if f.seen.n > maxSearch {
			return true
		}
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
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
		for todo := slices.Clone(roots); len(todo) > 0; {
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
		n += f.members.Get(root)
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
	var needed []hlo.InstrID
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
	return needed
}

// fuseTuple makes the fusion of several roots, whose results are parts of a tuple.
func (f *fuser) fuseTuple(b *hlo.ComputationBuilder, place hlo.InstrID, roots, operands []hlo.InstrID) func() error {
	shapes, parts := make([]hlo.Shape, len(roots)), make([]hlo.InstrID, len(roots))
	for i, root := range roots {
		shapes[i], parts[i] = f.c.MustAt(root).Shape(), f.inside[root]
	}
	tuple := hlo.MakeTuple(shapes...)
	body := b.Finish(b.Append(hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: tuple, Operands: parts}))
	at := f.c.MustAt(place)
	spec := hlo.InstrSpec{Opcode: hlo.OpFusion, Name: at.Name() + "_fusion", Shape: tuple,
		Attrs: &hlo.FusionAttrs{Kind: hlo.FusionLoop}, Callees: []hlo.CompID{body}, Position: at.Position()}
	if c := at.Common(); c != nil && c.Metadata != nil {
		spec.Common = &hlo.Common{Metadata: c.Metadata}
	}
	results := make([]hlo.InstrSpec, len(roots))
	for i, root := range roots {
		results[i] = hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: shapes[i], Attrs: &hlo.TupleElementAttrs{Index: int64(i)}, Common: f.c.MustAt(root).Common()}
	}
	return func() error {
		ce := f.e.Computation(f.c.ID())
		spec.Operands = f.current(operands)
		fusion := ce.InsertSpecBefore(place, spec).ID()
		for i, root := range roots {
			results[i].Operands = []hlo.InstrID{fusion}
			f.fused.Set(root, ce.InsertSpecBefore(place, results[i]).ID())
		}
		for _, root := range roots {
			if err := ce.ReplaceInstruction(root, f.fused.Get(root)); err != nil {
				return err
			}
		}
		return nil
	}
}

// release removes what is left of the groups with these roots. It must not stay: its operands may be defined later now.
func (f *fuser) release(roots []hlo.InstrID) func() error {
	operands := make([][]hlo.InstrID, len(roots))
	for i, root := range roots {
		operands[i] = slices.Collect(f.c.MustAt(root).OperandIDs())
	}
	return func() error {
		ce := f.e.Computation(f.c.ID())
		for i, root := range roots {
			if ce.Has(root) {
				pass.Release(ce, root, nil)
				continue
			}
			for _, o := range operands[i] {
				pass.Release(ce, o, nil)
			}
		}
		return nil
	}
}
