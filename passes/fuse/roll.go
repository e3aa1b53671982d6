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

// stacks reports whether in puts few arrays one behind the other, so that a loop over one of them can compute all, each in its place.
func stacks(in hlo.Instruction) bool {
	return analysis.IsStack(in) && in.OperandInstr(0).Shape().NumElements() >= leastStacked && in.NumControlPredecessors()+in.NumControlSuccessors() == 0 && !isComplex(in)
}

// leastStacked is the number of elements of an array from which on it is worth a loop that has it put in its place: shorter ones are a few calls, or part of a program over scalars.
const leastStacked = 64
