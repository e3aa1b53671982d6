package spmd

import (
	"iter"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// splitList is the words of a list behind a head: those between it and the next bracket.
func splitList(text, head string) iter.Seq[string] {
	_, rest, ok := strings.Cut(text, head)
	list, _, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(list, ",")
}

// goesThrough reports whether an op takes part in this round.
func (p *propagator) goesThrough(in hlo.Instruction) bool {
	op := in.Opcode()
	traits := hlo.Info(op).Traits
	if p.round == 0 {
		return traits.Has(hlo.TraitElementwise) || traits.Has(hlo.TraitControl) || traits.Has(hlo.TraitForwards) || passesInRound0[op] || isTarget(in, shardingCall)
	}
	return p.round >= 2 || op != hlo.OpBroadcast
}

// passesInRound0 are ops that only move what they get. Others are elementwise, or hand arrays on.
var passesInRound0 [hlo.NumOpcodes]bool

func init() {
	for _, op := range []hlo.Opcode{hlo.OpTranspose, hlo.OpReshape, hlo.OpCopy, hlo.OpConcatenate} {
		passesInRound0[op] = true
	}
	for _, op := range []hlo.Opcode{hlo.OpDynamicSlice, hlo.OpDynamicUpdateSlice, hlo.OpTuple, hlo.OpGetTupleElement} {
		passesInRound0[op] = true
	}
}

// forward offers the tilings of operands to the result.
func (p *propagator) forward(in hlo.Instruction) {
	if !p.goesThrough(in) || in.Opcode() == hlo.OpBroadcast && p.round < 3 {
		return
	}
	switch {
	case in.Opcode() == hlo.OpTuple:
		p.tuple(in, func(whole, part *node) { p.offer(whole, part.t, true, part, in, "operand") })
	case in.Opcode() == hlo.OpGetTupleElement:
		p.element(in, func(whole, part *node) { p.offer(part, whole.t, true, whole, in, "operand") })
	case in.Opcode() == hlo.OpWhile:
		p.pairs(in, func(a, b *node) { p.offer(b, a.t, true, a, in, "operand") })
	case hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) && in.NumCallees() > 0:
	case isTarget(in, toShards), isTarget(in, toFull):
		from, to := p.node(in.OperandInstr(0), 0), p.node(in, 0)
		p.offer(to, across(from.t, to.t), true, from, in, "operand")
	case isTarget(in, barrierFrom):
	case in.Opcode() == hlo.OpOptBarrier, isTarget(in, barrierTo), copiesTuple(in):
		p.pairs(in, func(a, b *node) { p.offer(b, a.t, true, a, in, "operand") })
	case p.manualOperand(in):
	case in.Opcode() == hlo.OpScan:
		p.scanned(in, func(a, b *node) { p.offer(b, a.t, true, a, in, "operand") })
		p.carried(in)
	default:
		p.arraysForward(in)
	}
}

func copiesTuple(in hlo.Instruction) bool { return in.Opcode() == hlo.OpCopy && in.Shape().IsTuple() }

// across is what the tiling on one side of the border of a manual region means for the other: the same axes, behind those that are manual inside.
func across(from, to *Tiling) *Tiling {
	if from == nil || to == nil || from.Mesh != to.Mesh || from.Maximal || to.Maximal || len(from.Dims) != len(to.Dims) {
		return nil
	}
	manual := union(from.Manual, to.Manual)
	t := to.withDims(make([][]int, len(to.Dims)))
	for k := range t.Dims {
		t.Dims[k] = slices.Concat(intersect(to.Dims[k], manual), without(from.Dims[k], manual))
	}
	return t
}

// manualOperand makes the result of a manual operand manual.
func (p *propagator) manualOperand(in hlo.Instruction) bool {
	for o := range in.Operands() {
		if o.Shape().NumLeaves() == 0 {
			continue
		}
		n := p.node(o, 0)
		if n.t == nil || !n.t.isManual() {
			continue
		}
		for i := range in.Shape().NumLeaves() {
			r := p.node(in, i)
			t := replicated(n.t.Mesh, r.rank)
			t.Manual = n.t.Manual
			p.offer(r, t, true, n, in, "manual operand")
		}
		return true
	}
	return false
}

func (p *propagator) offer(n *node, t *Tiling, aggressive bool, from *node, in hlo.Instruction, what string) {
	if n.find() == from.find() {
		return
	}
	p.improve(n.find(), t, aggressive, from, origin{in, what, p.round})
}

// tuple, element and pairs call f with arrays that correspond to each other.
func (p *propagator) tuple(in hlo.Instruction, f func(whole, part *node)) {
	at := 0
	for o := range in.Operands() {
		for i := range o.Shape().NumLeaves() {
			f(p.node(in, at), p.node(o, i))
			at++
		}
	}
}

func (p *propagator) element(in hlo.Instruction, f func(whole, part *node)) {
	o := in.OperandInstr(0)
	at := 0
	for i := range int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index) {
		at += o.Shape().Elem(i).NumLeaves()
	}
	for i := range in.Shape().NumLeaves() {
		f(p.node(o, at+i), p.node(in, i))
	}
}

func (p *propagator) pairs(in hlo.Instruction, f func(operand, result *node)) {
	for i := range min(in.Shape().NumLeaves(), in.OperandInstr(0).Shape().NumLeaves()) {
		f(p.node(in.OperandInstr(0), i), p.node(in, i))
	}
}

// behindBarrier offers the operand of a barrier of shardings what its result is, if that may pass. If it may not, or says nothing, the operand of a
// program that will be partitioned is replicated, on nobody's account.
func (p *propagator) behindBarrier(in hlo.Instruction, operand, result *node) {
	if isTarget(in, barrierFrom) && (result.t == nil || !result.t.isReplicated()) {
		p.offer(operand, result.t, false, result, in, "result")
	} else if p.replicates() {
		p.improve(operand, replicated(p.world.Main, operand.rank), false, nil, origin{what: "a barrier of shardings"})
	}
}

// scanned calls f with each array that an associative scan goes along, and what it makes of that: the array of its prefixes.
func (p *propagator) scanned(in hlo.Instruction, f func(operand, result *node)) {
	a := hlo.AttrsOf[hlo.ScanAttrs](in)
	if !a.IsAssociative || p.round == 0 {
		return
	}
	for i := range min(in.NumOperands(), in.Shape().NumLeaves()) - int(a.NumCarries) {
		from, to := in.OperandInstr(i).Shape(), in.Shape()
		if to.IsTuple() {
			to = to.Elem(i)
		}
		if from.IsArray() && to.IsArray() && slices.Equal(from.Dimensions(), to.Dimensions()) {
			f(p.node(in.OperandInstr(i), 0), p.node(in, i))
		}
	}
}

// carried offers what is carried along an associative scan the tiles of what the scan goes along, but for the dimension that it goes.
func (p *propagator) carried(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.ScanAttrs](in)
	if !a.IsAssociative || p.round == 0 || !in.Shape().IsTuple() {
		return
	}
	outs := in.Shape().NumLeaves() - int(a.NumCarries)
	for i := range min(in.NumOperands()-int(a.NumCarries), outs) {
		from := p.node(in.OperandInstr(i), 0)
		if from.t == nil || from.t.Maximal || !in.OperandInstr(i).Shape().IsArray() {
			continue
		}
		along := int(a.Dimensions[0])
		t := from.t.withDims(slices.Delete(slices.Clone(from.t.Dims), along, along+1))
		for c := range int(a.NumCarries) {
			whole, carry := in.OperandInstr(i).Shape().Dimensions(), in.Shape().Elem(outs+c)
			if carry.IsArray() && slices.Equal(slices.Delete(slices.Clone(whole), along, along+1), carry.Dimensions()) {
				p.offer(p.node(in, outs+c), t, true, from, in, "operand")
			}
		}
	}
}

func (p *propagator) nonRootUsers(in hlo.Instruction) int {
	n := 0
	for u := range in.Users() {
		if !u.IsRoot() {
			n++
		}
	}
	return n
}

// backward offers the tiling of an instruction's results to its operands.
func (p *propagator) backward(in hlo.Instruction) {
	if !p.goesThrough(in) {
		return
	}
	switch {
	case in.Opcode() == hlo.OpTuple:
		p.tuple(in, func(whole, part *node) { p.offer(part, whole.t, false, whole, in, "result") })
	case in.Opcode() == hlo.OpGetTupleElement:
		p.element(in, func(whole, part *node) { p.offer(whole, part.t, false, part, in, "result") })
	case isTarget(in, barrierTo), isTarget(in, barrierFrom):
		p.pairs(in, func(a, b *node) { p.behindBarrier(in, a, b) })
	case in.Opcode() == hlo.OpWhile, in.Opcode() == hlo.OpOptBarrier, copiesTuple(in):
		p.pairs(in, func(a, b *node) { p.offer(a, b.t, false, b, in, "result") })
	case in.Opcode() == hlo.OpScan:
		p.scanned(in, func(a, b *node) { p.offer(a, b.t, false, b, in, "result") })
	case hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) && in.NumCallees() > 0:
	case isTarget(in, toShards), isTarget(in, toFull):
		from, to := p.node(in, 0), p.node(in.OperandInstr(0), 0)
		p.offer(to, across(from.t, to.t), true, from, in, "result")
	default:
		p.arraysBackward(in)
	}
}
