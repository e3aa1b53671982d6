package dynamic

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// body is a computation that is written.
type body struct {
	*padding
	c   hlo.CompEdit
	was hlo.Computation
	of  map[hlo.InstrID]*value // what became of values, where they are not what they were or somebody has asked

	in  hlo.Instruction // the one that is written, as it was
	at  emit.At         // the place in front of it
	err error
}

// rewrite writes a computation.
func (p *padding) rewrite(c hlo.Computation) error {
	b := &body{padding: p, c: p.e.Computation(c.ID()), was: c, of: map[hlo.InstrID]*value{}}
	if err := b.writeAll(); err != nil {
		return err
	}
	b.at = emit.End(b.c)
	b.writeRoot()
	b.bridge()
	emit.Reorder(b.c)
	return nil
}

// writeAll writes the instructions of a computation.
func (b *body) writeAll() error {
	for in := range b.was.PostOrder() {
		if !b.concerned(in) {
			continue
		}
		b.in, b.at = in, emit.Before(b.c, in)
		if b.checked {
			b.writeCheckedly(in)
		} else {
			b.write(in)
		}
		if b.err != nil {
			return b.err
		}
	}
	return nil
}

// concerned reports whether an instruction is to be looked at: a size is involved, or an operand has become something else.
func (b *body) concerned(in hlo.Instruction) bool {
	if !in.Shape().IsStatic() || rowOf(in).sizes {
		return true
	}
	for o := range in.Operands() {
		if v, ok := b.of[o.ID()]; ok && v.id != o.ID() || !o.Shape().IsStatic() {
			return true
		}
	}
	return false
}

func (b *body) write(in hlo.Instruction) {
	r := b.flow.rowFor(in)
	switch {
	case in.Opcode() == hlo.OpParameter:
		b.writeParameter(in)
	case r.boundary:
		b.writeCall(in)
	case r.rewrite == nil:
		b.leave(in)
	case !r.rewrite(b, in):
		if b.err == nil {
			b.ctx.Missed(in, "no static form of %v of this kind: its operands are cut to their sizes and its results filled again", in.Opcode())
		}
		b.leave(in)
	}
}

// leave keeps an instruction as it was: its operands are of dynamic size, and so is its result.
func (b *body) leave(in hlo.Instruction) {
	for i := range in.NumOperands() {
		if id := b.cut(b.value(in.OperandInstr(i))); id != in.Operand(i) {
			b.c.Instr(in.ID()).SetOperand(i, id)
		}
	}
}

// keep gives the instruction that is written other operands, and the filled shape.
func (b *body) keep(operands ...hlo.InstrID) hlo.InstrID {
	e := b.c.Instr(b.in.ID())
	if !slices.Equal(operands, slices.Collect(b.in.OperandIDs())) {
		e.SetOperands(operands...)
	}
	if s := filled(b.in.Shape()); !s.Equal(e.Shape()) {
		e.SetShape(s)
	}
	return b.in.ID()
}

// becomes says what the value of the instruction that is written is.
func (b *body) becomes(v *value) bool {
	b.of[b.in.ID()] = v
	return true
}

// kept says that the instruction that is written is an array of these sizes, or a tuple of such arrays.
func (b *body) kept(sizes []hlo.InstrID, operands ...hlo.InstrID) bool {
	id, s := b.keep(operands...), b.in.Shape()
	if s.IsArray() {
		return b.becomes(array(s, id, sizes))
	}
	var parts []*value
	for i := range s.NumElems() {
		parts = append(parts, array(s.Elem(i), b.end().Element(id, i), sizes))
	}
	return b.becomes(apart(s, parts))
}

// end is the place behind all instructions.
func (b *body) end() emit.At {
	at := b.at
	at.Before = hlo.NoInstr
	return at
}

// element writes get-tuple-element: it stays where its operand is the tuple that it was, of another shape.
func element(b *body, in hlo.Instruction) bool {
	i := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
	of := b.value(in.OperandInstr(0))
	if of.parts == nil {
		b.leave(in)
		return b.becomes(whole(in.Shape(), in.ID()))
	}
	v := of.parts[i]
	if s := b.c.At(in.Operand(0)).Shape(); of.tuple == hlo.NoInstr && s.NumElems() > i && !v.shape.IsTuple() {
		switch {
		case v.id == hlo.NoInstr && v.data != hlo.NoInstr && b.takes(v.data, in.Operand(0), i):
			b.c.Instr(in.ID()).SetShape(s.Elem(i))
			v.data = in.ID()
		case v.id != hlo.NoInstr && b.takes(v.id, in.Operand(0), i):
			v.id = in.ID()
		}
	}
	return b.becomes(v)
}

// takes reports whether an instruction takes part i out of a tuple.
func (b *body) takes(id, tuple hlo.InstrID, i int) bool {
	in := b.c.At(id)
	return in.Opcode() == hlo.OpGetTupleElement && in.Operand(0) == tuple && int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index) == i
}

// tuple writes tuple: its parts are what they are.
func tuple(b *body, in hlo.Instruction) bool {
	var parts []*value
	for o := range in.Operands() {
		parts = append(parts, b.value(o))
	}
	v := apart(in.Shape(), parts)
	v.tuple = in.ID()
	return b.becomes(v)
}

// writeRoot makes the result of the computation.
func (b *body) writeRoot() {
	root := b.was.Root()
	v, split := b.value(root), b.flow.split(root)
	if b.was.ID() != b.m.Entry().ID() {
		if id := b.pack(v, split); id != b.c.Root() {
			b.c.SetRoot(id)
		}
		return
	}
	id := b.result(v, root)
	if b.slice {
		id = b.cut(v)
	}
	if id != b.c.Root() {
		b.c.SetRoot(id)
	}
	if cfg := b.e.Config(); cfg.EntryLayout != nil && !b.slice {
		own, layout := *cfg, *cfg.EntryLayout
		layout.Result = filled(layout.Result)
		own.EntryLayout = &layout
		b.e.SetConfig(&own)
	}
}

// result is the filled form of what the program returns, unless that is to be cut.
func (b *body) result(v *value, root hlo.Instruction) hlo.InstrID {
	if b.slice {
		return hlo.NoInstr
	}
	if v.tuple == root.ID() && v.id == hlo.NoInstr {
		var parts []hlo.InstrID
		for _, p := range v.parts {
			parts = append(parts, b.form(p, all(p.shape)))
		}
		b.c.Instr(root.ID()).SetOperands(parts...).SetShape(filled(root.Shape()))
		return root.ID()
	}
	if v.parts != nil && b.c.At(root.ID()).Shape().Equal(filled(root.Shape())) && root.Opcode() != hlo.OpGetTupleElement {
		return root.ID() // it has all results, filled
	}
	return b.form(v, all(v.shape))
}

// all marks the arrays of a shape that can be filled.
func all(s hlo.Shape) (split []bool) {
	for _, leaf := range leavesOf(s) {
		split = append(split, !leaf.IsStatic() && leaf.IsBounded())
	}
	return split
}

// bridge takes instructions that nothing uses any more out of control edges: what was ordered after them is ordered after what they were ordered after.
func (b *body) bridge() {
	for in := range b.was.PostOrder() {
		v, ok := b.of[in.ID()]
		if !ok || v.id == in.ID() || v.data == in.ID() || in.NumControlSuccessors()+in.NumControlPredecessors() == 0 || b.c.UserCount(in.ID()) > 0 || b.c.Root() == in.ID() {
			continue
		}
		for s := range in.ControlSuccessors() {
			e := b.c.Instr(s).RemoveControlPredecessor(in.ID())
			for p := range b.c.At(in.ID()).ControlPredecessors() {
				e.AddControlPredecessor(p)
			}
		}
		for p := range in.ControlPredecessors() {
			b.c.Instr(in.ID()).RemoveControlPredecessor(p)
		}
	}
}
