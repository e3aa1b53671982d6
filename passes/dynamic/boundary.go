package dynamic

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// Values go in and out of computations packed: arrays that are split are filled, and their sizes follow as scalars, behind the parts of a tuple, or
// behind the array in a tuple with it. A value of which nothing is split is what it was.

// packedShape is the shape of a packed value.
func packedShape(s hlo.Shape, split []bool) hlo.Shape {
	if !slices.Contains(split, true) {
		return s
	}
	sizes := 0
	for i, leaf := range leavesOf(s) {
		for d := range leaf.Rank() {
			if split[i] && leaf.IsDynamicDimension(d) {
				sizes++
			}
		}
	}
	next := 0
	main := mapLeaves(s, func(leaf hlo.Shape) hlo.Shape {
		next++
		if split[next-1] {
			return filled(leaf)
		}
		return leaf
	})
	parts := []hlo.Shape{main}
	if s.IsTuple() {
		parts = main.Elems()
	}
	for range sizes {
		parts = append(parts, hlo.MakeShape(hlo.S32).WithDefaultLayout())
	}
	return hlo.MakeTuple(parts...)
}

// mapLeaves applies f to every leaf, be it an array or not.
func mapLeaves(s hlo.Shape, f func(hlo.Shape) hlo.Shape) hlo.Shape {
	if !s.IsTuple() {
		return f(s)
	}
	parts := s.Elems()
	for i := range parts {
		parts[i] = mapLeaves(parts[i], f)
	}
	return hlo.MakeTuple(parts...)
}

// pack makes the packed form of a value.
func (b *body) pack(v *value, split []bool) hlo.InstrID {
	if !slices.Contains(split, true) {
		return b.cut(v)
	}
	sizes := b.sizesOf(v, split)
	parts := []hlo.InstrID{b.form(v, split)}
	if v.shape.IsTuple() {
		parts = nil
		skip := 0
		for _, p := range b.taken(v) {
			n := p.shape.NumLeaves()
			parts = append(parts, b.form(p, split[skip:skip+n]))
			skip += n
		}
	}
	return b.at.Tuple(append(parts, sizes...)...)
}

// unpack is the value whose packed form an instruction gives.
func (b *body) unpack(id hlo.InstrID, s hlo.Shape, split []bool) *value {
	if !slices.Contains(split, true) {
		return whole(s, id)
	}
	at := b.end()
	next := 1
	if s.IsTuple() {
		next = s.NumElems()
	}
	size := func() hlo.InstrID {
		next++
		return at.Element(id, next-1)
	}
	if !s.IsTuple() {
		return unpackLeaf(s, at.Element(id, 0), size)
	}
	return unpackElements(at, id, s, split, size)
}

func unpackPart(at emit.At, id hlo.InstrID, s hlo.Shape, split []bool, size func() hlo.InstrID) *value {
	switch {
	case !slices.Contains(split, true):
		return whole(s, id)
	case !s.IsTuple():
		return unpackLeaf(s, id, size)
	}
	return unpackElements(at, id, s, split, size)
}

func unpackElements(at emit.At, id hlo.InstrID, s hlo.Shape, split []bool, size func() hlo.InstrID) *value {
	var parts []*value
	skip := 0
	for i := range s.NumElems() {
		n := s.Elem(i).NumLeaves()
		parts = append(parts, unpackPart(at, at.Element(id, i), s.Elem(i), split[skip:skip+n], size))
		skip += n
	}
	return apart(s, parts)
}

func unpackLeaf(s hlo.Shape, id hlo.InstrID, size func() hlo.InstrID) *value {
	sizes := noSizes(s.Rank())
	for d := range sizes {
		if s.IsDynamicDimension(d) {
			sizes[d] = size()
		}
	}
	return array(s, id, sizes)
}

// writeParameter gives a parameter its packed shape. Those of the program keep theirs.
func (b *body) writeParameter(in hlo.Instruction) {
	split := b.flow.split(in)
	if b.was.ID() == b.m.Entry().ID() || !slices.Contains(split, true) {
		return
	}
	b.reshape(in, packedShape(in.Shape(), split))
	b.of[in.ID()] = b.unpack(in.ID(), in.Shape(), split)
}

// writeCall hands packed values to the computations of an instruction, and takes their results.
func (b *body) writeCall(in hlo.Instruction) {
	e := b.c.Instr(in.ID())
	if in.Opcode() == hlo.OpConditional { // what it chooses by
		if id := b.cut(b.value(in.OperandInstr(0))); id != in.Operand(0) {
			e.SetOperand(0, id)
		}
	}
	for k, id := range slicesOf(in) {
		c := b.m.MustComputation(id)
		for i := range c.NumParameters() {
			n := operandOf(in, k, i)
			if in.Opcode() == hlo.OpWhile && k > 0 {
				continue // the state is the operand once
			}
			if packed := b.pack(b.value(in.OperandInstr(n)), b.flow.split(c.Parameter(i))); packed != in.Operand(n) {
				e.SetOperand(n, packed)
			}
		}
	}
	b.writeResult(in)
}

// writeResult gives an instruction the packed shape of its result.
func (b *body) writeResult(in hlo.Instruction) {
	split := b.flow.split(in)
	if slices.Contains(split, true) {
		b.reshape(in, packedShape(in.Shape(), split))
	}
	b.of[in.ID()] = b.unpack(in.ID(), in.Shape(), split)
}

// reshape gives an instruction another tuple shape. What its attributes say of the parts that it had is not said of more parts.
func (b *body) reshape(in hlo.Instruction, s hlo.Shape) {
	emit.Retuple(b.c.Instr(in.ID()), s)
}

// barrier writes an op that hands its operand on.
func barrier(b *body, in hlo.Instruction) bool {
	v := b.value(in.OperandInstr(0))
	if packed := b.pack(v, b.flow.split(in)); packed != in.Operand(0) {
		b.c.Instr(in.ID()).SetOperand(0, packed)
	}
	b.writeResult(in)
	return true
}
