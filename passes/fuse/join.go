package fuse

import (
	"github.com/gohalo/halo/hlo"
)

// A concatenation may be a member of a fusion, whose loop is cut then where one of the arrays ends and the next begins: each piece computes what it needs of one of them, and goes on with
// that. So the arrays that are joined are not written by themselves, nor is the whole.

const (
	leastJoined = 1 << 12 // elements; fewer are a few calls
	mostPieces  = 16      // of a loop, each of which is a program
	leastPiece  = 16      // elements of an array that lie together in the concatenation: shorter runs are better brought there by vectors that are permuted
)

// joins reports whether in joins arrays that loops can compute piece by piece. Rotations and stacks have loops of their own.
func joins(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpConcatenate && in.Shape().IsStatic() && in.Shape().NumElements() >= leastJoined && in.NumOperands() <= mostPieces &&
		(in.Shape().Type().Bits() >= 8 || in.Shape().Type() == hlo.PRED) && in.NumControlPredecessors()+in.NumControlSuccessors() == 0 && !rolls(in) && !stacks(in) && longestPiece(in) >= leastPiece
}

// longestPiece is the number of elements of one of the arrays that lie together in their concatenation.
func longestPiece(in hlo.Instruction) (n int64) {
	axis := int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0])
	for o := range in.Operands() {
		n = max(n, o.Shape().Dim(axis))
	}
	for i := axis + 1; i < in.Shape().Rank(); i++ {
		n *= in.Shape().Dim(i)
	}
	return n
}

// joinedPart is an operand of a concatenation.
type joinedPart struct {
	of      hlo.InstrID
	operand int
}

// noPart is that of members which every piece of the loop needs.
var noPart = joinedPart{hlo.NoInstr, 0}

// joinsArrays makes a concatenation a member of the fusion that computes with it, or the root of one.
func (f *fuser) joinsArrays(in hlo.Instruction) {
	roots := f.groupsOfUsers(in)
	if len(roots) != 1 || f.intoReduction(roots) || !f.readAsIs(in) || !f.cuts(roots, in.NumOperands()) {
		f.begin(in, in.Shape())
		f.begun.all.at(f.begun.number[in.ID()] - 1).pieces = in.NumOperands()
		return
	}
	group := f.begun.joins(roots[0])
	group.pieces = max(1, group.pieces) * in.NumOperands()
	f.groups.set(in.ID(), roots)
	f.noteParts(in, roots)
}

// onlyJoins reports whether a fusion would do little but bring arrays that are there already to their places: a concatenation by itself does that as well.
func (f *fuser) onlyJoins(root hlo.Instruction) bool {
	if !joins(root) {
		return false
	}
	var made int64
	for o := range root.Operands() {
		if isMember(f.groups.of(o.ID()), []hlo.InstrID{root.ID()}) {
			made += o.Shape().NumElements()
		}
	}
	const least = 4 // a part of the whole
	return made*least < root.Shape().NumElements()
}

// readAsIs reports whether all users of in compute element by element, or join it.
func (f *fuser) readAsIs(in hlo.Instruction) bool {
	for user := range in.Users() {
		if !joins(user) && !user.IsElementwise() {
			return false
		}
	}
	return true
}

// cuts reports whether loops that are cut into pieces may be cut into so many times as many.
func (f *fuser) cuts(roots []hlo.InstrID, by int) bool {
	for _, r := range roots {
		if n := f.begun.of(r).pieces; n*by > mostPieces {
			return false
		}
	}
	return true
}

// fits reports whether a loop can compute in, which members of it use: it has the dimensions of the loop or, if that is cut into pieces, of a part that one of these needs.
func (f *fuser) fits(in hlo.Instruction, group hlo.InstrID) bool {
	g := f.begun.of(group)
	if g.pieces == 0 {
		return sameButOnes(g.dims, in.Shape())
	}
	for user := range in.Users() {
		if !isMember(f.groups.of(user.ID()), []hlo.InstrID{group}) || joins(user) {
			continue
		}
		if !user.IsElementwise() && user.Opcode() != hlo.OpReshape || !sameButOnes(user.Shape(), in.Shape()) {
			return false // a slice, for example, which may not be the only one
		}
	}
	_, ok := f.partOf(in, group)
	return ok || in.Opcode() == hlo.OpSlice || cheap(in)
}

// partOf is the part of a joined array that needs in. It reports false if several do, so that in would be computed again for each.
func (f *fuser) partOf(in hlo.Instruction, group hlo.InstrID) (part joinedPart, ok bool) {
	part, first := noPart, true
	for user := range in.Users() {
		if !isMember(f.groups.of(user.ID()), []hlo.InstrID{group}) {
			continue
		}
		for i := range user.NumOperands() {
			if user.Operand(i) != in.ID() {
				continue
			}
			of := joinedPart{user.ID(), i}
			if !joins(user) {
				var known bool
				if of, known = f.parts.Lookup(user.ID()); !known {
					of = noPart
				}
			}
			if !first && of != part {
				return part, false
			}
			part, first = of, false
		}
	}
	return part, true
}

// noteParts notes which part needs a new member.
func (f *fuser) noteParts(in hlo.Instruction, roots []hlo.InstrID) {
	for _, r := range roots {
		if f.begun.of(r).pieces == 0 {
			continue
		}
		if part, ok := f.partOf(in, r); ok && part != noPart {
			f.parts.Set(in.ID(), part)
		}
	}
}
