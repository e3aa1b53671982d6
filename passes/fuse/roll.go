package fuse

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// rolls reports whether in rotates an array along an axis. It is a concatenation of two slices, but for fusions it is one instruction that reads
// the array: the slices always come with it.
func rolls(in hlo.Instruction) bool {
	_, ok := analysis.FindRoll(in)
	return ok && !isComplex(in)
}

// servesRolls reports whether in is a slice of which nothing but rotations that are members of fusions make use, and the roots of
// these fusions.
func (f *fuser) servesRolls(in hlo.Instruction) (roots []hlo.InstrID, ok bool) {
	if in.Opcode() != hlo.OpSlice || in.IsRoot() {
		return nil, false
	}
	for user := range in.Users() {
		if !rolls(user) || len(f.groups.of(user.ID())) == 0 {
			return nil, false
		}
		roots = f.room.unite(roots, f.groups.of(user.ID()))
	}
	return roots, len(roots) > 0
}

// intoReduction reports whether one of these roots is a reduction.
func (f *fuser) intoReduction(roots []hlo.InstrID) bool {
	for _, r := range roots {
		if f.reduces(f.c.MustAt(r)) {
			return true
		}
	}
	return false
}
