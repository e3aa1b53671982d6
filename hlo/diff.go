package hlo

import (
	"fmt"
	"iter"
	"slices"
)

// ChangeKind says what a [Change] is about.
type ChangeKind uint8

// The kinds of change.
const (
	HeaderChanged      ChangeKind = iota + 1 // of the module: name, entry, config, notes
	ComputationAdded                         // its instructions are not listed
	ComputationRemoved                       // likewise
	ComputationChanged                       // name, thread, root, schedule flag, notes
	OrderChanged                             // instructions of both versions come in another program order
	InstructionAdded                         //
	InstructionRemoved                       //
	InstructionChanged                       // anything but its place in the order

	numChangeKinds = int(InstructionChanged) + 1
)

var changeKindNames = [numChangeKinds]string{
	"", "header changed", "computation added", "computation removed", "computation changed", "order changed",
	"instruction added", "instruction removed", "instruction changed",
}

// String is the kind in words.
func (k ChangeKind) String() string {
	if int(k) < len(changeKindNames) {
		return changeKindNames[k]
	}
	return fmt.Sprintf("change(%d)", uint8(k))
}

// Change is one difference between two versions. Old and New are the zero values where there is nothing on that side.
type Change struct {
	Kind               ChangeKind
	Comp               CompID  // NoComp for the header
	Instr              InstrID // NoInstr unless an instruction is meant
	OldComp, NewComp   Computation
	OldInstr, NewInstr Instruction
}

// Diff yields the differences from old to m: the header, then computations by id, and in each the header, then instructions by id. What
// the versions share is skipped, so the cost depends on what changed. Both must be of one lineage, since ids are compared; Diff
// panics otherwise.
func (m Module) Diff(old Module) iter.Seq[Change] {
	if !m.SameLineage(old) {
		panic(fmt.Sprintf("hlo: Diff of modules %q and %q, whose ids have nothing to do with each other", old.Name(), m.Name()))
	}
	return func(yield func(Change) bool) {
		if m == old {
			return
		}
		a, b := old.m, m.m
		if a.name != b.name || a.entry != b.entry || !equalNotes(a.notes, b.notes) ||
			a.config != b.config && !EqualAttr(a.config, b.config) {
			if !yield(Change{Kind: HeaderChanged, Comp: NoComp, Instr: NoInstr}) {
				return
			}
		}
		diffTrees(&a.comps, &b.comps, func(id uint32, x, y *compNode) bool {
			ch := Change{Comp: CompID(id), Instr: NoInstr, OldComp: Computation{x}, NewComp: Computation{y}}
			switch {
			case x == nil:
				ch.Kind = ComputationAdded
				return yield(ch)
			case y == nil:
				ch.Kind = ComputationRemoved
				return yield(ch)
			}
			return diffComputations(x, y, ch, yield)
		})
	}
}

// Diff yields the differences from old to c, two versions of one computation.
func (c Computation) Diff(old Computation) iter.Seq[Change] {
	x, y := old.node(), c.node()
	return func(yield func(Change) bool) {
		diffComputations(x, y, Change{Comp: y.id, Instr: NoInstr, OldComp: old, NewComp: c}, yield)
	}
}

func diffComputations(x, y *compNode, ch Change, yield func(Change) bool) bool {
	if x == y {
		return true
	}
	if x.name != y.name || x.thread != y.thread || x.root != y.root || x.scheduled != y.scheduled || !equalNotes(x.notes, y.notes) {
		ch.Kind = ComputationChanged
		if !yield(ch) {
			return false
		}
	}
	reranked := false
	ok := diffTrees(&x.instrs, &y.instrs, func(id uint32, a, b *instrNode) bool {
		ch.Instr = InstrID(id)
		ch.OldInstr, ch.NewInstr = Instruction{}, Instruction{}
		if a != nil {
			ch.OldInstr = Instruction{a, x}
		}
		if b != nil {
			ch.NewInstr = Instruction{b, y}
		}
		switch {
		case a == nil:
			ch.Kind = InstructionAdded
		case b == nil:
			ch.Kind = InstructionRemoved
		default:
			reranked = reranked || a.rank != b.rank
			if equalExactly(a, b) {
				return true
			}
			ch.Kind = InstructionChanged
		}
		return yield(ch)
	})
	if ok && reranked && !sameOrder(x, y) {
		ch.Kind, ch.Instr, ch.OldInstr, ch.NewInstr = OrderChanged, NoInstr, Instruction{}, Instruction{}
		return yield(ch)
	}
	return ok
}

// equalExactly compares all but rank and position.
func equalExactly(a, b *instrNode) bool {
	return a.op == b.op && a.name == b.name && a.shape.Equal(b.shape) && slices.Equal(a.operands(), b.operands()) &&
		(a.extra == b.extra || slices.Equal(a.control(), b.control()) && slices.Equal(a.called(), b.called())) &&
		EqualAttrs(a.attrs, b.attrs) && equalCommon(a.common, b.common)
}

func equalNotes(a, b *noteNode) bool {
	if a == b {
		return true
	}
	var x, y []note
	if a != nil {
		x = a.kv
	}
	if b != nil {
		y = b.kv
	}
	return slices.EqualFunc(x, y, func(m, n note) bool { return m.key == n.key && EqualAttr(m.value, n.value) })
}

// sameOrder reports whether the instructions that are in both come in the same order.
func sameOrder(x, y *compNode) bool {
	other := y.orderIDs()
	other = slices.DeleteFunc(other, func(id InstrID) bool { return x.instrs.get(uint32(id)) == nil })
	i := 0
	same := true
	x.inOrder(func(n *instrNode) {
		if y.instrs.get(uint32(n.id)) == nil {
			return
		}
		same = same && i < len(other) && other[i] == n.id
		i++
	})
	return same
}

// diffTrees calls f for every index whose entries are not the same pointer, skipping what the trees share, until f returns false.
func diffTrees[T any](a, b *tree[T], f func(i uint32, x, y *T) bool) bool {
	shift := max(a.shift, b.shift)
	return diffNodes(raise(a, shift), raise(b, shift), shift, 0, f)
}

// raise returns the root of t as if the tree were as high as shift says.
func raise[T any](t *tree[T], shift uint8) *treeNode[T] {
	n := t.root
	for s := t.shift; n != nil && s < shift; s += treeBits {
		up := newNode[T](0, 1, true)
		*up.kid(0) = n
		n = up
	}
	return n
}

func diffNodes[T any](a, b *treeNode[T], shift uint8, base uint32, f func(uint32, *T, *T) bool) bool {
	if a == b {
		return true
	}
	if shift == 0 {
		x, y := a.slots(), b.slots()
		for i := range max(len(x), len(y)) {
			if p, q := entry(x, i), entry(y, i); p != q && !f(base+uint32(i), p, q) {
				return false
			}
		}
		return true
	}
	x, y := a.kids(), b.kids()
	for i := range max(len(x), len(y)) {
		if !diffNodes(entry(x, i), entry(y, i), shift-treeBits, base+uint32(i)<<shift, f) {
			return false
		}
	}
	return true
}

// entry is list[i], nil beyond the end.
func entry[T any](list []*T, i int) *T {
	if i < len(list) {
		return list[i]
	}
	return nil
}
