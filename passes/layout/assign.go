package layout

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Assignment gives every array a layout.
var Assignment = &pass.Pass{
	Name: "layout-assignment",
	Doc: `choose a layout for every array, and copy where two that meet differ

Parameters and the result of the program have the layouts of its entry layout, and so have other computations the layouts of what calls them. Elementwise ops, and those that keep dimensions, take the layout of their
largest operand; a transpose lies as its operand does, so that it moves nothing; other ops are row-major, as the engines compute them. An operand that lies otherwise than an op asks for is copied, once for each layout.
Layouts that instructions had before are not looked at, but for those of custom calls that demand theirs, of collectives that keep theirs, and of arrays with tiles, dynamic sizes or a memory of their own, which
stay.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		closed := pass.Fact(ctx, m, analysis.FindClosed)
		for c := range m.PostOrder() {
			if closed.Has(c.ID()) {
				continue // of fusions and the like: they lie as what calls them says
			}
			a := &assigner{c: e.Computation(c.ID()), copies: map[hlo.InstrID][]hlo.InstrID{}}
			for in := range c.Instructions() {
				a.visit(ctx, in)
			}
		}
		return e.Freeze(), nil
	},
}

type assigner struct {
	c      hlo.CompEdit
	copies map[hlo.InstrID][]hlo.InstrID // of a value, in other layouts
}

// visit chooses the layout of an instruction whose operands have theirs, and copies operands into the layouts that it asks for.
func (a *assigner) visit(ctx *pass.Context, old hlo.Instruction) {
	in := a.c.At(old.ID())
	if a.fixed(in) {
		a.restore(ctx, in, old)
		return
	}
	own, ok := orderOf(in.Shape())
	if !ok { // tuples, tokens, dynamic sizes, tiles
		a.restore(ctx, in, old)
		return
	}
	want, operands := a.choose(in)
	if want == nil {
		a.restore(ctx, in, old)
		return
	}
	for i, o := range operands {
		if o != nil {
			a.operand(ctx, in.ID(), i, o)
		}
	}
	if !slices.Equal(own, want) && ctx.Spend("layout") {
		a.c.Instr(in.ID()).SetShape(laid(a.c.At(in.ID()).Shape(), want))
		ctx.Count("layouts", 1)
	}
}

// fixed reports whether an instruction's layouts, and those of its operands, are not to be chosen here: where a program begins and ends, where it calls others, and where
// it says that layouts matter.
func (a *assigner) fixed(in hlo.Instruction) bool {
	info := hlo.Info(in.Opcode())
	//halo:allow opswitch copies and bitcasts are where layouts change, and the rest has layouts of its caller's
	return in.Opcode() == hlo.OpParameter || in.NumCallees() > 0 && !info.Traits.Has(hlo.TraitElementwise) && in.Opcode() != hlo.OpReduce || info.Traits.Has(hlo.TraitCollective) ||
		in.Opcode() == hlo.OpCustomCall || in.Opcode() == hlo.OpCopy || in.Opcode() == hlo.OpBitcast || in.Opcode() == hlo.OpBitcastConvert || hlo.IsAsync(in.Opcode()) || in.Shape().IsTuple() ||
		in.Opcode() == hlo.OpGetTupleElement || a.c.Root() == in.ID() || info.Traits.Has(hlo.TraitControl)
}

// restore gives an instruction, whose layouts are those that it had, operands in the layouts that they had.
func (a *assigner) restore(ctx *pass.Context, in, old hlo.Instruction) {
	for i := range old.NumOperands() {
		had := old.OperandInstr(i).Shape()
		if o, ok := orderOf(had); ok {
			a.operand(ctx, in.ID(), i, o)
		}
	}
}

// choose is the layout of an instruction, nil for the one that it has, and those of its operands, nil for any.
func (a *assigner) choose(in hlo.Instruction) (want order, operands []order) {
	traits := hlo.Info(in.Opcode()).Traits
	operands = make([]order, in.NumOperands())
	switch {
	case traits.Has(hlo.TraitElementwise):
		var most int64 = -1
		for o := range in.Operands() {
			if have, ok := orderOf(o.Shape()); ok && o.Shape().Rank() == in.Shape().Rank() && o.Shape().ByteSize() > most {
				want, most = have, o.Shape().ByteSize()
			}
		}
		if want == nil {
			want = rowMajor(in.Shape().Rank())
		}
		for i, o := range slices.Collect(in.Operands()) {
			if o.Shape().Rank() == in.Shape().Rank() {
				operands[i] = want
			}
		}
	case in.Opcode() == hlo.OpTranspose:
		have, ok := orderOf(in.OperandInstr(0).Shape())
		if !ok {
			return nil, nil
		}
		// Axis i of the result is axis perm[i] of the operand.
		perm := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
		for _, axis := range have {
			want = append(want, int64(slices.Index(perm, axis)))
		}
		operands[0] = have
	default:
		want = rowMajor(in.Shape().Rank())
		for i, o := range slices.Collect(in.Operands()) {
			if _, ok := orderOf(o.Shape()); ok {
				operands[i] = rowMajor(o.Shape().Rank())
			}
		}
	}
	return want, operands
}

// operand makes operand i of an instruction lie as asked.
func (a *assigner) operand(ctx *pass.Context, id hlo.InstrID, i int, want order) {
	x := a.c.At(id).Operand(i)
	s := a.c.At(x).Shape()
	have, ok := orderOf(s)
	if !ok || slices.Equal(have, want) {
		return
	}
	v := hlo.NoInstr
	for _, other := range append([]hlo.InstrID{x}, a.copies[x]...) {
		if o, ok := orderOf(a.c.At(other).Shape()); ok && slices.Equal(o, want) {
			v = other
		}
	}
	if v == hlo.NoInstr {
		v = emit.Before(a.c, a.c.At(id)).OpOf(hlo.OpCopy, laid(s, want), nil, x)
		a.copies[x] = append(a.copies[x], v)
		ctx.Count("copies", 1)
	}
	operands := slices.Collect(a.c.At(id).OperandIDs())
	operands[i] = v
	a.c.Instr(id).SetOperands(operands...)
}

func rowMajor(rank int) order {
	o := make(order, rank)
	for i := range o {
		o[i] = int64(i)
	}
	return o
}

// laid is a shape whose axes lie in an order.
func laid(s hlo.Shape, o order) hlo.Shape {
	minor := slices.Clone([]int64(o))
	slices.Reverse(minor)
	l := hlo.Layout{MinorToMajor: minor}
	if had, ok := s.WithDefaultLayout().Layout(); ok {
		l.MemorySpace, l.ElementSizeInBits = had.MemorySpace, had.ElementSizeInBits
	}
	return s.WithLayout(&l)
}
