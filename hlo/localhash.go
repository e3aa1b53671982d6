package hlo

import "slices"

// LocalHash is a hash of what the instruction says by itself: opcode, shape, attributes that mean something (not metadata), and the
// numbers of its operands and callees. Instructions that are [EqualLocal] have equal hashes.
func (in Instruction) LocalHash() uint64 { return in.n.local(in.c.liveEpoch()) }

// EqualLocal reports whether two instructions of one computation say the same by themselves and call the same computations; operands
// are not compared. With equal operands they compute the same value, unless they are random or have effects.
func EqualLocal(a, b Instruction) bool {
	return equalMeaning(a.n, b.n) && slices.Equal(a.n.called(), b.n.called())
}

// EqualLocalAnyLayout is [EqualLocalBy] for results that may have different layouts.
func EqualLocalAnyLayout(a, b Instruction, same func(x, y CompID) bool) bool {
	return equalMeaningBy(a.n, b.n, Shape.EqualIgnoringLayout) && slices.EqualFunc(a.n.called(), b.n.called(), same)
}

// EqualLocalBy is [EqualLocal] with callees that are equal if same reports so.
func EqualLocalBy(a, b Instruction, same func(x, y CompID) bool) bool {
	return equalMeaning(a.n, b.n) && slices.EqualFunc(a.n.called(), b.n.called(), same)
}
