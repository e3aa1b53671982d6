package motion

import (
	"github.com/gohalo/halo/hlo"
)

// isSafe reports whether all that uses a boundary, or what it uses, crosses with it: met counts from how many members of the group it has been met.
func (k *crossing) isSafe(b boundary, met map[place]int) bool {
	in := k.at(b.first())
	for i, id := range b.ids {
		p := place{i, id}
		if b.side != inside {
			p.branch = -1
		}
		if x := k.at(p); x.NumControlPredecessors()+x.NumControlSuccessors() > 0 {
			return false
		}
	}
	n := in.UserCount()
	if b.side == user {
		n = leaves(in)
	}
	if n <= 1 {
		// The selector stays outside.
		return b.side != operand || in.ID() != k.view.MustAt(k.id).Operand(0)
	}
	met[b.first()]++
	return met[b.first()] == n
}

// leaves counts the different operands of an instruction that are no constants.
func leaves(in hlo.Instruction) int {
	seen := map[hlo.InstrID]bool{}
	for o := range in.Operands() {
		if o.Opcode() != hlo.OpConstant {
			seen[o.ID()] = true
		}
	}
	return len(seen)
}

// isWorth reports whether an instruction is of a kind that moves: cheap, and fused with its neighbours.
func (k *crossing) isWorth(b boundary) bool {
	in := k.at(b.first())
	traits := hlo.Info(in.Opcode()).Traits
	switch {
	case b.side != inside && (in.Opcode() == hlo.OpTuple && in.IsRoot() || traits.Has(hlo.TraitCollective)):
		return false
	case in.Opcode() == hlo.OpConvert:
		o := in.OperandInstr(0).Opcode()
		return o == hlo.OpAllReduce || o == hlo.OpReshape || o == hlo.OpGetTupleElement
	case in.Opcode() == hlo.OpGetTupleElement:
		return in.OperandInstr(0).Opcode() != hlo.OpParameter
	case in.Opcode() == hlo.OpBroadcast: // with what it repeats
		var producers []hlo.InstrID
		for i, id := range b.ids {
			if b.side != inside || k.branches[i].MustAt(id).OperandInstr(0).UserCount() > 1 {
				return false
			}
			producers = append(producers, k.branches[i].MustAt(id).Operand(0))
		}
		return k.identical(producers) && k.isWorth(boundary{inside, producers})
	case in.Opcode() == hlo.OpAbs:
		return b.side != user
	}
	return crosses[in.Opcode()]
}

// crosses are the ops that XLA moves across conditionals.
//
//halo:allow opswitch XLA's choice, not a fact about the ops
var crosses = map[hlo.Opcode]bool{
	hlo.OpAllReduce: true, hlo.OpReduceScatter: true, hlo.OpReduce: true, hlo.OpConstant: true, hlo.OpAdd: true, hlo.OpPower: true, hlo.OpCopy: true,
	hlo.OpSubtract: true, hlo.OpMultiply: true, hlo.OpDivide: true, hlo.OpTuple: true, hlo.OpSqrt: true, hlo.OpRsqrt: true, hlo.OpReshape: true,
	hlo.OpMinimum: true, hlo.OpMaximum: true, hlo.OpFloor: true, hlo.OpCompare: true, hlo.OpBitcastConvert: true, hlo.OpAnd: true, hlo.OpOr: true,
}

// gain is how many more pairs, weighed, are together when a group has crossed; -1 if it should stay.
func (k *crossing) gain(group []boundary) int {
	where := group[0].side
	real := false
	for _, b := range group {
		real = real || k.at(b.first()).Opcode() != hlo.OpTuple
	}
	if where != user && !real || where == user && len(group) == 1 && k.at(group[0].first()).Opcode() == hlo.OpGetTupleElement {
		return -1
	}
	before, after, folded := 0, 0, 0
	for _, b := range group {
		in := k.at(b.first())
		if in.Opcode() == hlo.OpTuple {
			continue
		}
		before += k.pairsBefore(b, in)
		after += k.pairsAfter(b, in)
		if where == user {
			folded += k.copiesFolded(in)
		}
	}
	switch {
	case before == 0 && after == 0 && folded == 0:
		return -1
	case where == inside:
		return after - before
	case where == user:
		return before - after - 1 + folded
	case after > 0:
		return 1
	}
	return 0
}

// together weighs a pair of an instruction and its user.
func together(of, by hlo.Instruction) int {
	switch {
	case by.Opcode() == hlo.OpGetTupleElement,
		by.Opcode() == hlo.OpConvert && (of.Opcode() == hlo.OpDot || of.Opcode() == hlo.OpConvolution),
		of.Opcode() == hlo.OpParameter, of.Opcode() == hlo.OpConstant, of.Opcode() == hlo.OpGetTupleElement:
		return 0
	case of.Opcode() == hlo.OpConditional:
		return 10
	}
	return 10 / max(of.UserCount(), 1) / max(leaves(by), 1)
}

// firstUser is a user of an instruction.
func firstUser(in hlo.Instruction) (hlo.Instruction, bool) {
	for u := range in.Users() {
		return u, true
	}
	return hlo.Instruction{}, false
}

// pairsBefore weighs the pairs of an instruction and operands that do not cross with it. Those across the conditional count: moving in brings
// them together, and in the branches they are.
func (k *crossing) pairsBefore(b boundary, in hlo.Instruction) (sum int) {
	branch := b.first().branch
	for o := range in.Operands() {
		conditional := branch < 0 && o.ID() == k.id
		if _, met := k.visited[place{branch, o.ID()}]; !met && !conditional {
			continue
		}
		if in.Opcode() != hlo.OpGetTupleElement {
			sum += together(o, in)
			continue
		}
		if root := k.branches[0].Root(); conditional && root.Opcode() == hlo.OpTuple {
			o = root.OperandInstr(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
		}
		if u, ok := firstUser(in); ok {
			sum += together(o, u)
		}
	}
	return sum
}

// pairsAfter weighs the pairs of an instruction and users that do not cross with it: of a branch those behind the conditional, of an operand
// those in branches.
func (k *crossing) pairsAfter(b boundary, in hlo.Instruction) (sum int) {
	if in.Opcode() == hlo.OpConstant {
		return 0
	}
	if b.side == operand {
		return k.usedInSome(in)
	}
	if in.UserCount() != 1 {
		return 0
	}
	u, _ := firstUser(in)
	if b.side == inside && u.IsRoot() && u.Opcode() == hlo.OpTuple {
		for i := range u.NumOperands() {
			if u.Operand(i) == in.ID() {
				sum += k.readBehind(in, i)
				break
			}
		}
		return sum
	}
	if _, met := k.visited[place{b.first().branch, u.ID()}]; met {
		sum += together(in, u)
	}
	return sum
}

// readBehind weighs the pairs of a part of a branch's result and its users behind the conditional.
func (k *crossing) readBehind(in hlo.Instruction, part int) (sum int) {
	for g := range k.view.MustAt(k.id).Users() {
		if g.Opcode() != hlo.OpGetTupleElement || hlo.AttrsOf[hlo.TupleElementAttrs](g).Index != int64(part) {
			continue
		}
		if u, ok := firstUser(g); ok {
			sum += together(in, u)
		}
	}
	return sum
}

// usedInSome is 10 for an operand, or a part of one, that some branch does not use: then the others may compute it for themselves.
func (k *crossing) usedInSome(in hlo.Instruction) int {
	part, whole := -1, in
	u, ok := firstUser(in)
	if ok && u.Opcode() == hlo.OpTuple {
		for i := range u.NumOperands() {
			if u.Operand(i) == in.ID() {
				part = i
			}
		}
		if u.UserCount() != 1 {
			return 0
		}
		whole = u
		u, ok = firstUser(u)
	}
	if !ok || u.ID() != k.id {
		return 0
	}
	n := 0
	for i, b := range k.branches {
		if u.Operand(i+1) != whole.ID() {
			continue
		}
		param := b.Parameter(0)
		uses := param.IsRoot()
		for p := range param.Users() {
			uses = uses || part < 0 || p.Opcode() != hlo.OpGetTupleElement || hlo.AttrsOf[hlo.TupleElementAttrs](p).Index == int64(part)
		}
		if uses {
			n++
		}
	}
	if n > 0 && n < len(k.branches) {
		return 10
	}
	return 0
}

// copiesFolded is 10 for each branch that undoes by a copy what a copy behind the conditional does.
func (k *crossing) copiesFolded(in hlo.Instruction) (sum int) {
	if in.Opcode() != hlo.OpCopy || in.OperandInstr(0).Opcode() != hlo.OpGetTupleElement || in.OperandInstr(0).Operand(0) != k.id {
		return 0
	}
	part := hlo.AttrsOf[hlo.TupleElementAttrs](in.OperandInstr(0)).Index
	for _, b := range k.branches {
		if root := b.Root(); root.Opcode() == hlo.OpTuple {
			if o := root.OperandInstr(int(part)); o.Opcode() == hlo.OpCopy && o.OperandInstr(0).Shape().Equal(in.Shape()) {
				sum += 10
			}
		}
	}
	return sum
}
