package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// spreading are the factors of an op for propagation: unlike for computing, tiles go along where elements are moved within a dimension.
func spreading(in hlo.Instruction) []factor {
	f, ok := factors(in)
	if !ok {
		return nil
	}
	for i := range f {
		if f[i].kind == slideFactor && f[i].result >= 0 && leafDim(in.Shape(), f[i].result) == 1 {
			f[i].kind = wholeFactor // a window over all of a dimension
		} else if f[i].kind == slideFactor && in.Opcode() == hlo.OpConvolution && !isSmall(in) {
			f[i].kind = wholeFactor // tiles of the result need most of the input
		} else if f[i].kind == slideFactor || f[i].kind == wholeFactor && f[i].result >= 0 && keepsTiles[in.Opcode()] {
			f[i].kind = passFactor
		} else if in.Opcode() == hlo.OpSort && leafRank(in.Shape()) > 1 {
			f[i].kind = passFactor // the tiles can move to another dimension while it is sorted
		}
	}
	if in.Opcode() == hlo.OpScatter {
		f = append(f, scatteredInto(in, f)...)
	}
	return f
}

// scatteredInto are factors of the dimensions of a scatter's operands that have none: the result has the tiles of what is written into, wherever windows lie.
func scatteredInto(in hlo.Instruction, known []factor) (more []factor) {
	for k := range leafRank(in.Shape()) {
		if slices.ContainsFunc(known, func(f factor) bool { return f.result == k }) {
			continue
		}
		f := along(in.NumOperands(), passFactor, k)
		for i := range in.NumOperands() / 2 {
			f.operands[i] = k
		}
		more = append(more, f)
	}
	return more
}

// keepsTiles are ops that keep the order of what they move along a dimension, so that tiles correspond roughly.
var keepsTiles [hlo.NumOpcodes]bool

func init() {
	for _, op := range []hlo.Opcode{hlo.OpSlice, hlo.OpPad, hlo.OpConcatenate, hlo.OpReverse, hlo.OpReduceWindow} {
		keepsTiles[op] = true
	}
	for _, op := range []hlo.Opcode{hlo.OpSelectAndScatter, hlo.OpConvolution} {
		keepsTiles[op] = true
	}
}

// toResult is what an operand's tiling means for the result.
func toResult(fs []factor, operand int, t *Tiling, rank int) *Tiling {
	r := t.withDims(make([][]int, rank))
	r.Unreduced = nil
	for _, f := range fs {
		if k := f.operands[operand]; k >= 0 && f.result >= 0 && f.kind == passFactor {
			r.Dims[f.result] = t.Dims[k]
		}
	}
	return r
}

// toOperand is what the result's tiling, or another operand's, means for an operand.
func toOperand(fs []factor, operand int, dim func(f *factor) int, t *Tiling, rank int) *Tiling {
	r := t.withDims(make([][]int, rank))
	r.Unreduced = nil
	for i := range fs {
		if k, from := fs[i].operands[operand], dim(&fs[i]); k >= 0 && from >= 0 && fs[i].kind != wholeFactor {
			r.Dims[k] = t.Dims[from]
		}
	}
	return r
}

// arraysForward offers what each operand means for the result, those with more to say first.
func (p *propagator) arraysForward(in hlo.Instruction) {
	if in.NumOperands() == 0 {
		return
	}
	aggressive := p.nonRootUsers(in) == 1
	if in.Opcode() == hlo.OpReshape {
		from := p.node(in.OperandInstr(0), 0)
		if from.t != nil && in.Shape().IsStatic() {
			_, t := through(from.t, in.OperandInstr(0).Shape().Dimensions(), in.Shape().Dimensions())
			p.offer(p.node(in, 0), t, aggressive, from, in, "operand")
		}
		return
	}
	fs := spreading(in)
	if fs == nil {
		return
	}
	for _, i := range p.ranked(in, fs) {
		from := p.node(in.OperandInstr(i), 0)
		if in.Opcode() == hlo.OpSort && !canMoveTiles(in, from.t) {
			break
		}
		for leaf := range in.Shape().NumLeaves() {
			if own := leafOf(in, i); own >= 0 && own != leaf {
				continue
			}
			n := p.node(in, leaf)
			p.offer(n, toResult(fs, i, from.t, n.rank), aggressive, from, in, "operand")
		}
		if !p.mayCombine() {
			break
		}
	}
}

// canMoveTiles reports whether a sort can have its operands tiled along what it sorts: another dimension takes the tiles meanwhile.
func canMoveTiles(sort hlo.Instruction, t *Tiling) bool {
	s := sort.OperandInstr(0).Shape()
	for _, at := range hlo.AttrsOf[hlo.SortAttrs](sort).Dimensions {
		n, takes := t.tiles(int(at)), false
		for k := range s.Rank() {
			takes = takes || k != int(at) && t.tiles(k) == 1 && s.Dim(k) >= n
		}
		if n > 1 && !takes {
			return false
		}
	}
	return true
}

// leafOf is the array of the result that goes with an operand of a variadic scatter; -1: with all of them.
func leafOf(in hlo.Instruction, operand int) int {
	n := in.Shape().NumLeaves()
	switch {
	case in.Opcode() != hlo.OpScatter || !in.Shape().IsTuple() || n == 1:
		return -1
	case operand < n:
		return operand
	case operand > n:
		return operand - n - 1
	}
	return -1
}

// decides reports whether a replicated operand means that the result is replicated, and the other way round: not if it is a value of each element, a
// place or a start, and broadcasts can be made in any sharding.
func decides(in hlo.Instruction, fs []factor, i int) bool {
	return in.Opcode() != hlo.OpBroadcast && meets(in, fs, i)
}

// meets reports whether an operand has dimensions that others have, too, or is an element of which the result is made alone.
func meets(in hlo.Instruction, fs []factor, i int) bool {
	s := in.OperandInstr(i).Shape()
	if s.IsArray() && s.Rank() == 0 {
		return in.Opcode() == hlo.OpBroadcast || in.Shape().IsArray() && in.Shape().Rank() == 0 && hlo.Info(in.Opcode()).Traits.Has(hlo.TraitElementwise)
	}
	return slices.ContainsFunc(fs, func(f factor) bool { return f.operands[i] >= 0 })
}

// ranked are the operands with a tiling that says something, the most specific first.
func (p *propagator) ranked(in hlo.Instruction, fs []factor) (order []int) {
	for i := range in.NumOperands() {
		o := in.OperandInstr(i)
		if !o.Shape().IsArray() {
			continue
		}
		if t := p.node(o, 0).t; t != nil && !t.Maximal && (!t.isReplicated() || decides(in, fs, i)) {
			order = append(order, i)
		}
	}
	weight := func(i int) int64 {
		s := in.OperandInstr(i).Shape()
		if in.Opcode() == hlo.OpDot || in.Opcode() == hlo.OpConvolution {
			return s.ByteSize()
		}
		return p.node(in.OperandInstr(i), 0).t.numTiles()
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(max(-1, min(1, weight(b)-weight(a)))) })
	return order
}

func (p *propagator) arraysBackward(in hlo.Instruction) {
	if in.NumOperands() == 0 || in.Shape().NumLeaves() == 0 {
		return
	}
	if in.Opcode() == hlo.OpReshape {
		result := p.node(in, 0)
		if result.t != nil && in.Shape().IsStatic() && !result.t.isManual() {
			o := in.OperandInstr(0)
			_, t := through(result.t, in.Shape().Dimensions(), o.Shape().Dimensions())
			p.offer(p.node(o, 0), t, p.nonRootUsers(o) == 1, result, in, "result")
		}
		return
	}
	fs := spreading(in)
	if fs == nil {
		return
	}
	for i := range in.NumOperands() {
		o := in.OperandInstr(i)
		if !o.Shape().IsArray() || !meets(in, fs, i) {
			continue
		}
		n := p.node(o, 0)
		result := p.node(in, max(0, leafOf(in, i)))
		aggressive := p.nonRootUsers(o) == 1
		places := in.Opcode() == hlo.OpScatter && i == in.NumOperands()/2 // are split as the updates are
		if result.t != nil && !result.t.isManual() && !result.t.Maximal && !places && (in.Opcode() != hlo.OpConcatenate || p.round > 0) {
			t := toOperand(fs, i, func(f *factor) int { return f.result }, result.t, n.rank)
			if in.Opcode() == hlo.OpDot {
				t = p.withOther(in, fs, i, t)
			}
			p.offer(n, t, aggressive, result, in, "result")
		}
		if in.Opcode() == hlo.OpDot && p.round > 0 {
			if t := p.withOther(in, fs, i, nil); t != nil {
				p.offer(n, t, aggressive, p.node(in.OperandInstr(1-i), 0), in, "other operand")
			}
		}
		if in.Opcode() == hlo.OpScatter && p.round > 0 {
			p.fromSiblings(in, fs, i, n, aggressive)
		}
	}
}

// fromSiblings offers an operand of a scatter what the others are: updates and their indices are split alike.
func (p *propagator) fromSiblings(in hlo.Instruction, fs []factor, i int, n *node, aggressive bool) {
	for j := in.NumOperands() / 2; j < in.NumOperands(); j++ {
		if from := p.node(in.OperandInstr(j), 0); j != i && i >= in.NumOperands()/2 && from.t != nil && !from.t.Maximal && !from.t.isManual() {
			p.offer(n, toOperand(fs, i, func(f *factor) int { return f.operands[j] }, from.t, n.rank), aggressive, from, in, "sibling operand")
		}
	}
}

// withOther adds to what the result of a dot means for an operand what the other operand does: contracted dimensions are best split alike.
func (p *propagator) withOther(in hlo.Instruction, fs []factor, i int, t *Tiling) *Tiling {
	if i > 1 || in.NumOperands() != 2 {
		return t
	}
	other := p.node(in.OperandInstr(1-i), 0).t
	if other == nil || other.Maximal || other.isManual() {
		return t
	}
	u := toOperand(fs, i, func(f *factor) int { return f.operands[1-i] }, other, in.OperandInstr(i).Shape().Rank())
	if t == nil {
		return u
	}
	if m := mergedTiling(t, u); m != nil {
		return m
	}
	return t
}
